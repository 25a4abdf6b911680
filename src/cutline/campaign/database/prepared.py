"""Prepared statements: compiled once, and handed to the driver as they are.

SQLAlchemy compiles each of these for the dialect; running them on the driver's own cursor saves, in an ask and a
tell, more time than the database takes. Parameters go in as the driver takes them and rows come out as plain tuples,
so only columns of whole numbers, floats, text and bytes may be involved.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from sqlalchemy import Connection, Executable, bindparam
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import CompilerElement

Row = tuple[Any, ...]

_SIZES = (1, 32, 128, 1024)


@dataclass(slots=True)
class Answer:
    """What came back, or will come back, from a query."""

    cursors: list[Any]

    def rows(self) -> list[Row]:
        """Wait for all rows."""
        found: list[Row] = []
        for cursor in self.cursors:
            found += cursor.fetchall()
            cursor.close()
        return found

    def ignore(self) -> None:
        """Do not wait for them."""
        for cursor in self.cursors:
            cursor.close()


class Prepared:
    """One statement for all databases.

    ``names`` says what a row holds; for ``run`` in the order in which the statement's text has its parameters.
    """

    def __init__(self, statement: Executable, names: tuple[str, ...] = ()) -> None:
        self._statement = statement
        self._names = names
        self._compiled: dict[str, tuple[str, tuple[str, ...], dict[str, Any]]] = {}

    def send(self, connection: Connection, **values: Any) -> Answer:
        """Run a query and return its answer; in a pipeline that has not come yet."""
        text, order, constants = self._for(connection)
        constants = {**constants, **values}
        cursor = connection.connection.cursor()
        cursor.execute(text, tuple([constants[name] for name in order]))
        return Answer([cursor])

    def send_row(self, connection: Connection, row: Row) -> Answer:
        """Run a query with a row of parameters and return its answer; beside those it may have constants."""
        text, order, constants = self._for(connection)
        if order != self._names:
            values = constants | dict(zip(self._names, row, strict=True))
            row = tuple([values[name] for name in order])
        cursor = connection.connection.cursor()
        cursor.execute(text, row)
        return Answer([cursor])

    def rows(self, connection: Connection, **values: Any) -> list[Row]:
        """Run a query and return all rows."""
        return self.send(connection, **values).rows()

    def run(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Run a change once for each row of parameters."""
        text, order, _ = self._for(connection)
        assert self._names == order, f"{text} has {order}"
        cursor = connection.connection.cursor()
        try:
            if len(rows) == 1:
                cursor.execute(text, rows[0])
            elif rows:
                cursor.executemany(text, rows)
        finally:
            cursor.close()

    def _for(self, connection: Connection) -> tuple[str, tuple[str, ...], dict[str, Any]]:
        name = connection.dialect.name
        if name not in self._compiled:
            assert isinstance(self._statement, CompilerElement)
            compiled = self._statement.compile(dialect=connection.dialect)
            assert isinstance(compiled, SQLCompiler)
            self._compiled[name] = (str(compiled), tuple(compiled.positiontup or ()), dict(compiled.params))
        return self._compiled[name]


class PreparedForEach:
    """A query for the rows whose column has one of many values.

    ``make`` returns it for a list of parameters that stand for the values, or with a ``width`` for a list of tuples of
    so many parameters. It is made and compiled for a few lengths of that list, each when it is first needed; where
    there are fewer values than parameters, the last one is repeated.
    """

    def __init__(self, make: Callable[[list[Any]], Executable], width: int = 1) -> None:
        self._make = make
        self._width = width
        self._statement = cache(self._statement_of)

    def _statement_of(self, size: int) -> Prepared:
        names = tuple(f"value_{i}" for i in range(size * self._width))
        flat: list[Any] = list(map(bindparam, names))
        tuples = list(zip(*[iter(flat)] * self._width, strict=True))
        return Prepared(self._make(flat if self._width == 1 else tuples), names)

    def send(self, connection: Connection, wanted: Iterable[Any]) -> Answer:
        """Run the query, in pieces if the values are many, and return its answer."""
        items = list(wanted)
        answer = Answer([])
        for start in range(0, len(items), _SIZES[-1]):
            piece = items[start : start + _SIZES[-1]]
            size = next(size for size in _SIZES if size >= len(piece))
            piece += piece[-1:] * (size - len(piece))
            flat = piece if self._width == 1 else chain.from_iterable(piece)
            answer.cursors += self._statement(size).send_row(connection, tuple(flat)).cursors
        return answer

    def rows(self, connection: Connection, wanted: Iterable[Any]) -> list[Row]:
        """Run the query and return all rows, piece by piece."""
        return self.send(connection, wanted).rows()
