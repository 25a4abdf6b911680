"""The command line: one module a command, found by its file name, loaded when it is called.

A module ``cli/<name>.py`` holds ``command``, a click command or group, and no logic of its own; ``import_.py`` is
the command import. Data goes to standard output, talk to standard error. What Cutline raises on purpose, or click,
becomes one line and exit status 2.
"""

import importlib
import io
import os
import pkgutil
import sys
from typing import NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from cutline import __version__
from cutline.cli._groups import Group
from cutline.cli._streams import say, write_utf8
from cutline.errors import CutlineError
from cutline.passwords import hide_passwords


class _Commands(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(self._modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = self._modules().get(cmd_name)
        if module is None:
            return None
        command = importlib.import_module(f"{__name__}.{module}").command
        assert isinstance(command, click.Command)
        return command

    @staticmethod
    def _modules() -> dict[str, str]:
        names = (module.name for module in pkgutil.iter_modules(__path__))
        return {name.rstrip("_").replace("_", "-"): name for name in names if not name.startswith("_")}


@click.command(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__)
def cutline() -> None:
    """Decide which of many items make the cut, with the fewest measurements.

    Where one command measures an item, begin with run; where you measure yourself, with campaign; for a budget, with
    plan; with labels that you have already, with replay. Each command explains itself: cutline run --help.
    """


def main() -> None:
    """Run the command line; exit status 0, 2 for bad input, 130 after Ctrl-C."""
    write_utf8()
    try:
        status = cutline.main(standalone_mode=False)
        sys.stdout.flush()
    except NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.ClickException as error:
        _complain(" ".join(error.format_message().split()))
    except CutlineError as error:
        _complain(str(error))
    except BrokenPipeError:
        _drop_output()
        sys.exit(1)
    except OSError as error:
        _drop_output()
        what = "cannot write standard output" if error.filename is None else error.filename
        _complain(f"{what}: {error.strerror or error}")
    except (click.Abort, KeyboardInterrupt) as error:
        if isinstance(error.__cause__, EOFError):  # a fault: click takes it for Ctrl-D, though not at its own prompts
            raise error.__cause__ from None
        say("cutline: stopped")
        sys.stdout.flush()
        os._exit(130)  # at once: threads in the middle of a kernel are not waited for
    sys.exit(status if isinstance(status, int) else 0)


def _complain(text: str) -> NoReturn:
    """Say what is wrong, without any password among the arguments, and end."""
    say(f"cutline: {hide_passwords(text, *sys.argv[1:])}")
    sys.exit(2)


def _drop_output() -> None:
    """Let what standard output still holds go nowhere, or Python complains of it once more at its end."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
