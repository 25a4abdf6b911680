"""Ids, payloads and settings."""

import itertools
import math
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from campaign_contract.campaigns import STRANGE_IDS, CampaignTests, Create, arms, asked, for_each
from cutline.campaign import Reason
from cutline.errors import InvalidInputError, NotFoundError
from cutline.policies import Policy


@dataclass(frozen=True)
class Fewest(Policy):
    """A policy of somebody's own, whose text says nothing to Cutline."""

    name: ClassVar[str] = "Fewest"
    formula: ClassVar[str] = "T_i"
    source: ClassVar[str] = "-"

    @staticmethod
    def index(pulls: float, total: float, threshold: float) -> float:
        return pulls


class Creating(CampaignTests):
    def test_ids_stay_as_they_stand(self, create: Create) -> None:
        campaign = create(STRANGE_IDS, budget=100)
        assert [item.arm for item in campaign.decisions()] == STRANGE_IDS
        pulls = campaign.ask(len(STRANGE_IDS), worker="é" * 3000)
        assert sorted(pull.arm for pull in pulls) == sorted(STRANGE_IDS)
        for pull in pulls:
            campaign.tell(pull.id, 1)
        assert campaign.ask(worker="é" * 3000).reason is Reason.NOTHING_FOR_WORKER
        assert len(campaign.ask(worker="e\u0301" * 3000)) == 1
        for arm, key in itertools.product(STRANGE_IDS, STRANGE_IDS):
            assert campaign.observe(arm, 1, worker=key, key=f"{arm}|{key}")
        assert {(item.arm, item.worker, item.key) for item in campaign.results() if item.observed} == {
            (arm, key, f"{arm}|{key}") for arm, key in itertools.product(STRANGE_IDS, STRANGE_IDS)
        }

    def test_an_arm_may_carry_anything_that_json_can_write(self, create: Create) -> None:
        payload = {"prompt": "Is it?\n", "n": [1, 2.5, None, True], "é": {"nested": "🏁"}}
        campaign = create({"a": payload, "b": None, "c": 0, "d": ""})
        assert {pull.arm: pull.payload for pull in campaign.ask(4)} == {"a": payload, "b": None, "c": 0, "d": ""}
        assert [item.payload for item in campaign.decisions()] == [payload, None, 0, ""]
        assert [item.payload for item in create([("a", payload)]).decisions()] == [payload]

    @for_each(
        ("given", "message"),
        [
            ([], "no arms"),
            (["a", "b", "a"], "arm 3: the id 'a' comes twice"),
            (["a", ""], "arm 2: ''"),
            (["a\0b"], "NUL"),
            (["\ud800"], "half a character"),
            ([7], "arm 1 is 7"),
            ([b"a"], "arm 1 is b'a'"),
            ([(7, None)], "arm 1: 7"),
            ("abc", "one text"),
            ({"a": {1, 2}}, "arm 'a': its payload"),
            ({"a": math.nan}, "arm 'a': its payload"),
            ({"a": "\ud800"}, "arm 'a': its payload"),
        ],
    )
    def test_bad_arms_are_refused_and_nothing_is_created(self, create: Create, given: Any, message: str) -> None:
        with pytest.raises(InvalidInputError, match=message):
            create(given, name=repr(given))
        create(2, name=repr(given))

    @for_each(
        ("options", "message"),
        [
            ({"threshold": 1.0}, "threshold"),
            ({"policy": "UCBE"}, r"^UCBE\(0\) needs the true means"),
            ({"policy": "Gap-Oracle"}, "^Gap-Oracle needs the true means"),
            ({"policy": "Nonsense"}, "no policy is called"),
            ({"policy": 7}, "policy is 7"),
            ({"budget": 0}, "budget is 0"),
            ({"budget": 2.0}, "budget is 2.0"),
            ({"budget": True}, "budget is True"),
            ({"budget": 2**53 + 1}, "budget is"),
            ({"seed": -1}, "seed is -1"),
            ({"max_pulls_per_arm": 0}, "max_pulls_per_arm is 0"),
            ({"prior": (0, 1)}, "prior a is 0"),
            ({"prior": (1, math.inf)}, "prior b is inf"),
            ({"prior": 1}, "prior is 1"),
            ({"decide": "median"}, "decide is 'median'; it must be likelier or mean"),
            ({"target_errors": -0.1}, "target_errors is -0.1"),
            ({"target_errors": math.nan}, "target_errors is nan"),
            ({"name": ""}, "campaign name ''"),
            ({"name": "x" * 201}, "campaign name"),
            ({"name": "two\nlines"}, "campaign name"),
        ],
    )
    def test_bad_settings_are_refused(self, create: Create, options: dict[str, Any], message: str) -> None:
        with pytest.raises((InvalidInputError, NotFoundError), match=message):
            create(2, **options)

    def test_a_policy_that_could_not_be_read_again_is_refused_but_in_memory(
        self, create: Create, url: str | None
    ) -> None:
        if url is None:
            assert sorted(asked(create(3, policy=Fewest()), 3)) == arms(3)
            return
        with pytest.raises(InvalidInputError, match=r"^policy Fewest is not one that cutline policies lists"):
            create(3, policy=Fewest(), name="same")
        create(3, name="same")


class ManyArms(CampaignTests):
    """Once for each kind of statement: in SQLite's and in PostgreSQL's."""

    @pytest.mark.slow
    def test_more_arms_at_once_than_a_statement_has_parameters(self, create: Create) -> None:
        """SQLite takes 32,766 of them, PostgreSQL 65,535, in two columns or more."""
        campaign = create((f"arm {i}" for i in range(33_000)), budget=100_000)
        assert campaign.status().arms == 33_000
        assert len(set(asked(campaign, 2_500))) == 2_500
        assert campaign.observe_many((f"arm {i}", i % 2, None, f"row {i}") for i in range(33_000)) == 33_000
        assert sum(item.above is True for item in campaign.decisions()) == 16_500
