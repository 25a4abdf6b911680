"""Makes the tables of the present schema version in a database that has none."""

from sqlalchemy import Connection
from sqlalchemy.schema import CreateIndex, CreateTable

from cutline.campaign.database.schema import HEAD, VERSION_TABLE, clock, metadata


def make_tables(connection: Connection) -> None:
    """Make at once what all migrations, one after the other, would make in an empty database."""
    for table in metadata.sorted_tables:
        connection.execute(CreateTable(table))
        for index in table.indexes:
            statement = str(CreateIndex(index).compile(connection))
            condition = index.info.get("where")
            connection.exec_driver_sql(f"{statement} WHERE {condition}" if condition else statement)
    connection.execute(clock.insert(), {"id": 1, "boot": "", "began": 0.0, "latest": 0.0})
    connection.exec_driver_sql(
        f"CREATE TABLE {VERSION_TABLE} "
        f"(version_num VARCHAR(32) NOT NULL, CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"  # as Alembic's
    )
    connection.exec_driver_sql(f"INSERT INTO {VERSION_TABLE} VALUES ('{HEAD}')")
