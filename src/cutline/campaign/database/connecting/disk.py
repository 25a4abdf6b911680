"""Waiting for the disk: what is committed to an SQLite file survives a power failure once this has returned.

SQLite would wait before it lets the next one write. Here the log is committed first, the next one begins, and all who
have committed meanwhile wait together: one wait is enough for every commit before it.
"""

import os
import threading

_sync = getattr(os, "fdatasync", os.fsync)  # which macOS and Windows do not have


class Disk:
    """Waits until the write-ahead log of a database is on the disk, for any number of threads."""

    def __init__(self, log: str) -> None:
        self._log = log
        self._turn = threading.Condition()
        self._asked = self._done = 0
        self._is_busy = False

    def has_log(self) -> bool:
        """Tell whether the database has a log, so that ``wait`` is all that a commit needs."""
        return os.path.exists(self._log)

    def wait(self) -> None:
        """Return when all that this thread has committed is on the disk; raise OSError if that fails."""
        with self._turn:
            self._asked += 1
            mine = self._asked
            while self._done < mine:
                if self._is_busy:
                    self._turn.wait()
                else:
                    self._write(mine)

    def _write(self, mine: int) -> None:
        """Wait for the disk on behalf of all who have asked for it so far."""
        everybody, self._is_busy = self._asked, True
        self._turn.release()
        try:
            self._write_log()
        except OSError:
            everybody = mine - 1  # each of the others tries for himself
            raise
        finally:
            self._turn.acquire()
            self._is_busy = False
            self._done = max(self._done, everybody)
            self._turn.notify_all()

    def _write_log(self) -> None:
        try:
            file = os.open(self._log, os.O_RDWR)
        except FileNotFoundError:
            return  # it is part of the database by now, which SQLite has waited for
        try:
            _sync(file)
        finally:
            os.close(file)
