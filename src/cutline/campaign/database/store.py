"""One database: connections, transactions, schema versions. SQLite by default, PostgreSQL for many machines.

On SQLite a writing transaction begins with BEGIN IMMEDIATE, so it waits its turn at the start and never fails in
the middle, and the write-ahead log lets readers go on. A transaction that has returned survives the death of any
process. It also survives a power failure, because it waits for the disk, on SQLite after others may write again (see
disk.py); only an ask does not wait, which would double the time of an ask and a tell. An ask that a power failure has
undone is a lease that ended early.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from types import ModuleType
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, inspect, text
from sqlalchemy.exc import DBAPIError

from cutline.campaign.database.connecting.address import Url
from cutline.campaign.database.connecting.engines import Database, open_database
from cutline.campaign.database.connecting.sqlite_file import PATIENCE, SqliteFile
from cutline.campaign.database.schema import HEAD, VERSION_TABLE
from cutline.campaign.database.tables import make_tables
from cutline.errors import NotFoundError, StoreError

_DEADLOCK = "40P01"
"""PostgreSQL's code: it has ended one of two transactions that waited for each other, as a delete and a tell may."""

_CHANGING = 10.0
"""Seconds for which somebody who reads without locks tries again, because others are changing the file."""

T = TypeVar("T")

# psycopg logs what fails in the wake of an error, and Python writes that to standard error if nobody listens
logging.getLogger("psycopg").addHandler(logging.NullHandler())


class BusyError(Exception):
    """What is needed is in the hands of a transaction that is about to end: roll back and try again."""


class Debt:
    """What a thread owes before anybody is told that what it wrote is safe; ``disk``: to wait for it."""

    disk = False


