"""A shell command as the measurement: its exit status, or the last line that it prints, is the reward."""

import os
import signal
import subprocess
import tempfile
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from shutil import which
from typing import IO

from cutline.campaign.checks import read_reward
from cutline.campaign.results import Pull
from cutline.checks import check_positive
from cutline.errors import InvalidInputError, MeasurementError
from cutline.text import quoted, shown

ARM = "{arm}"
"""What stands in a command for the id of the arm."""

GRACE = 2.0
"""Seconds that a command has between being asked to end and being killed."""

_TAIL = 4096
"""Bytes at the end of an output that are looked at."""


class Command:
    """A command line as a measurement, to be called with a pull; safe to call from several threads.

    Every ``{arm}`` in its arguments is replaced by the id, as it stands: no shell sees it. Without ``stdout`` the
    reward is 1 for exit status 0 and 0 for any other; with it, the last line on standard output, a number in [0, 1],
    of a command that ends with status 0. A command runs in a process group of its own, without input.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        stdout: bool = False,
        timeout: float | None = None,
        crash_exits: Collection[int] = (),
    ) -> None:
        """``timeout`` in seconds. ``crash_exits``: exit statuses that say nothing of the arm.

        Raises InvalidInputError if no argument has ``{arm}``, the program is not there, or an option is out of range.
        """
        if not arguments:
            raise InvalidInputError("no command; give one, such as: pytest -q {arm}")
        if not any(ARM in argument for argument in arguments):
            raise InvalidInputError(f"the command has no {ARM}; write it where the id of the arm belongs")
        if ARM not in arguments[0] and which(arguments[0]) is None:
            raise InvalidInputError(f"there is no program {arguments[0]!r} that can be run")
        for status in crash_exits:
            if not 1 <= status <= 255:
                raise InvalidInputError(f"exit status {status} cannot mean a crash; it must be from 1 to 255")
        self._arguments = tuple(arguments)
        self._stdout = stdout
        self._timeout = None if timeout is None else check_positive("timeout", timeout)
        self._crash_exits = frozenset(crash_exits)
        self._lock = threading.Lock()
        self._running: set[subprocess.Popen[bytes]] = set()

    def __call__(self, pull: Pull) -> float:
        """Run the command and return the reward.

        Raises MeasurementError if it cannot be started, is killed by a signal, takes longer than the timeout, ends
        with one of ``crash_exits``, or prints no reward where it should.
        """
        arguments = [argument.replace(ARM, pull.arm) for argument in self._arguments]
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as output:
            status = self._run(arguments, output if self._stdout else None, errors)
            if status < 0:
                raise MeasurementError(f"killed by signal {-status} ({_signal_name(-status)})")
            if status in self._crash_exits or (self._stdout and status != 0):
                said = _last_line(errors) or (_last_line(output) if self._stdout else "")
                raise MeasurementError(f"exit status {status}" + (f": {shown(said, 200)}" if said else ""))
            return _printed(_last_line(output)) if self._stdout else float(status == 0)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal to every process of the measurements that are running now."""
        with self._lock:
            for process in self._running:
                _signal_group(process, how)

    def _run(self, arguments: list[str], output: IO[bytes] | None, errors: IO[bytes]) -> int:
        try:
            with self._lock:
                process = subprocess.Popen(
                    arguments,
                    stdin=subprocess.DEVNULL,
                    stdout=output or subprocess.DEVNULL,
                    stderr=errors,
                    start_new_session=True,  # Ctrl-C is for us: a test that it ended would count as failed
                )
                self._running.add(process)
        except (OSError, ValueError) as error:
            raise MeasurementError(
                f"cannot run {arguments[0]!r}: {getattr(error, 'strerror', None) or error}"
            ) from None
        try:
            return process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            self._end(process)
            raise MeasurementError(f"took longer than {self._timeout:g} s") from None
        finally:
            with self._lock:
                self._running.discard(process)

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        """End a command with all that it has started."""
        with self._lock:
            _signal_group(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        with self._lock:
            _signal_group(process, signal.SIGKILL)
        process.wait()


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


def _signal_group(process: "subprocess.Popen[bytes]", how: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, how)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
