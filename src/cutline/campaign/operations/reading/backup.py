"""A copy of a whole database of campaigns, made while others work on it."""

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from sqlalchemy import Connection

from cutline.campaign.database.store import Store
from cutline.errors import InvalidInputError
from cutline.files import folder_of, require_writable


def backup(store: Store, out: str | os.PathLike[str]) -> int:
    """Write a copy of an SQLite database to a file and return its size in bytes; see campaign.backup."""
    target = Path(out)
    if store.file is None:
        raise InvalidInputError(f"{store.label}: only SQLite files are copied; pg_dump makes a backup of PostgreSQL")
    if target.exists() and not target.is_file():
        raise InvalidInputError(f"cannot write {target}: a database is copied to a file; give the name of one")
    if target.exists() and target.samefile(store.file.path):
        raise InvalidInputError(f"cannot write {target}: it is the database itself; give the copy another name")
    require_writable(target, database=True)
    try:
        with folder_of(target), tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name[:100]}.") as room:
            copy = Path(room) / "copy"
            store.read(lambda connection: _copy(connection, copy, target))
            copy.replace(target)
        return target.stat().st_size
    except OSError as error:
        raise InvalidInputError(f"cannot write {target}: {error.strerror}") from None


def _copy(connection: Connection, copy: Path, target: Path) -> None:
    """Copy the database as it is at one moment, in one step, while others go on writing to its log."""
    source = connection.connection.driver_connection
    assert isinstance(source, sqlite3.Connection)
    try:
        with closing(sqlite3.connect(copy)) as opened:
            source.backup(opened)
    except sqlite3.Error as error:
        raise InvalidInputError(f"cannot write {target}: {error}") from None
