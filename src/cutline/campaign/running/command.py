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
from cutline.campaign.running.first_failures import FirstFailures
from cutline.campaign.running.processes import Processes
from cutline.checks import check_positive
from cutline.errors import InvalidInputError, MeasurementError
from cutline.text import quoted, shown

ARM = "{arm}"
"""What stands in a command for the id of the arm."""

COULD_NOT_RUN = frozenset((125, 126, 127))
"""Exit statuses by which shells, env, nice, timeout and their like say that they could not run a command."""

_DEADLY = {
    128 + getattr(signal, name): name
    for name in (
        *("SIGHUP", "SIGINT", "SIGQUIT", "SIGILL", "SIGTRAP", "SIGABRT", "SIGBUS", "SIGFPE"),
        *("SIGKILL", "SIGSEGV", "SIGPIPE", "SIGALRM", "SIGTERM", "SIGXCPU", "SIGXFSZ", "SIGSYS"),
    )
}
"""Exit statuses by which a shell says that a signal has ended a command, and the signal."""

_TAIL = 4096
"""Bytes at the end of an output that are looked at."""


class Command:
    """A command line as a measurement, to be called with a pull; safe to call from several threads.

    Every ``{arm}`` in its arguments is replaced by the id, as it stands: no shell sees it. Without ``stdout`` the
    reward is 1 for exit status 0 and 0 for any other, but for those that say that nothing was measured; with it, the
    last line on standard output, a number in [0, 1], of a command that ends with status 0. A command runs in a process
    group of its own, without input.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        stdout: bool = False,
        timeout: float | None = None,
        crash_exits: Collection[int] = (),
        fail_exits: Collection[int] = (),
    ) -> None:
        """``timeout`` in seconds. ``crash_exits``: exit statuses that say nothing of the arm.

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
        for statuses, what in ((crash_exits, "a crash"), (fail_exits, "a failure")):
            for status in statuses:
                if not 1 <= status <= 255:
                    raise InvalidInputError(f"exit status {status} cannot mean {what}; it must be from 1 to 255")
        for status in set(crash_exits) & set(fail_exits):
            raise InvalidInputError(f"exit status {status} cannot mean a crash and a failure; give it once")
        self._arguments = tuple(arguments)
        self._stdout = stdout
        self._timeout = None if timeout is None else check_positive("timeout", timeout)
        self._crash_exits = frozenset(crash_exits)
        self._fail_exits = frozenset(fail_exits)
        self._processes = Processes()
        self._first = FirstFailures()

    def __call__(self, pull: Pull) -> float:
        """Run the command and return the reward.

        Raises MeasurementError if it cannot be started, is killed by a signal, takes longer than the timeout, ends
        with an exit status that says nothing of the arm, or prints no reward where it should.
        """
        # An id is UTF-8 for the command, as it is in every file, whatever encoding the locale has for arguments.
        arguments = [os.fsencode(word).replace(ARM.encode(), pull.arm.encode()) for word in self._arguments]
        began = time.monotonic()
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            status = self._run(arguments, output if self._stdout else subprocess.DEVNULL, errors)
            seconds = time.monotonic() - began
            said = "" if status == 0 else _last_line(errors) or (_last_line(output) if self._stdout else "")
            said = shown(said, 200)
            crash = self._crash(status)
            if crash is not None:
                raise MeasurementError(f"{crash}: {said}" if said else crash)
            self._first.note(pull.arm, seconds, status, said)
            return _printed(_last_line(output)) if self._stdout else float(status == 0)

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
            raise MeasurementError(f"took longer than {self._timeout:g} s") from None
        except (OSError, ValueError) as error:
            raise MeasurementError(
                f"cannot run {os.fsdecode(arguments[0])!r}: {getattr(error, 'strerror', None) or error}"
            ) from None

    def _crash(self, status: int) -> str | None:
        """Return what an exit status says if it says nothing of the arm, None if it is a reward."""
        if status < 0:
            return f"killed by signal {-status} ({_signal_name(-status)})"
        if status == 0 or (status in self._fail_exits and not self._stdout):
            return None
        if status in _DEADLY and status not in self._crash_exits:
            return f"exit status {status}, killed by signal {status - 128} ({_DEADLY[status]})"
        if status in COULD_NOT_RUN and status not in self._crash_exits:
            return f"exit status {status}, the command could not be run"
        return f"exit status {status}" if self._stdout or status in self._crash_exits else None


def _printed(line: str) -> float:
    try:
        return read_reward(line)
    except InvalidInputError:
        what = f"the last line of its output is {quoted(line)}" if line else "it printed nothing"
        raise MeasurementError(f"{what}; it must be a number in [0, 1]") from None


def _last_line(file: IO[bytes]) -> str:
    """Return the last line of an output that is not blank, "" if there is none."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL))
    lines = file.read().decode(errors="replace").strip().splitlines()
    return lines[-1].strip() if lines else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
