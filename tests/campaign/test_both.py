"""SQLite and PostgreSQL against each other, and the migrations against the tables."""

import random
from pathlib import Path
from typing import Any

from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

from campaign_contract.campaigns import STRANGE_IDS, Clock
from cutline.campaign import Campaign
from cutline.campaign.database import migrations
from cutline.campaign.database.schema import HEAD, VERSION_TABLE, metadata
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


def test_the_migrations_make_the_tables_of_the_schema(tmp_path: Path, postgresql: str) -> None:
    for url in (tmp_path / "campaigns.db", postgresql):
        with Campaign.create(url, "c", ["a"], 0.5, "LSA", 1) as campaign:
            differences = campaign._store.read(differences_from_the_schema)
        assert differences == []


def test_head_is_the_last_migration() -> None:
    config = Config()
    config.set_main_option("script_location", migrations.LOCATION)
    assert ScriptDirectory.from_config(config).get_heads() == [HEAD]
