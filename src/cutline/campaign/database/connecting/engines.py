"""Engines for the databases that campaigns live in: how each is connected to, and what a fork does to it."""

import logging
import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import ArgumentError, DisconnectionError
from sqlalchemy.pool import NullPool, Pool, StaticPool

from cutline.campaign.database.connecting import address
from cutline.campaign.database.connecting.disk import Disk
from cutline.campaign.database.connecting.sqlite_file import PATIENCE, SqliteFile, prepare, prepare_to_read
from cutline.errors import InvalidInputError, MissingDependencyError, StoreError
from cutline.passwords import hide_passwords

# What the pool logs of a connection that cannot be closed is raised, too; without any handler it would be printed.
logging.getLogger("sqlalchemy").addHandler(logging.NullHandler())

_IDLE = 5
"""So many connections to an SQLite file are kept for the next transaction: to make one takes as long as to use it."""

PAUSE = 5.0
"""Seconds after which a connection to PostgreSQL is tried before it is used again."""

_CONNECT = {
    "connect_timeout": 10,  # seconds
    "tcp_user_timeout": 60_000,  # milliseconds until what was sent must have arrived
    "keepalives_idle": 30,  # seconds without a word until it is asked whether the server is still there
    "keepalives_interval": 10,
    "keepalives_count": 3,
}
"""How long a server is waited for that does not answer, unless the url says it."""

_CAN_HOLD_ALL = ("UTF8", "SQL_ASCII", None)
"""Encodings of PostgreSQL that keep any text; SQL_ASCII keeps the bytes that it is given, which are always UTF-8."""


@dataclass(eq=False)
class Database:
    """An engine with what must be known of its database.

    ``label`` names it in messages; ``url`` is what the user gave. ``file`` is that of an SQLite database, and
    ``read_only`` says that this user may not write it. ``turn`` is held where one thread must wait for another,
    ``learning`` by the one that learns, and ``disk`` is what a file is made safe with. ``refusal`` says why this
    process must not use it.
    """

    engine: Engine
    label: str
    url: str = ""
    file: SqliteFile | None = None
    read_only: bool = False
    turn: Any = field(default_factory=threading.RLock)
    learning: threading.Lock = field(default_factory=threading.Lock)
    refusal: str | None = None

    def __post_init__(self) -> None:
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self.has_one_connection = isinstance(self.engine.pool, StaticPool)
        self.disk = self._disk_of()
        self._idle: list[Connection] = []
        self._in_use: set[int] = set()  # records of the pool, which itself answers under a lock
        if self.is_sqlite:
            event.listen(self.engine, "checkout", lambda _, record, __: self._in_use.add(id(record)))
            event.listen(self.engine, "checkin", lambda _, record: self._in_use.discard(id(record)))
        _open.add(self)

    def _disk_of(self) -> Disk | None:
        return None if self.file is None or self.read_only else Disk(f"{self.file.path}-wal")

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """Lend a connection for one transaction; raise StoreError if this process must not have one."""
        if self.refusal is not None:
            raise StoreError(f"{self.label}: {self.refusal}")
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self.engine.connect()
        try:
            yield connection
        except BaseException:
            connection.close()
            raise
        if self.file is not None and not self.read_only and len(self._idle) < _IDLE:
            self._idle.append(connection)
        else:
            connection.close()

    def close_idle(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            self._idle.pop().close()
        self.engine.dispose()

    def wait_for_disk(self) -> None:
        """Return when all that has been committed is on the disk; raise StoreError if that fails."""
        assert self.disk is not None
        try:
            self.disk.wait()
        except OSError as error:
            raise StoreError(f"{self.label}: what was written is not safe yet: {error.strerror}; try again") from None

    def explain(self, error: Exception) -> StoreError:
        """Return the error to raise for one of the driver: in one line, without passwords."""
        cause = _silence(error) or getattr(error, "orig", error)
        lines = str(cause).strip().splitlines() or [type(cause).__name__]
        said = " ".join(lines) if lines[0].endswith(":") else lines[0]
        if self.is_sqlite and said == "database is locked":
            said += f": others were at work on it for {PATIENCE:.0f} s; try again"
        if self.file is not None and said in ("disk I/O error", "database or disk is full") and self.file.has_no_room():
            said = "the disk is full; make room on it and try again"
        return StoreError(hide_passwords(f"{self.label}: {said}", self.url))

    def before_fork(self) -> None:
        """Close what is idle: SQLite takes connections that a child inherits for connections with locks."""
        if self.is_sqlite and not self.has_one_connection and len(self._in_use) == len(self._idle):
            self.close_idle()

    def after_fork_in_child(self) -> None:
        """Forget the connections of the parent, or say why this process must not go on.

        No lock that was made before the fork is touched: another thread of the parent may have held it.
        """
        if self.has_one_connection:
            self.refusal = "a campaign in memory stays in the process that made it; keep it in a file to share it"
        elif self._in_use:
            self.refusal = (
                "this process was forked while another thread used the database, which SQLite does not survive; "
                "start it by spawn or forkserver"
            )
        _inherited.extend([self.engine.pool, *self._idle])
        self._idle.clear()
        self._in_use.clear()
        self.engine.dispose(close=False)
        self.turn, self.learning = threading.RLock(), threading.Lock()
        self.disk = self._disk_of()


def _silence(error: BaseException | None) -> BaseException | None:
    """Return the silence of a server in whose wake an error came up, None if there is none."""
    while error is not None and not isinstance(error, TimeoutError):
        error = error.__context__
    return error


_open: "weakref.WeakSet[Database]" = weakref.WeakSet()

_inherited: list[Pool | Connection] = []
"""What parent processes had open: closing it here would be felt there, so it is kept until this process ends."""


def _before_fork() -> None:
    for database in list(_open):
        database.before_fork()


def _after_fork_in_child() -> None:
    for database in list(_open):
        database.after_fork_in_child()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)


