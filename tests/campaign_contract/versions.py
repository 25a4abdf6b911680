"""A database of another schema version."""

import functools
from pathlib import Path

import pytest
from sqlalchemy import Connection, text

from campaign_contract.campaigns import SharedCampaignTests, one
from cutline.campaign import Campaign, campaigns
from cutline.campaign.database.schema import HEAD
from cutline.errors import StoreError
from ledger import dump, rows


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

    def test_a_database_of_the_first_version_goes_on_with_all_that_it_holds(self, url: str, made: Campaign) -> None:
        made.observe("arm 0", 1, "ann", "key")
        first, second = made.ask(2, worker="bob")
        made.tell(first, 1)
        before = dump(made)
        for statement in (
            *(f"DROP TABLE cutline_{name}" for name in ("imports", "import_arms", "import_pulls", "clock", "sources")),
            "ALTER TABLE cutline_campaigns DROP COLUMN unfinished_until",
            "UPDATE cutline_version SET version_num = '0001'",
        ):
            made._store.write(functools.partial(execute, statement))
        with Campaign.open(url, "flaky") as upgraded:
            assert dump(upgraded) == before
            assert upgraded.status().in_flight == 1
            assert upgraded.tell(second, 0)
            assert len(upgraded.ask(3)) == 3
        assert [status.name for status in campaigns(url)] == ["flaky"]

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

    def set_version(self, campaign: Campaign, version: str) -> None:
        campaign._store.write(
            lambda connection: connection.execute(text("UPDATE cutline_version SET version_num = :v"), {"v": version})
        )


def create_second(url: str) -> Campaign:
    return Campaign.create(url, "second", ["a"], 0.5, "LSA", 1)


LATER = """
import os

import sqlalchemy as sa
from alembic import op

revision = "9998"
down_revision = "0003"


def upgrade():
    op.add_column("cutline_campaigns", sa.Column("motto", sa.Text, server_default="measure less"))
    if os.environ.get("CUTLINE_TEST_FAILS"):
        raise RuntimeError("in the middle")
"""
