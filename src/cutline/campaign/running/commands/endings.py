"""How a command has ended: what its exit status says, and the last line that it wrote."""

import os
import signal
from collections.abc import Collection
from typing import IO

from cutline.errors import InvalidInputError

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
"""Bytes at the end of an output in which its last line is looked for."""


class Endings:
    """Tells the exit statuses that say nothing of an arm from those that are a result."""

    def __init__(
        self, crash_exits: Collection[int] = (), fail_exits: Collection[int] = (), retry_exits: Collection[int] = ()
    ) -> None:
        """``crash_exits`` say nothing of the arm; ``fail_exits`` do, though they usually would not.

        ``retry_exits`` say that the command is to be tried again. Raises InvalidInputError for one that is out of range
        or in two of them.
        """
        meanings: dict[int, str] = {}
        for statuses, what in ((crash_exits, "a crash"), (fail_exits, "a failure"), (retry_exits, "try again")):
            for status in set(statuses):
                if not 1 <= status <= 255:
                    raise InvalidInputError(f"exit status {status} cannot mean {what}; it must be from 1 to 255")
                if status in meanings:
                    raise InvalidInputError(
                        f"exit status {status} cannot mean {meanings[status]} and {what}; give it once"
                    )
                meanings[status] = what
        self._crash_exits = frozenset(crash_exits)
        self._fail_exits = frozenset(fail_exits)
        self._retry_exits = frozenset(retry_exits)

    def is_momentary(self, status: int) -> bool:
        """Whether an exit status says that the command is to be tried again."""
        return status in self._retry_exits

    def crash(self, status: int) -> str | None:
        """Return what an exit status (minus the signal, if one has ended the command) says if it is a crash."""
        if status < 0:
            return f"killed by signal {-status} ({_signal_name(-status)})"
        if status == 0 or status in self._fail_exits:
            return None
        if status in self._crash_exits:
            return f"exit status {status}"
        if status in _DEADLY:
            return f"exit status {status}, killed by signal {status - 128} ({_DEADLY[status]})"
        return f"exit status {status}, the command could not be run" if status in COULD_NOT_RUN else None


def last_line(file: IO[bytes]) -> str:
    """Return the last line of an output that is not blank, "" if there is none."""
    lines = end_of(file, _TAIL).splitlines()
    return lines[-1].strip() if lines else ""


def end_of(file: IO[bytes], size: int) -> str:
    """Return what the last ``size`` bytes of an output say, without blanks around it."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - size))
    return file.read().decode(errors="replace").strip()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"
