"""A campaign is opened again, listed and deleted, by whoever shares its database."""

import time
from typing import Any

import pytest

from campaign_contract.campaigns import SharedCampaignTests, arms, one
from cutline.campaign import Campaign, Reason, campaigns, delete
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import dump, rows


class Opening(SharedCampaignTests):
    def test_another_handle_sees_the_same_campaign(self, url: str, made: Campaign) -> None:
        pull = one(made, worker="ann")
        with Campaign.open(url, "flaky") as again:
            assert (again.name, again.settings) == ("flaky", made.settings)
            assert again.tell(pull.id, 1)
            assert again.status() == made.status()
            assert dump(again) == dump(made)

    def test_settings_that_are_as_stored_open_it(self, url: str) -> None:
        options: dict[str, Any] = {"seed": 7, "prior": [2, 1], "target_errors": 0.25, "max_pulls_per_arm": 9}
        options |= {"repeat_workers": True, "threshold": 0.3, "policy": "apt(.05)", "budget": 77}
        Campaign.create(url, "c", iter(["b", "a"]), **options).close()
        with Campaign.open(url, "c", arms=["a", "b"], **options) as campaign:
            assert campaign.settings.prior == (2.0, 1.0)
            assert str(campaign.settings.policy) == "APT(0.05)"

    def test_a_threshold_of_06_over_05_is_an_error_that_names_the_field(self, url: str, made: Campaign) -> None:
        with pytest.raises(ConflictError, match=r"^campaign 'flaky': threshold is 0\.5, not 0\.6$"):
            Campaign.open(url, "flaky", threshold=0.6)

    def test_every_setting_that_differs_is_named(self, url: str, made: Campaign) -> None:
        with pytest.raises(ConflictError) as caught:
            Campaign.open(
                url, "flaky", threshold=0.5, policy="Uniform", budget=6000, seed=5, max_pulls_per_arm=3,
                repeat_workers=True, prior=(2, 2), target_errors=1,
            )  # fmt: skip
        assert str(caught.value) == (
            "campaign 'flaky': policy is LSA(1.35), not Uniform; budget is 1000000, not 6000; seed is 4, not 5; "
            "max_pulls_per_arm is None, not 3; repeat_workers is False, not True; prior is None, not (2.0, 2.0); "
            "target_errors is None, not 1.0"
        )

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (arms(21), "'arm 20' is new"),
            (arms(19), "'arm 19' is missing"),
            ({**dict.fromkeys(arms(20)), "arm 3": 1}, "'arm 3' has another payload"),
        ],
    )
    def test_other_arms_are_an_error_that_names_one(self, url: str, made: Campaign, given: Any, message: str) -> None:
        with pytest.raises(ConflictError, match=f"arms: {message}"):
            Campaign.open(url, "flaky", arms=given)

    def test_a_bad_expectation_is_an_error_of_its_own(self, url: str, made: Campaign) -> None:
        with pytest.raises(InvalidInputError, match="threshold"):
            Campaign.open(url, "flaky", threshold=2)

    def test_a_name_that_is_taken_is_refused_and_its_campaign_stays(self, url: str, made: Campaign) -> None:
        before = dump(made)
        with pytest.raises(ConflictError, match="there is a campaign 'flaky' already"):
            Campaign.create(url, "flaky", ["x"], 0.5, "LSA", 10)
        assert dump(made) == before

    def test_an_unknown_name_is_an_error_that_says_which_there_are(self, url: str, made: Campaign) -> None:
        with pytest.raises(NotFoundError, match="no campaign is called 'other'; there are 'flaky'"):
            Campaign.open(url, "other")
        with pytest.raises(NotFoundError, match="no campaign is called 'other'"):
            delete(url, "other")

    def test_campaigns_lists_the_status_of_each_by_name(self, url: str, made: Campaign) -> None:
        made.tell(one(made), 1)
        with Campaign.create(url, "a", ["x", "y"], 0.5, "Uniform", 1) as other:
            assert campaigns(url) == [other.status(), made.status()]
        delete(url, "a")
        assert [status.name for status in campaigns(url)] == ["flaky"]

    def test_a_deleted_campaign_is_gone_and_the_others_stay(self, url: str, made: Campaign) -> None:
        with Campaign.create(url, "short-lived", ["arm 0"], 0.5, "LSA", 10) as gone:
            pull, flying = gone.ask(2)
            gone.tell(pull, 1)
            before = dump(made)
            delete(url, "short-lived")
            for use in (
                gone.ask,
                gone.status,
                gone.decisions,
                lambda: list(gone.results()),
                lambda: gone.tell(flying, 1),
                lambda: gone.abandon(flying),
                lambda: gone.observe("arm 0", 1),
            ):
                with pytest.raises(NotFoundError, match="campaign 'short-lived' has been deleted"):
                    use()
            with Campaign.create(url, "short-lived", ["arm 0"], 0.5, "LSA", 10) as again:
                assert again.status().spent == 0
                with pytest.raises(NotFoundError):
                    gone.ask()
        assert dump(made) == before
        assert rows(made, "SELECT count(DISTINCT campaign_id) FROM cutline_arms") == [(2,)]  # of made and of again
        assert rows(made, "SELECT count(*) FROM cutline_pulls") == [(0,)]
        gone.close()

    def test_where_the_clocks_stand_in_another_time_zone_a_lease_is_as_long(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        try:
            monkeypatch.setenv("TZ", "Pacific/Kiritimati")
            time.tzset()
            with Campaign.create(url, "c", ["a"], 0.5, "LSA", 1) as east:
                pull = one(east, lease=600)
                assert 590 < pull.expires - time.time() < 601
                monkeypatch.setenv("TZ", "Pacific/Niue")
                time.tzset()
                with Campaign.open(url, "c") as west:
                    assert west.ask().reason is Reason.ALL_IN_FLIGHT
                    assert west.status().in_flight == 1
                    assert west.tell(pull, 1)
        finally:
            monkeypatch.undo()
            time.tzset()
