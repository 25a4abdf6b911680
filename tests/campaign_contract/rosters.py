"""Arms join a campaign, are retired and brought back."""

from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Clock, Create, arms, asked, for_each
from campaign_contract.changing import PRIOR, answer, arm_rows
from cutline.campaign import Reason
from cutline.campaign.operations.changing import roster
from cutline.campaign.operations.upkeep import learning
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import audit, dump, rows

LEARN_AT = "SELECT learn_at FROM cutline_campaigns WHERE id = :campaign"


class Rosters(CampaignTests):
    def test_arms_that_join_are_those_of_a_campaign_that_was_created_with_them(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(roster, "_SOME", 4)
        grown, made = create(7, seed=5), create(20, seed=5)
        grown.change(add=arms(12))
        grown.change(add=arms(20))
        assert dump(grown)[1] == dump(made)[1]
        assert rows(grown, LEARN_AT) == rows(made, LEARN_AT) == [(20,)]
        assert (grown.status().arms, grown.status().expected_errors) == (20, made.status().expected_errors)
        assert asked(grown, 20) == asked(made, 20)

    def test_arms_that_join_later_follow_what_was_learnt(self, create: Create) -> None:
        campaign = create(20, threshold=0.9)
        campaign.observe_many((arm, 1.0) for arm in arms(20) * 3)
        campaign.change(add=["new"])
        learnt = campaign.decisions()[-1]
        assert (learnt.arm, learnt.pulls, learnt.wrong < 0.2) == ("new", 0, True)
        assert asked(campaign) == ["new"]

    def test_what_is_there_is_no_news_and_a_payload_replaces_the_one_there_is(
        self, create: Create, clock: Clock
    ) -> None:
        campaign = create({"a": 1, "b": None})
        changed = campaign.change(add={"a": 1, "b": {"n": 2}, "c": "new", "d": None})
        assert [(item.what, item.after) for item in changed] == [
            ("arms added", {"count": 2, "first": ["c", "d"]}),
            ("payloads replaced", {"count": 1, "first": ["b"]}),
        ]
        assert campaign.change(add=["a", "b"]) == campaign.change(add={"c": "new", "b": None}) == []
        assert {pull.arm: pull.payload for pull in campaign.ask(4)} == {"a": 1, "b": {"n": 2}, "c": "new", "d": None}
        assert campaign.history() == changed

    def test_a_change_of_many_arms_is_one_entry_of_the_history(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(roster, "_SOME", 4)
        campaign = create(20)
        (entry,) = campaign.change(retire=arms(20)[3:])
        assert (entry.what, entry.after) == ("arms retired", {"count": 17, "first": arms(13)[3:]})
        assert campaign.status().retired == 17

    def test_a_retired_arm_is_not_asked_for_and_not_decided_and_its_results_stay(self, create: Create) -> None:
        campaign, without = create(6, **PRIOR), create(["arm 0", "arm 2", "arm 4", "arm 5"], **PRIOR)
        campaign.observe_many((arm, float(i % 3 > 0)) for i, arm in enumerate(arms(6) * 2))
        without.observe_many((item.arm, item.reward) for item in campaign.results() if item.arm[-1] not in "13")
        flying = {pull.arm: pull for pull in campaign.ask(6, distinct=True)}
        campaign.change(retire=["arm 3", "arm 1"])
        campaign.tell(flying["arm 3"], 1)
        campaign.abandon(flying["arm 1"])
        for arm in ("arm 0", "arm 2", "arm 4", "arm 5"):
            campaign.abandon(flying[arm])
        assert campaign.decisions() == without.decisions()
        assert campaign.records() == without.records()
        status = campaign.status()
        assert (status.arms, status.retired, status.expected_errors) == (4, 2, without.status().expected_errors)
        assert (status.spent, len(list(campaign.results()))) == (1, 13)
        assert set(asked(campaign, 50)) == {"arm 0", "arm 2", "arm 4", "arm 5"}
        assert [(item.arm, item.pulls, item.retired) for item in campaign.decisions(retired=True)] == [
            ("arm 1", 2, True),
            ("arm 3", 3, True),
        ]

    def test_an_arm_that_is_brought_back_is_as_if_it_had_never_been_away(self, create: Create) -> None:
        campaign, other = create(6, **PRIOR), create(6, **PRIOR)
        for each in (campaign, other):
            answer(each, 30)
        campaign.change(retire=["arm 3", "arm 1"])
        campaign.change(threshold=0.7)
        campaign.observe("arm 3", 1)
        campaign.change(bring_back=["arm 1", "arm 3", "arm 5"])
        other.observe("arm 3", 1)
        other.change(threshold=0.7)
        assert arm_rows(campaign) == arm_rows(other)
        assert campaign.history()[-1].after == {"count": 2, "first": ["arm 1", "arm 3"]}

    def test_retired_arms_teach_nothing_and_a_campaign_without_any_other_is_exhausted(self, create: Create) -> None:
        campaign = create(20)
        campaign.change(retire=arms(20)[1:])
        campaign.observe_many((arm, 1.0) for arm in arms(20)[1:] * 3)
        assert rows(campaign, "SELECT knowledge FROM cutline_learnt WHERE campaign_id = :campaign") == [
            ('{"knowledge": null, "policy": null, "policy_from": 0}',)
        ]
        campaign.change(retire=["arm 0"])
        assert campaign.ask().reason is Reason.ARMS_EXHAUSTED
        assert campaign.status().finished is Reason.ARMS_EXHAUSTED
        assert campaign.decisions() == []
        campaign.change(bring_back=["arm 7"])
        assert asked(campaign) == ["arm 7"]

    def test_results_of_unknown_arms_are_refused_or_bring_them_along(self, create: Create) -> None:
        campaign = create(2)
        with pytest.raises(NotFoundError, match="has no arm 'new'"):
            campaign.observe("new", 1)
        assert campaign.observe("new", 1, add_arms=True)
        assert campaign.observe_many([("arm 0", 1), ("newer", 0.5), ("newer", 1)], add_arms=True) == 3
        assert [(item.arm, item.pulls) for item in campaign.decisions()] == [
            ("arm 0", 1),
            ("arm 1", 0),
            ("new", 1),
            ("newer", 2),
        ]

    def test_what_would_be_decided_with_another_threshold_is_what_is_decided_once_it_is_changed(
        self, create: Create
    ) -> None:
        campaign = create(20)
        campaign.observe_many((arm, float(i % 4 > 0)) for i, arm in enumerate(arms(20) * 3))
        before = dump(campaign)
        what_if = campaign.decisions(threshold=0.8)
        nearest = campaign.decisions(3, threshold=0.8)
        assert dump(campaign) == before
        campaign.change(threshold=0.8)
        assert what_if == campaign.decisions()
        assert [item.wrong for item in nearest] == [item.wrong for item in campaign.decisions(3)]
        with pytest.raises(InvalidInputError, match="threshold"):
            campaign.decisions(threshold=1.5)

    @for_each(
        ("changes", "error", "message"),
        [
            ({"add": "abc"}, InvalidInputError, "arms is one text"),
            ({"add": ["x", ""]}, InvalidInputError, "arm 2: ''"),
            ({"retire": "abc"}, InvalidInputError, "retire is one text; give a list of ids"),
            ({"retire": ["arm 0", 7]}, InvalidInputError, "retire: 7 is not an id"),
            ({"retire": ["arm 0", "x"]}, NotFoundError, "has no arm 'x'"),
            ({"bring_back": ["ARM 0"]}, NotFoundError, "has no arm 'ARM 0'; it has 'arm 0': are the ids written alike"),
            ({"retire": ["arm 0"], "bring_back": ["arm 0"]}, InvalidInputError, "to be retired and to be brought back"),
            ({"retire": ["arm 0"], "threshold": 2}, InvalidInputError, "threshold"),
            ({"add": ["x"], "budget": 1}, ConflictError, "so the budget cannot be 1"),
        ],
    )
    def test_a_bad_change_of_arms_is_refused_and_nothing_is_changed(
        self, create: Create, changes: dict[str, Any], error: type[Exception], message: str
    ) -> None:
        campaign = create(3)
        answer(campaign, 2)
        before = dump(campaign)
        with pytest.raises(error, match=message):
            campaign.change(**changes)
        assert dump(campaign) == before

    def test_arms_join_and_go_while_a_change_is_under_way(
        self, create: Create, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(learning, "_BATCH", 7)
        campaign = create(20, **PRIOR)
        answer(campaign, 30)
        with monkeypatch.context() as patch:
            patch.setattr(learning, "keep_up", lambda *_, **__: False)
            campaign.change(threshold=0.8)
            campaign.change(retire=["arm 2", "arm 19"], add=["new"])
            audit(campaign)
        campaign.change(bring_back=["arm 19"])
        expected = create([*arms(20), "new"], threshold=0.8, **PRIOR)
        expected.observe_many((item.arm, item.reward) for item in campaign.results())
        expected.change(retire=["arm 2"])
        assert arm_rows(campaign) == arm_rows(expected)

    def test_a_copy_has_the_retired_arms_as_such(self, create: Create) -> None:
        campaign = create(6, **PRIOR)
        answer(campaign, 10)
        campaign.change(retire=["arm 3", "arm 1"])
        with campaign.copy("copy") as copy:
            audit(copy)
            assert (copy.status().arms, copy.status().retired) == (4, 2)
            assert arm_rows(copy) == arm_rows(campaign)
