"""A database of another schema version."""

import functools
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, text

from campaign_contract.campaigns import SharedCampaignTests, arms, one
from cutline.campaign import Campaign, campaigns
from cutline.campaign.database.schema import HEAD
from cutline.errors import StoreError
from ledger import audit, dump, rows


def execute(statement: str, connection: Connection) -> None:
    connection.execute(text(statement))


class Versions(SharedCampaignTests):
    def test_a_newer_database_is_refused_in_one_line(self, url: str, made: Campaign) -> None:
        self.set_version(made, "9999")
        try:
            for use in (lambda: Campaign.open(url, "flaky"), lambda: campaigns(url), lambda: create_second(url)):
                with pytest.raises(StoreError) as caught:
                    use()
                assert str(caught.value).endswith(
                    f"written by a newer Cutline (schema 9999, this one reads up to {HEAD}); upgrade Cutline"
                )
                assert "\n" not in str(caught.value)
        finally:
            self.set_version(made, HEAD)

    def test_a_database_of_the_first_version_goes_on_with_all_that_it_holds(self, url: str) -> None:
        with Campaign.create(url, "old", arms(20), 0.5, "LSA", 1_000_000, seed=4, **OLD) as made:
            made.observe("arm 0", 1, "ann", "key")
            first, second = made.ask(2, worker="bob")
            made.tell(first, 1)
            made._store.write(functools.partial(execute, "UPDATE cutline_pulls SET time = NULL"))
            before = dump(made)
            self.make_old(made)
        with Campaign.open(url, "old") as upgraded:
            assert dump(upgraded) == before
            assert (upgraded.settings.prior, upgraded.settings.decide) == ((1, 1), "mean")
            assert upgraded.status().in_flight == 1
            assert [(worker.name, worker.agreeing) for worker in upgraded.workers()] == [("ann", 1), ("bob", 1)]
            assert [item.time for item in upgraded.arm("arm 0").pulls] == [None]
            assert [point.spent for point in upgraded.progress()] == [1]
            assert upgraded.tell(second, 0)
            assert len(upgraded.ask(3)) == 3
            audit(upgraded)
        assert [status.name for status in campaigns(url)] == ["old"]

    def test_scores_of_the_first_version_have_their_squares_and_what_is_said_of_them_follows(self, url: str) -> None:
        with Campaign.create(url, "old", arms(20), 0.5, "LSA", 1_000_000, **OLD) as made:
            made.observe_many((f"arm {i % 3}", round(0.3 + i / 50, 9)) for i in range(12))
            before = dump(made)
            for table in ("arms", "campaigns"):
                made._store.write(functools.partial(execute, f"UPDATE cutline_{table} SET doubt = 0"))
            self.make_old(made)
        with Campaign.open(url, "old") as upgraded:
            upgraded.abandon(one(upgraded))
            audit(upgraded)
            assert dump(upgraded)[1] == before[1]
            expected = sum(item.wrong for item in upgraded.decisions())
            assert upgraded.status().expected_errors == pytest.approx(expected, abs=1e-11)

    def test_an_older_database_is_upgraded_when_it_is_opened(self, url: str, made: Campaign, later: None) -> None:
        made.tell(one(made), 1)
        before = dump(made)
        with Campaign.open(url, "flaky") as upgraded:
            assert dump(upgraded) == before
            assert rows(upgraded, "SELECT motto FROM cutline_campaigns") == [("measure less",)]
            assert rows(upgraded, "SELECT version_num FROM cutline_version") == [("9998",)]

    def test_an_upgrade_that_fails_leaves_the_database_as_it_was(
        self, url: str, made: Campaign, later: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CUTLINE_TEST_FAILS", "1")
        before = dump(made)
        with pytest.raises(RuntimeError, match="in the middle"):
            Campaign.open(url, "flaky")
        assert dump(made) == before
        assert rows(made, "SELECT version_num FROM cutline_version") == [(HEAD,)]
        with pytest.raises(StoreError, match="motto"):
            rows(made, "SELECT motto FROM cutline_campaigns")

    @pytest.fixture
    def later(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Make this a later Cutline, with one more schema version."""
        from cutline.campaign.database import migrations, store

        (tmp_path / "later.py").write_text(LATER)
        monkeypatch.setattr(store, "HEAD", "9998")
        monkeypatch.setattr(migrations, "VERSIONS", [*migrations.VERSIONS, str(tmp_path)])

    def make_old(self, campaign: Campaign) -> None:
        """Make the database of a campaign one of the first version."""
        tables = (
            "imports",
            "import_arms",
            "import_pulls",
            "clock",
            "sources",
            "learnt",
            "corrections",
            "requests",
            "progress",
            "tokens",
            "changes",
        )
        for statement in (
            *(f"DROP TABLE cutline_{name}" for name in tables),
            "DROP INDEX cutline_pulls_arm",
            "DROP INDEX cutline_arms_doubt",
            "DROP INDEX cutline_arms_known",
            *(f"ALTER TABLE cutline_campaigns DROP COLUMN {name}" for name in OF_CAMPAIGNS),
            *(
                f"ALTER TABLE cutline_arms DROP COLUMN {name}"
                for name in ("squares", "generation", "decision", "retired", "evidence", "known")
            ),
            *(f"ALTER TABLE cutline_pulls DROP COLUMN {name}" for name in ("note", "time")),
            "UPDATE cutline_version SET version_num = '0001'",
        ):
            campaign._store.write(functools.partial(execute, statement))

    def set_version(self, campaign: Campaign, version: str) -> None:
        campaign._store.write(
            lambda connection: connection.execute(text("UPDATE cutline_version SET version_num = :v"), {"v": version})
        )


OLD: Any = {"prior": (1, 1), "decide": "mean"}
OF_CAMPAIGNS = (
    *("unfinished_until", "decide", "generation", "learnt_from", "learn_at", "up_to_date", "decided"),
    *("changed_at", "version", "retired", "question", "labels_a", "labels_b", "keys_a", "keys_b"),
    *("workers", "excluded", "known_rate"),
)


def create_second(url: str) -> Campaign:
    return Campaign.create(url, "second", ["a"], 0.5, "LSA", 1)


LATER = f"""
import os

import sqlalchemy as sa
from alembic import op

revision = "9998"
down_revision = "{HEAD}"


def upgrade():
    op.add_column("cutline_campaigns", sa.Column("motto", sa.Text, server_default="measure less"))
    if os.environ.get("CUTLINE_TEST_FAILS"):
        raise RuntimeError("in the middle")
"""