class Store:
    """A database of campaigns; made by ``connect``. Safe to use from several threads, and in a child after a fork."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._has_tables = False
        self._users = 1
        self._owing = threading.local()
        self._driver_error: type[Exception] = database.engine.dialect.loaded_dbapi.Error

    @classmethod
    def connect(cls, url: Url | None, create: bool) -> Self:
        """Open the database, brought to the present version.

        If there is none and ``create`` is True, it is made in the transaction of the first ``write``. Raises
        InvalidInputError for a url that is no database of ours to use, NotFoundError if there is none, StoreError if
        it cannot be opened or is of a newer version.
        """
        store = cls(open_database(url, create))
        try:
            version = store.read(_version)
            if version is None and not create:
                raise NotFoundError(f"{store.label}: there are no campaigns in this database")
            store._has_tables = version == HEAD
            if version not in (None, HEAD):
                store.write(lambda connection: None)
        except BaseException:
            store.close()
            raise
        return store

    @property
    def engine(self) -> Engine:
        """The engine whose connections this store uses."""
        return self._database.engine

    @property
    def is_sqlite(self) -> bool:
        """Whether it is SQLite, where one transaction writes at a time."""
        return self._database.is_sqlite

    @property
    def in_memory(self) -> bool:
        """Whether the database is gone when the store is closed."""
        return self._database.has_one_connection

    @property
    def read_only(self) -> bool:
        """Whether this user may not write."""
        return self._database.read_only

    @property
    def file(self) -> SqliteFile | None:
        """The file of an SQLite database, None for any other and in memory."""
        return self._database.file

    @property
    def learning(self) -> threading.Lock:
        """What a thread holds while it learns, which takes long enough for others to begin with the same."""
        return self._database.learning

    @property
    def label(self) -> str:
        """What the database is called in messages; holds no password."""
        return self._database.label

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def share(self) -> Self:
        """Return the store for one more user, who closes it too: it stays open until the last one has."""
        self._users += 1
        return self

    def close(self) -> None:
        """Close all connections; a file that this store has made, and in which nothing came to be, is removed."""
        self._users -= 1
        if self._users > 0:
            return
        file = self._database.file
        if file is not None and file.is_made and not self._has_tables:
            with suppress(StoreError), self._transaction(writing=False) as connection:
                if not inspect(connection).get_table_names():
                    file.remove()  # while this transaction keeps others from writing to it
        self._database.close_idle()

    def write(self, work: Callable[[Connection], T], pipelined: bool = False, safe: bool = True) -> T:
        """Do ``work`` in one writing transaction and return what it returns, once it is on the disk.

        ``pipelined``: it uses prepared statements only, and those without an answer need not be waited for.
        ``safe`` False: it may be lost in a power failure.
        Whatever it raises rolls everything back. Raises StoreError if the database fails.
        """
        deadline, pause = time.monotonic() + PATIENCE, 0.002
        while True:
            try:
                with self._transaction(writing=True, pipelined=pipelined, safe=safe) as connection:
                    if not self._has_tables:
                        self._bring_up_to_date(connection)
                    done = work(connection)
            except BusyError:
                if time.monotonic() > deadline:
                    raise StoreError(f"{self.label}: the database was busy for {PATIENCE:.0f} s; try again") from None
                time.sleep(pause)
                pause = min(2 * pause, 0.05)
                continue
            except StoreError:
                self._require_file()  # else that is the reason
                raise
            self._require_file()
            if not self._has_tables:
                if self._database.file is not None:
                    self._database.close_idle()
                    with suppress(StoreError):  # this sets WAL mode, for which the first ask would wait
                        self._read(lambda connection: None)
                self._has_tables = True
            return done

    @contextmanager
    def owing_the_disk(self) -> Iterator[Debt]:
        """Have this thread not wait for the disk meanwhile; what is yielded says whether ``wait_for_disk`` is owed."""
        debt = self._owing.debt = Debt()
        try:
            yield debt
        finally:
            del self._owing.debt

    def wait_for_disk(self) -> None:
        """Return when all that has been committed is on the disk; raise StoreError if that fails."""
        self._database.wait_for_disk()

    def read(self, work: Callable[[Connection], T]) -> T:
        """Do ``work`` in a reading transaction and return what it returns."""
        if not self._database.read_only:
            return self._read(work)
        deadline = time.monotonic() + _CHANGING
        while True:
            try:
                answer = self._read(work)
            except StoreError:
                if time.monotonic() > deadline or not self._must_read_again(failed=True):
                    raise
            else:
                if not self._must_read_again():
                    return answer
                if time.monotonic() > deadline:
                    raise StoreError(f"{self.label}: it was changed all the time while it was read; try again")

    def _read(self, work: Callable[[Connection], T]) -> T:
        with self._transaction(writing=False) as connection:
            return work(connection)

    def _must_read_again(self, failed: bool = False) -> bool:
        file = self._database.file
        return file is not None and file.has_changed(failed)

    @contextmanager
    def _transaction(self, writing: bool, pipelined: bool = False, safe: bool = True) -> Iterator[Connection]:
        database = self._database
        if writing and database.read_only and database.file is not None:
            what = database.file.what_forbids_writing()
            raise StoreError(f"{self.label}: attempt to write a readonly database; this user may not write {what}")
        waits_later = writing and safe and database.disk is not None and database.disk.has_log()
        with ExitStack() as stack:
            if database.has_one_connection or (writing and database.is_sqlite):
                stack.enter_context(database.turn)  # SQLite polls for its turn; threads here can do better
            try:
                connection = stack.enter_context(database.connect())
                connection.info["begin"] = "BEGIN IMMEDIATE" if writing else "BEGIN"
                connection.info["synchronous"] = "FULL" if safe and not waits_later else "NORMAL"
                with connection.begin(), self._pipeline(connection) if pipelined else nullcontext():
                    if not (safe or database.is_sqlite):
                        connection.connection.cursor().execute("SET LOCAL synchronous_commit = off")
                    yield connection
                    if pipelined and not database.is_sqlite:
                        connection.connection.cursor().execute("COMMIT")  # still in the pipeline: one wait less
            except (DBAPIError, self._driver_error) as error:
                interrupt = _interrupt_before(error)
                if interrupt is not None:
                    raise KeyboardInterrupt(*interrupt.args) from None
                if getattr(getattr(error, "orig", error), "sqlstate", None) == _DEADLOCK:
                    raise BusyError from error
                raise database.explain(error) from None  # what the driver says may hold a password
        if waits_later:
            self._wait_or_owe()

    def _wait_or_owe(self) -> None:
        debt: Debt | None = getattr(self._owing, "debt", None)
        if debt is None:
            self._database.wait_for_disk()
        else:
            debt.disk = True

    def _pipeline(self, connection: Connection) -> AbstractContextManager[object]:
        """On PostgreSQL, let statements go out without waiting for the answer to those before."""
        if self._database.is_sqlite:
            return nullcontext()
        driver: Any = connection.connection.driver_connection
        pipeline: AbstractContextManager[object] = driver.pipeline()
        return pipeline

    def _bring_up_to_date(self, connection: Connection) -> None:
        """Make the tables, or change those of an older version."""
        if not self._database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(7203165911)"))  # one process does it, the others wait
        version = _version(connection)
        if version is None:
            make_tables(connection)
        elif version != HEAD:
            _load_migrations().upgrade(connection, self.label)

    def _require_file(self) -> None:
        """Raise StoreError if what was written to an SQLite file cannot be found at its path."""
        file = self._database.file
        if file is not None and not file.is_the_same():
            raise StoreError(f"{self.label}: the file was removed or replaced while it was in use; begin anew")


def _interrupt_before(error: BaseException | None) -> KeyboardInterrupt | None:
    """Return the Ctrl-C because of which a transaction was being rolled back when an error came up, None if none."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error


def _load_migrations() -> ModuleType:
    """Return the module of the migrations; only who finds a database of another version needs it."""
    from cutline.campaign.database import migrations

    return migrations


def _version(connection: Connection) -> str | None:
    """Return the schema version, None for a database that has none."""
    if not connection.dialect.has_table(connection, VERSION_TABLE):
        return None
    version: str | None = connection.scalar(text(f"SELECT version_num FROM {VERSION_TABLE}"))
    return version
