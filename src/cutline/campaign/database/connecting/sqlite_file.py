"""The file of an SQLite database: who may write it, how it is read without being written, and when it is made.

A database in WAL mode has two more files while it is in use, file-wal and file-shm. SQLite makes them for a mere
reader, too, and if he may not write the database, he cannot remove them and the owner cannot write them. So who may
not write is given a connection that makes no file: through the log, if somebody has the database open, and else
straight from the file, which then holds everything. In the second case SQLite takes no locks, so the file must be seen
to be the same after the reading as before.
"""

import os
import sqlite3
import stat
import threading
import time
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import quote

from cutline.campaign.database.schema import VERSION_TABLE
from cutline.errors import InvalidInputError, NotFoundError, StoreError
from cutline.passwords import hide_passwords

PATIENCE = 60.0
"""Seconds that a transaction waits for its turn before it gives up."""

_CLOSING = 1.0
"""Seconds that a file may be without file-shm and still have content in file-wal, because it is being closed."""

State: TypeAlias = tuple[int, ...]
"""How a file is to be read: straight, as long as this stays the same, but for two values."""

_OPEN: State = (1,)
"""Somebody has the database open, and it is read through the log."""

_UNFINISHED: State = (2,)
"""The log, or the journal, holds what is not in the file."""

_ROOM = 64 * 1024
"""Bytes of the files -wal and -shm of a database in which little has been written."""


class SqliteFile:
    """The file of a database at ``path``, without symbolic links; ``label`` names it in messages.

    ``is_made`` says that this object has made it.
    """

    def __init__(self, path: str, label: str, make: bool) -> None:
        """Make the file if there is none and ``make`` is True.

        Raises NotFoundError if there is none, InvalidInputError for what is no file, StoreError if it cannot be made.
        """
        self.path = os.path.realpath(path)
        self._label = label
        self.is_made = False
        self._read = threading.local()
        try:
            if make:
                self._make()
            self._found = os.stat(self.path)
        except FileNotFoundError:
            raise NotFoundError(f"{label}: there is no such database") from None
        except OSError as error:
            raise StoreError(f"{label}: unable to open database file: {error.strerror}") from None
        if not stat.S_ISREG(self._found.st_mode):
            what = "a folder" if stat.S_ISDIR(self._found.st_mode) else "a device or a pipe"
            raise InvalidInputError(f"{label}: this is {what}, not a database; give the path of a file")

    def _make(self) -> None:
        folder = os.path.dirname(self.path)
        if not os.path.isdir(folder):
            raise StoreError(f"{self._label}: there is no folder {hide_passwords(folder, folder)}")
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644))
            self.is_made = True

    def is_the_same(self) -> bool:
        """Tell whether the path still leads to the file that was found, or made, in the beginning."""
        try:
            return os.path.samestat(os.stat(self.path), self._found)
        except OSError:
            return False

    def remove(self) -> None:
        """Remove the file, if it is still the same."""
        if self.is_the_same():
            os.unlink(self.path)

    def what_forbids_writing(self) -> str | None:
        """Return the path, to be shown, that this user had to be allowed to write and is not, None if there is none."""
        beside = [self.path + end for end in ("-wal", "-shm") if os.path.exists(self.path + end)]
        if len(beside) < 2:
            beside.append(os.path.dirname(self.path))
        forbidden = (hide_passwords(path, path) for path in (self.path, *beside) if not os.access(path, os.W_OK))
        return next(forbidden, None)

    def has_no_room(self) -> bool:
        """Tell whether the disk has less room than SQLite needs beside the file even to read it."""
        try:
            disk = os.statvfs(os.path.dirname(self.path))
        except OSError:
            return False
        return disk.f_bavail * disk.f_frsize < _ROOM

    def connect_to_read(self) -> sqlite3.Connection:
        """Open the file so that nothing is written, neither to it nor beside it; see ``has_changed``."""
        deadline = time.monotonic() + _CLOSING
        while (state := self._state()) == _UNFINISHED:
            self._read.state = state
            if time.monotonic() > deadline:
                raise StoreError(
                    f"{self._label}: not closed properly; let a user who may write it, and its folder, open it once"
                )
            time.sleep(0.01)
        self._read.state = state
        options = "readonly_shm=1" if state == _OPEN else "immutable=1"
        uri = f"file:{quote(os.fsencode(self.path))}?mode=ro&{options}"
        return sqlite3.connect(uri, timeout=PATIENCE, check_same_thread=False, uri=True)

    def has_changed(self, failed: bool) -> bool:
        """Tell whether this thread must read again what it has read with ``connect_to_read``, or ``failed`` to read.

        What was read may be a mixture of two states of the file. A failure may come from the files beside it, if
        somebody was just opening or closing the database.
        """
        state: State = self._read.state
        return state != self._state() or (failed and state == _OPEN)

    def _state(self) -> State:
        """Return what stays the same as long as nobody writes to the file itself."""
        if os.path.exists(self.path + "-shm"):
            return _OPEN
        if self._has("-wal") or self._has("-journal"):
            return _UNFINISHED
        try:
            found = os.stat(self.path)
        except OSError:
            return ()
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)

    def _has(self, end: str) -> bool:
        """Tell whether there is a file of that ending with something in it."""
        try:
            return os.path.getsize(self.path + end) > 0
        except FileNotFoundError:
            return False

    def share_files_beside(self, *_: object) -> None:
        """Give file-wal and file-shm the group of the file, or who shares it by its group could not write them."""
        for end in ("-wal", "-shm"):
            with suppress(OSError):
                if os.stat(self.path + end).st_gid != self._found.st_gid:
                    os.chown(self.path + end, -1, self._found.st_gid)


def prepare(connection: Any, _: object) -> None:
    """Set a new connection up. A database with campaigns is in WAL mode; any other stays as it is."""
    prepare_to_read(connection, None)
    cursor = connection.cursor()
    cursor.execute(f"SELECT 1 FROM sqlite_master WHERE name = '{VERSION_TABLE}'")
    if cursor.fetchone():
        _set_wal_mode(cursor)
    cursor.close()


def _set_wal_mode(cursor: sqlite3.Cursor) -> None:
    """Put a database into WAL mode; while others use it in another one SQLite refuses that without waiting."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            cursor.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.002)
        else:
            return


def prepare_to_read(connection: Any, _: object) -> None:
    """Set a new connection up that is for reading only."""
    connection.isolation_level = None  # transactions are begun by the store, not by the driver
    connection.execute("PRAGMA cache_size=-32768").close()  # KiB: most of what a long import takes
