"""How far a batch has got by its report, and whether it takes too long."""

import time
from collections.abc import Sequence
from pathlib import Path

from cutline.campaign.running.commands.reports import JsonLines, Report
from cutline.errors import InvalidInputError

STARTING = 600.0
"""Seconds that a command which says when arms begin may take, beside the timeout, until the next one does."""

ENDING = 10.0
"""Seconds that it may take to end once all its arms have."""


class Progress:
    """Reads the report of a batch while it is written, if it is one of lines."""

    def __init__(
        self, path: Path, arms: Sequence[str], timeout: float | None, *, lines: bool, says_begin: bool
    ) -> None:
        """``timeout``: the seconds that an arm may take. ``lines``: the report is JSON Lines.

        ``says_begin``: it says of every arm when it begins; if not, a batch may take as long as all its arms together.
        """
        self.path = path
        self.late: list[str] = []
        self._timeout = timeout
        self._arms = arms
        self._lines = JsonLines(arms) if lines else None
        self._says_begin = says_begin
        self._offset = 0
        self._limit: int | None = None
        self._wrong: InvalidInputError | None = None
        self._since: dict[str, float] = {}
        self._started = self._last = time.monotonic()

    @property
    def report(self) -> Report:
        """What has been read so far."""
        return self._lines.report if self._lines else Report()

    def freeze(self) -> None:
        """Leave alone what is written to the report from now on: it was written by a command that was told to end."""
        if self._limit is None:
            self._limit = self.path.stat().st_size if self.path.exists() else 0

    def is_late(self) -> bool:
        """Whether the command is to be ended: it takes too long, or its report makes no sense.

        The arms that take too long, if they are known, are in ``late`` then; the report is frozen.
        """
        self._look()
        if self._wrong is None and not self._takes_too_long():
            return False
        self.freeze()
        return True

    def is_complete(self) -> bool:
        """Whether the report, as far as it has been read, says of every arm what came of it."""
        return all(map(self.report.names, self._arms))

    def finish(self) -> Report:
        """Read the rest and return what was said; raise InvalidInputError for a line that cannot be read."""
        self._look()
        if self._wrong is not None:
            raise self._wrong
        assert self._lines is not None
        return self._lines.finish()

    def _takes_too_long(self) -> bool:
        if self._timeout is None:
            return False
        now = time.monotonic()
        if self._since:
            self.late = [arm for arm, began in self._since.items() if now - began > self._timeout]
            return bool(self.late)
        if self._says_begin:
            return now - self._last > (ENDING if self.is_complete() else self._timeout + STARTING)
        return now - self._started > self._timeout * len(self._arms)

    def _look(self) -> None:
        if self._lines is None or self._wrong is not None or not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._offset)
            data = file.read() if self._limit is None else file.read(max(0, self._limit - self._offset))
        if not data:
            return
        self._offset += len(data)
        self._last = time.monotonic()
        try:
            self._lines.feed(data)
        except InvalidInputError as error:
            self._wrong = error
        begun = self._lines.report.begun
        self._since = {arm: self._since.get(arm, self._last) for arm in begun}
