"""The clock of whoever asks does not matter: leases follow the clock of the database."""

import time

import pytest

from campaign_contract.campaigns import SharedCampaignTests, one
from cutline.campaign import Campaign, Reason, campaigns


class Clocks(SharedCampaignTests):
    @pytest.mark.parametrize("jump", [3600, -3600])
    def test_a_client_whose_clock_is_wrong_takes_nothing_from_others_and_keeps_what_it_has(
        self, url: str, monkeypatch: pytest.MonkeyPatch, jump: float
    ) -> None:
        right = time.time
        with Campaign.create(url, "one arm", ["a"], 0.5, "LSA", 2) as campaign:
            mine = one(campaign, worker="A")
            monkeypatch.setattr(time, "time", lambda: right() + jump)
            with Campaign.open(url, "one arm") as other:
                its = one(other, worker="B")
                assert other.ask(worker="C").reason is Reason.ALL_IN_FLIGHT
                assert abs(its.expires - mine.expires) < 60
                assert abs(other.extend(its, 600) - mine.expires) < 60
                assert [status.in_flight for status in campaigns(url) if status.name == "one arm"] == [2]
                monkeypatch.setattr(time, "time", right)
                assert campaign.ask(worker="C").reason is Reason.ALL_IN_FLIGHT
                assert campaign.status().in_flight == 2
                assert campaign.tell(mine, 1)
                assert other.tell(its, 1)
            assert campaign.status().spent == 2

    def test_a_lease_ends_by_itself_after_its_time(self, url: str) -> None:
        with Campaign.create(url, "one arm", ["a"], 0.5, "LSA", 1) as campaign:
            one(campaign, lease=1.0)
            began = time.monotonic()
            while not (pulls := campaign.ask()):
                assert pulls.reason is Reason.ALL_IN_FLIGHT
                time.sleep(0.02)
            assert 0.9 < time.monotonic() - began < 30
            assert campaign.status().in_flight == 1
