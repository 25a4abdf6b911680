"""A shell command as the measurement: its exit status, or the last line that it prints, is the reward."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Collection, Sequence
from shutil import which
from typing import IO

from cutline.campaign.checks import read_reward
from cutline.campaign.results import Pull
from cutline.campaign.running.commands.endings import Endings, last_line
from cutline.campaign.running.commands.first_failures import FirstFailures
from cutline.campaign.running.commands.processes import Processes
from cutline.campaign.running.outcomes import Measured
from cutline.checks import check_positive
from cutline.errors import InvalidInputError, MeasurementError, MeasurementTimeoutError, TryAgainError
from cutline.text import quoted, shown

ARM = "{arm}"
"""What stands in a command for the id of the arm."""


class Command:
    """A command line as a measurement, to be called with a pull; safe to call from several threads.

    Every ``{arm}`` in its arguments is replaced by the id, as it stands: no shell sees it. Without ``stdout`` the
    reward is 1 for exit status 0 and 0 for any other, but for those that say that nothing was measured; with it, the
    last line on standard output, a number in [0, 1], and maybe a tab and a note, of a command that ends with status 0.
    A command runs in a process group of its own, without input.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        stdout: bool = False,
        timeout: float | None = None,
        crash_exits: Collection[int] = (),
        fail_exits: Collection[int] = (),
        retry_exits: Collection[int] = (),
    ) -> None:
        """``timeout`` in seconds. ``crash_exits``: exit statuses that say nothing of the arm.

        ``retry_exits``: those that raise TryAgainError, since the command may succeed later (with ``retry=Retry()``).

        ``fail_exits``: those that are a reward of 0, though they usually say nothing of the arm: 125, 126 and 127 (the
        command could not be run) and 128 plus a signal (that has ended it), as a shell and its like have it.
        Raises InvalidInputError if no argument has ``{arm}``, the program is not there, or an option is out of range.
        """
        if not arguments:
            raise InvalidInputError("no command; give one, such as: pytest -q {arm}")
        if not any(ARM in argument for argument in arguments):
            raise InvalidInputError(f"the command has no {ARM}; write it where the id of the arm belongs")
        if ARM not in arguments[0] and which(arguments[0]) is None:
            raise InvalidInputError(f"there is no program {arguments[0]!r} that can be run")
        self._endings = Endings(crash_exits, fail_exits, retry_exits)
        self._arguments = tuple(arguments)
        self._stdout = stdout
        self._timeout = None if timeout is None else check_positive("timeout", timeout)
        self._processes = Processes()
        self._first = FirstFailures()

    def __call__(self, pull: Pull) -> Measured:
        """Run the command and return the reward, with the note that it has printed after it, if there is one.

        Raises MeasurementError if it cannot be started, is killed by a signal, takes longer than the timeout, ends
        with an exit status that says nothing of the arm, or prints no reward where it should; TryAgainError if it ends
        with one of ``retry_exits``.
        """
        # An id is UTF-8 for the command, as it is in every file, whatever encoding the locale has for arguments.
        arguments = [os.fsencode(word).replace(ARM.encode(), pull.arm.encode()) for word in self._arguments]
        began = time.monotonic()
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            status = self._run(arguments, output if self._stdout else subprocess.DEVNULL, errors)
            seconds = time.monotonic() - began
            said = "" if status == 0 else last_line(errors) or (last_line(output) if self._stdout else "")
            said = shown(said, 200)
            if self._endings.is_momentary(status):
                raise TryAgainError(f"exit status {status}: {said}" if said else f"exit status {status}")
            crash = self._crash(status)
            if crash is not None:
                raise MeasurementError(f"{crash}: {said}" if said else crash)
            self._first.note(pull.arm, seconds, status, said)
            return _printed(last_line(output)) if self._stdout else float(status == 0)

    def remark(self) -> str | None:
        """Return, once, what makes the command look wrong as a whole; None if nothing does."""
        return self._first.remark()

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to every process of the measurements that are running now."""
        self._processes.stop(how)

    def _run(self, arguments: list[bytes], output: IO[bytes] | int, errors: IO[bytes]) -> int:
        try:
            return self._processes.run(arguments, output, errors, self._timeout)
        except TimeoutError:
            raise MeasurementTimeoutError(f"took longer than {self._timeout:g} s") from None
        except (OSError, ValueError) as error:
            raise MeasurementError(
                f"cannot run {os.fsdecode(arguments[0])!r}: {getattr(error, 'strerror', None) or error}"
            ) from None

    def _crash(self, status: int) -> str | None:
        """Return what an exit status says if it says nothing of the arm, None if it is a reward."""
        crash = self._endings.crash(status)
        return f"exit status {status}" if crash is None and self._stdout and status != 0 else crash


def _printed(line: str) -> Measured:
    """Return the reward at the beginning of a line, and what follows it after a tab, if anything does."""
    written, _, note = line.partition("\t")
    try:
        reward = read_reward(written)
        return (reward, note) if note else reward
    except InvalidInputError:
        what = f"the last line of its output is {quoted(line)}" if line else "it printed nothing"
        raise MeasurementError(f"{what}; it must be a number in [0, 1]") from None
