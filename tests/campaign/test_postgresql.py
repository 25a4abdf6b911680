"""Campaigns on PostgreSQL."""

from concurrent.futures import Future, ThreadPoolExecutor, wait

import pytest
from sqlalchemy import Connection

from campaign_contract import CampaignContract, arms, asked, one
from cutline.campaign.campaign import Campaign
from cutline.campaign.rows import lock_arms
from cutline.errors import StoreError
from ledger import dump
from shared_campaign_contract import SharedCampaignContract


class TestOnPostgreSQL(CampaignContract):
    @pytest.fixture
    def url(self, postgresql: str) -> str:
        return postgresql


class TestSharedOnPostgreSQL(SharedCampaignContract):
    @pytest.fixture
    def url(self, postgresql: str) -> str:
        return postgresql


def test_a_read_only_database_is_an_error_and_stays_as_before(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", ["a"], 0.5, "LSA", 10) as campaign:
        pull = one(campaign)
        before = dump(campaign)
        with Campaign.open(f"{postgresql}%20-cdefault_transaction_read_only=on", "c") as reader:
            assert reader.status() == campaign.status()
            for use in (reader.ask, lambda: reader.tell(pull, 1), lambda: reader.observe("a", 1)):
                with pytest.raises(StoreError, match="read-only transaction"):
                    use()
        assert dump(campaign) == before


def test_a_server_out_of_reach_is_an_error_in_one_line() -> None:
    with pytest.raises(StoreError) as caught:
        Campaign.open("postgresql://somebody:secret@127.0.0.1:1/nothing", "c")
    assert str(caught.value).startswith("postgresql+psycopg://somebody:***@127.0.0.1:1/nothing: ")
    assert "\n" not in str(caught.value)


def test_an_ask_passes_over_an_arm_that_somebody_is_telling(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", arms(3), 0.5, "LSA", 10) as campaign:
        first = one(campaign)
        campaign.abandon(first)  # and so it is the first again
        numbers = [campaign._book.base + arms(3).index(first.arm)]

        def ask_meanwhile(connection: Connection) -> list[str]:
            lock_arms(connection, numbers)
            with ThreadPoolExecutor(1) as pool:  # on another connection
                return pool.submit(asked, campaign, 2).result()

        others = campaign._store.write(ask_meanwhile)
        assert sorted([*others, first.arm]) == arms(3)


def test_an_ask_that_needs_an_arm_that_somebody_is_telling_waits_for_it(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", ["a"], 0.5, "LSA", 10) as campaign, ThreadPoolExecutor(1) as pool:

        def ask_meanwhile(connection: Connection) -> "Future[list[str]]":
            lock_arms(connection, [campaign._book.base])
            waiting = pool.submit(asked, campaign)
            assert wait([waiting], timeout=0.3).done == set()
            return waiting

        assert campaign._store.write(ask_meanwhile).result() == ["a"]