def open_database(url: address.Url | None, create: bool) -> Database:
    """Return the database of a url or path, None for one in memory; with ``create`` an SQLite file is made.

    Nothing is connected yet. Raises InvalidInputError for a url that is no database of ours to use, NotFoundError if
    there is no such file, StoreError if it cannot be made.
    """
    if url is None:
        return Database(_sqlite_engine(URL.create("sqlite"), poolclass=StaticPool), "the database in memory")
    parsed, label, text = address.parse(url), address.label(url), os.fsdecode(url)
    if parsed.get_backend_name() == "postgresql":
        return Database(_postgresql_engine(parsed, label, text), label, text)
    file = SqliteFile(str(parsed.database), label, make=create)
    if file.what_forbids_writing() is None:
        engine = _sqlite_engine(URL.create("sqlite", database=file.path), max_overflow=-1, pool_reset_on_return=None)
        event.listen(engine, "connect", file.share_files_beside)
        return Database(engine, label, text, file)
    engine = create_engine("sqlite://", creator=file.connect_to_read, poolclass=NullPool)
    event.listen(engine, "connect", prepare_to_read)
    event.listen(engine, "begin", _begin_sqlite)
    return Database(engine, label, text, file, read_only=True)


def _sqlite_engine(url: URL, **options: Any) -> Engine:
    engine = create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False}, **options)
    event.listen(engine, "connect", prepare)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _begin_sqlite(connection: Connection) -> None:
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA synchronous={connection.info.get('synchronous', 'FULL')}")
    cursor.execute(connection.info.get("begin", "BEGIN"))
    cursor.close()


def _postgresql_engine(url: URL, label: str, text: str) -> Engine:
    given = {name: value for name, value in _CONNECT.items() if name not in url.query}
    try:
        engine = create_engine(
            url, paramstyle="format", max_overflow=-1, connect_args={**given, "client_encoding": "utf8"}
        )
    except ModuleNotFoundError:
        raise MissingDependencyError(
            "campaigns on PostgreSQL need psycopg; install it with: pip install 'cutline[postgres]'"
        ) from None
    except ArgumentError as error:
        raise InvalidInputError(hide_passwords(f"{label}: {error}", text)) from None

    def require_encoding(connection: Any, _: object) -> None:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding not in _CAN_HOLD_ALL:
            connection.close()
            raise StoreError(
                f"{label}: the encoding of the database is {encoding}, which cannot hold every text; it must be UTF8: "
                "CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0"
            )

    event.listen(engine, "do_connect", _connect_with_patience)
    event.listen(engine, "connect", require_encoding)
    event.listen(engine, "checkout", _ping_after_a_pause)
    return engine


def _connect_with_patience(_: object, __: object, arguments: Any, options: Any) -> Any:
    from cutline.campaign.database.connecting import silence  # which needs psycopg

    return silence.Connection.connect(*arguments, **options)


def _ping_after_a_pause(connection: Any, record: Any, _: object) -> None:
    """Have a connection replaced that the server has dropped meanwhile."""
    now = time.monotonic()
    if now - record.info.get("used", now) > PAUSE:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            connection.rollback()
        except connection.Error:
            raise DisconnectionError from None
    record.info["used"] = now
