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
from contextlib import suppress
from typing import Any, TypeAlias
from urllib.parse import quote

from cutline.campaign.database.schema import VERSION_TABLE
from cutline.errors import InvalidInputError, NotFoundError, StoreError
from cutline.passwords import hide_passwords

PATIENCE = 60.0
"""Seconds that a transaction waits for its turn before it gives up."""

State: TypeAlias = tuple[int, ...]
"""What changes with the content of the file."""


class SqliteFile:
    """The file of a database at ``path``, without symbolic links; ``label`` names it in messages."""

    def __init__(self, path: str, label: str, make: bool) -> None:
        """Make the file if there is none and ``make`` is True.

        Raises NotFoundError if there is none, InvalidInputError for what is no file, StoreError if it cannot be made.
        """
        self.path = os.path.realpath(path)
        self._label = label
        self._made = False
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
            self._made = True

    def is_the_same(self) -> bool:
        """Tell whether the path still leads to the file that was found, or made, in the beginning."""
        try:
            return os.path.samestat(os.stat(self.path), self._found)
        except OSError:
            return False

    def remove_if_made(self) -> None:
        """Remove the file if this object has made it; it must be empty, and others kept from writing to it."""
        if self._made and self.is_the_same():
            os.unlink(self.path)

    def what_forbids_writing(self) -> str | None:
        """Return the path, to be shown, that this user had to be allowed to write and is not, None if there is none."""
        beside = [self.path + end for end in ("-wal", "-shm") if os.path.exists(self.path + end)]
        if len(beside) < 2:
            beside.append(os.path.dirname(self.path))
        forbidden = (hide_passwords(path, path) for path in (self.path, *beside) if not os.access(path, os.W_OK))
        return next(forbidden, None)

    def connect_to_read(self) -> sqlite3.Connection:
        """Open the file so that nothing is written, neither to it nor beside it; see ``has_changed``."""
        self._read.state = None
        if os.path.exists(self.path + "-shm"):
            options = "mode=ro&readonly_shm=1"
        elif self._has("-journal"):
            options = "mode=ro"
        elif self._has("-wal"):
            raise StoreError(
                f"{self._label}: not closed properly; let a user who may write it, and its folder, open it once"
            )
        else:
            self._read.state = self._state()
            options = "mode=ro&immutable=1"
        uri = f"file:{quote(os.fsencode(self.path))}?{options}"
        return sqlite3.connect(uri, timeout=PATIENCE, check_same_thread=False, uri=True)

    def has_changed(self) -> bool:
        """Tell whether what this thread has read, with ``connect_to_read``, may be a mixture of two states."""
        return self._read.state is not None and self._read.state != self._state()

    def _state(self) -> State:
        try:
            found = os.stat(self.path)
        except OSError:
            return ()
        beside = (self._has("-wal"), self._has("-journal"))
        return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, *beside)

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
        cursor.execute("PRAGMA journal_mode=WAL")
    cursor.close()


def prepare_to_read(connection: Any, _: object) -> None:
    """Set a new connection up that is for reading only."""
    connection.isolation_level = None  # transactions are begun by the store, not by the driver
    connection.execute("PRAGMA cache_size=-65536").close()
