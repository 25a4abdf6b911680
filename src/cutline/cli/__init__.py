"""The command line: one module a command, found by its file name, loaded when it is called.

A module ``cli/<name>.py`` holds ``command``, a click command or group, and no logic of its own;
``cli/campaign/<name>.py`` is a command of the group campaign. Data goes to standard output, talk to standard error.
What Cutline raises on purpose, or click, becomes one line and exit status 2.
"""

import io
import os
import signal
import sys
from contextlib import suppress
from traceback import clear_frames
from typing import NoReturn

import click
from click.exceptions import NoArgsIsHelpError

from cutline import __version__
from cutline.cli._groups import Folder
from cutline.cli._streams import say, write_utf8
from cutline.errors import CutlineError
from cutline.passwords import hide_passwords

cutline = click.version_option(__version__)(
    Folder(
        __name__,
        name="cutline",
        help="""Decide which of many items make the cut, with the fewest measurements.

        Where one command measures an item, begin with run; where you measure yourself, with campaign; for a budget,
        with plan; with labels that you have already, with replay. Each command explains itself: cutline run --help.
        """,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
)


def main() -> None:
    """Run the command line; exit status 0, 2 for bad input, 130 after Ctrl-C, and the signal that has stopped a run."""
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
        with suppress(OSError):
            sys.stdout.flush()
        stop = error.__cause__ or error
        clear_frames(stop.__traceback__)  # a generator that a with had begun, but not yet come to rely on, ends too
        _end_as_by(stop)
    sys.exit(status if isinstance(status, int) else 0)


def _end_as_by(stop: BaseException) -> NoReturn:
    """End at once; threads in the middle of a kernel are not waited for.

    After Ctrl-C the exit status is 130. Any other signal, which the exception then names, ends the process as it ends
    one that does not handle it, so that all commands look alike to who has sent it.
    """
    number = next((by for by in stop.args if isinstance(by, signal.Signals)), signal.SIGINT)
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
    os._exit(128 + number)


def _complain(text: str) -> NoReturn:
    """Say what is wrong, without any password among the arguments, and end."""
    say(f"cutline: {hide_passwords(text, *sys.argv[1:])}")
    sys.exit(2)


def _drop_output() -> None:
    """Let what standard output still holds go nowhere, or Python complains of it once more at its end."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
