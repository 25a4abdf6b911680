"""Makes the tables of the present schema version in a database that has none."""

from collections.abc import Iterator
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect
from sqlalchemy.schema import CreateIndex, CreateTable

from cutline.campaign.database.schema import HEAD, VERSION_TABLE, clock, metadata


def make_tables(connection: Connection) -> None:
    """Make at once what all migrations, one after the other, would make in an empty database."""
    kind: Any = type(connection.dialect)
    for statement in _statements(kind):
        connection.exec_driver_sql(statement)
    connection.execute(clock.insert(), {"id": 1, "boot": "", "began": 0.0, "latest": 0.0})
    connection.exec_driver_sql(f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')")


@cache
def _statements(kind: type[Dialect]) -> tuple[str, ...]:
    """Return the statements that make the tables in a kind of database; to write them takes as long as to run them."""
    return tuple(_written(kind()))


def _written(dialect: Dialect) -> Iterator[str]:
    for table in metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            statement = str(CreateIndex(index).compile(dialect=dialect))
            condition = index.info.get("where")
            yield f"{statement} WHERE {condition}" if condition else statement
    yield (
        f"CREATE TABLE {VERSION_TABLE} "
        f"(version_num VARCHAR(32) NOT NULL, CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"  # as Alembic's
    )
