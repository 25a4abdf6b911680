"""A campaign is renamed, copied and deleted as a whole."""

from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Create, one
from campaign_contract.changing import PRIOR, answer
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import audit, dump, rows


class Whole(CampaignTests):
    def test_a_renamed_campaign_goes_on_and_a_name_that_is_taken_stays_with_whom_it_belongs_to(
        self, create: Create, url: str | None
    ) -> None:
        campaign = create(3, name="fruit")
        pull = one(campaign)
        campaign.rename("apples")
        assert (campaign.name, campaign.status().name) == ("apples", "apples")
        assert campaign.tell(pull, 1)
        with pytest.raises(InvalidInputError, match="campaign name ''"):
            campaign.rename("")
        other = campaign.copy("pears")
        with other, pytest.raises(ConflictError, match="there is a campaign 'apples' already"):
            other.rename("apples")
        assert [item.name for item in (campaign, other)] == ["apples", "pears"]

    def test_a_copy_has_the_arms_the_settings_and_the_results_and_goes_its_own_way(self, create: Create) -> None:
        payloads = [(f"arm {i}", {"n": i} if i % 2 else None) for i in range(20)]
        campaign = create(payloads, budget=60, seed=5, max_pulls_per_arm=9, **PRIOR)
        answer(campaign, 30)
        campaign.observe_many([("arm 1", 0.25, "ann", "key"), ("arm 2", 1.0)])
        campaign.ask(5)
        before = dump(campaign)
        with campaign.copy("copy") as copy:
            audit(copy)
            assert dump(campaign) == before
            status = copy.status()
            assert (status.spent, status.observed, status.in_flight, status.left) == (30, 2, 0, 30)
            assert copy.settings == campaign.settings
            assert list(copy.results()) == list(campaign.results())
            assert copy.decisions() == [
                type(item)(**{**fields_of(item), "in_flight": 0}) for item in campaign.decisions()
            ]
            assert [change.what for change in copy.history()] == ["copied from"]
            assert not copy.observe("arm 1", 0.25, "ann")
            assert not copy.observe_many([(item.arm, item.reward, None, item.key) for item in campaign.results()])
            answer(copy, 3)
            assert (copy.status().spent, campaign.status().spent) == (33, 30)
            copy.delete()

    def test_a_copy_without_results_is_as_new(self, create: Create) -> None:
        campaign = create(20, budget=60, seed=5)
        new = dump(campaign)[1]
        answer(campaign, 30)
        with campaign.copy("copy", results=False) as copy:
            assert dump(copy)[1] == new
            assert (copy.status().spent, copy.status().left) == (0, 60)

    def test_a_copy_whose_name_is_taken_leaves_nothing(self, create: Create) -> None:
        campaign = create(3, name="fruit")
        with pytest.raises(ConflictError, match="there is a campaign 'fruit' already"):
            campaign.copy("fruit")
        assert rows(campaign, "SELECT count(*) FROM cutline_campaigns") == [(1,)]
        assert rows(campaign, "SELECT count(*) FROM cutline_arms") == [(3,)]

    def test_whoever_uses_a_deleted_campaign_is_told_so(self, create: Create) -> None:
        campaign = create(3, name="fruit")
        with campaign.copy("copy") as copy:
            pull = one(copy)
            copy.change(budget=20)
            copy.delete()
            uses = (copy.ask, copy.status, copy.history, copy.decisions, lambda: copy.tell(pull, 1))
            for use in (*uses, lambda: copy.change(budget=30), lambda: copy.rename("x")):
                with pytest.raises(NotFoundError):
                    use()
        assert rows(campaign, "SELECT count(*) FROM cutline_changes") == [(0,)]


def fields_of(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in item.__dataclass_fields__}
