"""The pace of long work: room for others between its short transactions."""

import time

_TURN, _PAUSE = 0.5, 0.12
"""After so many seconds of transactions a pause of so many: SQLite looks for its turn ten times a second."""


class Pace:
    """Leaves room for others between the short transactions of long work."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def between(self) -> None:
        """Pause, if it has been long enough."""
        if time.monotonic() - self._began > _TURN:
            time.sleep(_PAUSE)
            self._began = time.monotonic()
