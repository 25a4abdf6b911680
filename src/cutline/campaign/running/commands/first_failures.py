"""The first measurements of a command: do they look as if the command were wrong, and not the arms?"""

import re
import threading
from dataclasses import dataclass

ALIKE = 4
"""So many measurements in a row, the first ones, must fail in the same way to be remarked upon."""

AT_ONCE = 0.1
"""Seconds within which a failure is so quick that hardly anything was measured; half of them must be."""


@dataclass(frozen=True)
class _Failure:
    status: int
    said: str


class FirstFailures:
    """Compares the first results of a command; safe to use from several threads.

    A warning is all that can be made of it: a check that reads one line of a file is as quick, and all its arms may
    well fail.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._first: _Failure | None = None
        self._arms: set[str] = set()
        self._seconds: list[float] = []
        self._is_over = False
        self._remark: str | None = None

    def note(self, arm: str, seconds: float, status: int, said: str) -> None:
        """Take in a result: the exit status, and the last line on standard error."""
        failure = _Failure(status, re.sub(rf"(?<!\w){re.escape(arm)}(?!\w)", "", said))
        with self._lock:
            if self._is_over:
                return
            self._first = self._first or failure
            self._arms.add(arm)
            self._seconds.append(seconds)
            if status == 0 or failure != self._first:
                self._is_over = True
            elif len(self._seconds) >= ALIKE and len(self._arms) > 1:
                self._is_over = True
                if sorted(self._seconds)[(len(self._seconds) - 1) // 2] <= AT_ONCE:
                    self._remark = (
                        f"the first {len(self._seconds)} measurements, of {len(self._arms)} arms, all failed at once, "
                        f"with exit status {status}{f': {said}' if said else ''}; is the command right?"
                    )

    def remark(self) -> str | None:
        """Return, once, what is to be said."""
        with self._lock:
            remark, self._remark = self._remark, None
        return remark
