"""SQLite and PostgreSQL against each other, and the migrations against the tables."""

import random
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from campaign_contract.campaigns import STRANGE_IDS, Clock
from cutline.campaign import Campaign
from cutline.campaign.database import migrations, store
from cutline.campaign.database.schema import HEAD, VERSION_TABLE, metadata
from cutline.campaign.database.store import Store
from ledger import audit, dump


def play(url: str | None) -> list[list[tuple[Any, ...]]]:
    """Do a bit of everything, with answers that depend on the asks alone; return all that the tables hold."""
    clock, answers = Clock(), random.Random(9)
    options: dict[str, Any] = {"seed": 12, "max_pulls_per_arm": 40, "prior": (0.5, 0.5), "clock": clock}
    with Campaign.create(url, "c", {arm: {"é": 1} for arm in STRANGE_IDS}, 0.3, "LSA", 600, **options) as campaign:
        for step in range(150):
            worker = answers.choice(("ann", "bob", "é" * 3000, None))
            pulls = list(campaign.ask(answers.choice((1, 1, 2, 7)), worker=worker, lease=answers.choice((5, 50))))
            clock.now += answers.choice((0, 1, 6))
            for pull in pulls:
                match answers.randrange(6):
                    case 0:
                        campaign.abandon(pull)
                    case 1:
                        pass  # its lease ends
                    case 2:
                        campaign.tell(pull, answers.random())
                    case _:
                        campaign.tell(pull, answers.random() < 0.3)
            if step % 10 == 0:
                campaign.observe(answers.choice(STRANGE_IDS), answers.random(), f"{worker} {step}", f"key {step}")
        audit(campaign)
        return dump(campaign)


def test_the_same_answers_to_the_same_asks_give_the_same_rows_on_every_store(tmp_path: Path, postgresql: str) -> None:
    in_memory = play(None)
    assert len(in_memory[2]) > 150
    assert play(str(tmp_path / "campaigns.db")) == in_memory
    assert play(postgresql) == in_memory


def differences_from_the_schema(connection: Connection) -> Any:
    options = {"version_table": VERSION_TABLE, "compare_type": True}
    return compare_metadata(MigrationContext.configure(connection, opts=options), metadata)


def structure(connection: Connection) -> dict[str, Any]:
    """What each table is made of, but for the order of its columns and their defaults, and what it holds at first."""
    inspector = inspect(connection)
    found: dict[str, Any] = {}
    for table in inspector.get_table_names():
        columns = {item["name"]: (str(item["type"]), item["nullable"]) for item in inspector.get_columns(table)}
        indexes = {
            item["name"]: (
                item["column_names"],
                item["unique"],
                [str(value) for value in item["dialect_options"].values()],
            )
            for item in inspector.get_indexes(table)
        }
        unique = sorted(item["column_names"] for item in inspector.get_unique_constraints(table))
        rows = [tuple(row) for row in connection.execute(text(f"SELECT * FROM {table}"))]
        found[table] = (columns, inspector.get_pk_constraint(table), unique, indexes, rows)
    return found


def autoincrement(connection: Connection) -> list[str]:
    """The tables of an SQLite file whose row numbers never come back."""
    query = text("SELECT name FROM sqlite_master WHERE sql LIKE '%AUTOINCREMENT%' ORDER BY name")
    return list(connection.scalars(query))


def drop_tables(connection: Connection) -> None:
    for table in inspect(connection).get_table_names():
        connection.execute(text(f"DROP TABLE {table}"))


def test_the_migrations_make_the_tables_that_a_new_database_has(
    tmp_path: Path, postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in (tmp_path / "campaigns.db", postgresql):
        with Store.connect(url, create=True) as made:
            made.write(lambda connection: None)
            expected = made.read(structure)
            if url != postgresql:
                assert made.read(autoincrement) == ["cutline_campaigns", "cutline_tokens"]
            made.write(drop_tables)
        assert expected.keys() == {VERSION_TABLE, *metadata.tables}
        with monkeypatch.context() as patch, Store.connect(url, create=True) as migrated:
            patch.setattr(store, "make_tables", lambda connection: migrations.upgrade(connection, ""))
            migrated.write(lambda connection: None)
            assert migrated.read(structure) == expected
            assert migrated.read(differences_from_the_schema) == []
            if url != postgresql:
                assert migrated.read(autoincrement) == ["cutline_campaigns", "cutline_tokens"]


def test_head_is_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", migrations.LOCATION)
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]
