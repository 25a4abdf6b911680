"""One database: connections, transactions, schema versions. SQLite by default, PostgreSQL for many machines.

On SQLite a writing transaction begins with BEGIN IMMEDIATE, so it waits its turn at the start and never fails in
the middle, and the write-ahead log lets readers go on. A transaction that has returned survives the death of any
process. It is also on the disk, so that it survives a power failure, unless it is an ask: asks forgotten with the
power are leases that end early, and that is not worth as much time as the rest of an ask and a tell together.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Self, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError, NoSuchModuleError
from sqlalchemy.pool import StaticPool

from cutline.campaign.database.schema import HEAD, VERSION_TABLE
from cutline.errors import InvalidInputError, MissingDependencyError, NotFoundError, StoreError

PATIENCE = 60.0
"""Seconds that a transaction waits for its turn before it gives up."""

PAUSE = 5.0
"""Seconds after which a connection to PostgreSQL is tried before it is used again."""

_DEADLOCK = "40P01"
"""PostgreSQL's code: it has ended one of two transactions that waited for each other, as a delete and a tell may."""

T = TypeVar("T")

# psycopg logs what fails in the wake of an error, and Python writes that to standard error if nobody listens
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class BusyError(Exception):
    """What is needed is in the hands of a transaction that is about to end: roll back and try again."""


class Store:
    """A database of campaigns; made by ``connect``. Safe to use from several threads."""

    def __init__(self, engine: Engine, label: str) -> None:
        self.engine = engine
        self.label = label
        self._sqlite = engine.dialect.name == "sqlite"
        self._alone = isinstance(engine.pool, StaticPool)  # one connection for all threads
        self._turn = threading.RLock()
        self._driver_error: type[Exception] = engine.dialect.loaded_dbapi.Error

    @classmethod
    def connect(cls, url: str | PathLike[str] | None, create: bool) -> Self:
        """Open the database, brought to the present version; make it if there is none and ``create`` is True.

        Raises InvalidInputError for a url that is no database of ours to use, NotFoundError if there is none,
        StoreError if it cannot be opened or is of a newer version.
        """
        store = cls(*_engine(url, create))
        try:
            store._bring_up_to_date(create)
        except BaseException:
            store.close()
            raise
        return store

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def write(self, work: Callable[[Connection], T], pipelined: bool = False, safe: bool = True) -> T:
        """Do ``work`` in one writing transaction and return what it returns, once it is on the disk.

        ``pipelined``: it uses prepared statements only, and those without an answer need not be waited for.
        ``safe`` False: it may be lost in a power failure.
        Whatever it raises rolls everything back. Raises StoreError if the database fails.
        """
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self._transaction(writing=True, pipelined=pipelined, safe=safe) as connection:
                    return work(connection)
            except BusyError:
                if time.monotonic() > deadline:
                    raise StoreError(f"{self.label}: the database was busy for {PATIENCE:.0f} s; try again") from None
                time.sleep(0.002)

    def read(self, work: Callable[[Connection], T]) -> T:
        """Do ``work`` in a reading transaction and return what it returns."""
        with self._transaction(writing=False) as connection:
            return work(connection)

    @contextmanager
    def _transaction(self, writing: bool, pipelined: bool = False, safe: bool = True) -> Iterator[Connection]:
        with ExitStack() as stack:
            if self._alone or (writing and self._sqlite):
                stack.enter_context(self._turn)  # SQLite polls for its turn; threads here can do better
            try:
                connection = stack.enter_context(self.engine.connect())
                connection.info["begin"] = "BEGIN IMMEDIATE" if writing else "BEGIN"
                connection.info["synchronous"] = "FULL" if safe else "NORMAL"
                with connection.begin(), self._pipeline(connection) if pipelined else nullcontext():
                    if not (safe or self._sqlite):
                        connection.connection.cursor().execute("SET LOCAL synchronous_commit = off")
                    yield connection
                    if pipelined and not self._sqlite:
                        connection.connection.cursor().execute("COMMIT")  # still in the pipeline: one wait less
            except (DBAPIError, self._driver_error) as error:
                if getattr(getattr(error, "orig", error), "sqlstate", None) == _DEADLOCK:
                    raise BusyError from error
                raise StoreError(f"{self.label}: {_one_line(error)}") from error

    def _pipeline(self, connection: Connection) -> AbstractContextManager[object]:
        """On PostgreSQL, let statements go out without waiting for the answer to those before."""
        if self._sqlite:
            return nullcontext()
        driver: Any = connection.connection.driver_connection
        pipeline: AbstractContextManager[object] = driver.pipeline()
        return pipeline

    def _bring_up_to_date(self, create: bool) -> None:
        version = self.read(_version)
        if version == HEAD:
            return
        if version is None and not create:
            raise NotFoundError(f"{self.label}: there are no campaigns in this database")
        from cutline.campaign.database import migrations

        self.write(lambda connection: migrations.upgrade(connection, self.label))


def _engine(url: str | PathLike[str] | None, create: bool) -> tuple[Engine, str]:
    if url is None:
        return _sqlite(URL.create("sqlite"), poolclass=StaticPool), "the database in memory"
    parsed = _parse(fspath(url))
    label = parsed.render_as_string(hide_password=True)
    if parsed.get_backend_name() == "postgresql":
        try:
            engine = create_engine(parsed, paramstyle="format", max_overflow=-1)
        except ModuleNotFoundError:
            raise MissingDependencyError(
                "campaigns on PostgreSQL need psycopg; install it with: pip install 'cutline[postgres]'"
            ) from None
        event.listen(engine, "checkout", _ping_after_a_pause)
        return engine, label
    path = parsed.database
    if path and not path.startswith("file:"):
        label = path
        if not create and not Path(path).is_file():
            raise NotFoundError(f"{path}: there is no such database")
        if create and not Path(path).absolute().parent.is_dir():
            raise StoreError(f"{path}: there is no folder {Path(path).absolute().parent}")
    return _sqlite(parsed, max_overflow=-1, pool_reset_on_return=None), label


def _sqlite(url: URL, **options: Any) -> Engine:
    engine = create_engine(url, connect_args={"timeout": PATIENCE, "check_same_thread": False}, **options)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def _parse(url: str) -> URL:
    try:
        parsed = make_url(url) if "://" in url else URL.create("sqlite", database=url)
        backend = parsed.get_backend_name()
    except (ArgumentError, NoSuchModuleError, ValueError):
        backend = ""
    if backend == "postgresql":
        return parsed.set(drivername="postgresql+psycopg")
    if backend == "sqlite" and parsed.database not in (None, "", ":memory:"):
        return parsed
    raise InvalidInputError(
        f"cannot keep campaigns in {url!r}; write sqlite:///file.db, postgresql://user@host/name, or the path of a file"
    )


def _prepare_sqlite(connection: Any, _: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin_sqlite, not by the driver
    cursor = connection.cursor()
    for pragma in ("journal_mode=WAL", "cache_size=-65536"):
        cursor.execute(f"PRAGMA {pragma}")
    cursor.close()


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


def _begin_sqlite(connection: Connection) -> None:
    cursor = connection.connection.cursor()
    cursor.execute(f"PRAGMA synchronous={connection.info.get('synchronous', 'FULL')}")
    cursor.execute(connection.info.get("begin", "BEGIN"))
    cursor.close()


def _version(connection: Connection) -> str | None:
    """Return the schema version, None for a database that has none."""
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    version: str | None = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return version


def _one_line(error: Exception) -> str:
    cause = getattr(error, "orig", error)
    lines = str(cause).strip().splitlines()
    return lines[0] if lines else type(cause).__name__
