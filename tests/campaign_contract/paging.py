"""Decisions page by page, against all decisions sorted and filtered by hand."""

import random
import string
from collections.abc import Callable
from typing import Any

import pytest

from campaign_contract.campaigns import STRANGE_IDS, CampaignTests, Create, arms, for_each
from cutline.campaign import Campaign, Decision
from cutline.errors import InvalidInputError, NotFoundError

SORTED: dict[str, Callable[[Decision], Any]] = {
    "given": lambda item: 0,
    "wrong": lambda item: round(item.wrong, 12),
    "id": lambda item: item.arm,
    "mean": lambda item: -1 if item.mean is None else item.mean,
    "pulls": lambda item: item.pulls,
}
LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)
IDS = [*STRANGE_IDS, *arms(12), "Arm 1", "a_m 1", "a%1", "zzz"]


def lowered(text: str) -> str:
    """Return a text with A to Z in lower case, and all else as it is."""
    return text.translate(LOWER)


class Paging(CampaignTests):
    @pytest.fixture
    def campaign(self, create: Create) -> Campaign:
        campaign = create({arm: {"n": len(arm)} for arm in IDS}, prior=(1, 1))
        answers = random.Random(4)
        some = answers.sample(IDS, 26)
        campaign.observe_many([(answers.choice(some), answers.choice((0, 0.5, 1))) for _ in range(80)])
        campaign.ask(5)
        return campaign

    @for_each("order", SORTED)
    def test_a_page_is_a_part_of_all_decisions_sorted(self, campaign: Campaign, order: str) -> None:
        every = sorted(campaign.decisions(), key=SORTED[order])  # which keeps arms with equal keys as they were given
        assert campaign.decisions(order=order) == every
        assert campaign.decisions(order=f"-{order}") == every[::-1]
        assert campaign.decisions(order=order, limit=7) == every[:7]
        for end in (0, 6, 20, len(every) - 1):
            assert campaign.decisions(order=order, limit=7, after=every[end].arm) == every[end + 1 : end + 8]
            assert campaign.decisions(order=f"-{order}", limit=7, after=every[end].arm) == every[:end][::-1][:7]

    def test_retired_arms_are_on_no_page(self, campaign: Campaign) -> None:
        gone = [item.arm for item in campaign.decisions()[::3]]
        campaign.change(retire=gone)
        every = campaign.decisions()
        assert campaign.decisions(order="-wrong", limit=100) == sorted(every, key=SORTED["wrong"])[::-1]
        for only, above in (("above", True), ("below", False), ("undecided", None)):
            assert campaign.decisions(only=only) == [item for item in every if item.above is above]

    @for_each("only", ["above", "below", "undecided"])
    def test_a_page_can_have_the_arms_of_one_decision(self, campaign: Campaign, only: str) -> None:
        wanted = {"above": True, "below": False, "undecided": None}[only]
        every = [item for item in campaign.decisions() if item.above is wanted]
        assert len(every) > 2
        assert campaign.decisions(only=only) == every
        by_doubt = sorted(every, key=SORTED["wrong"])[::-1]
        assert campaign.decisions(order="-wrong", only=only, limit=4) == by_doubt[:4]
        assert campaign.decisions(order="-wrong", only=only, after=by_doubt[1].arm) == by_doubt[2:]

    @for_each("text", ["arm 1", "ARM", "a%", "_", "é", "É", "\\", "'", "\n", "🏁", "nowhere", "X" * 4999, "%" * 10_000])
    def test_ids_are_searched_for_a_text_with_a_to_z_in_either_case(self, campaign: Campaign, text: str) -> None:
        found = [item for item in campaign.decisions() if lowered(text) in lowered(item.arm)]
        assert campaign.decisions(search=text) == found
        above = sorted((item for item in found if item.above), key=SORTED["pulls"])
        assert campaign.decisions(search=text, only="above", order="pulls") == above

    def test_pages_in_turn_are_all_arms_with_their_confidence(self, campaign: Campaign) -> None:
        every = sorted(campaign.decisions(confidence=0.5), key=SORTED["mean"])
        got = campaign.decisions(order="mean", limit=5, confidence=0.5)
        while page := campaign.decisions(order="mean", limit=5, after=got[-1].arm, confidence=0.5):
            got += page
        assert got == every

    @for_each(
        ("wanted", "message"),
        [
            ({"order": "nonsense"}, "order is 'nonsense'; it must be one of given, wrong, id, mean, pulls, or"),
            ({"order": "--id"}, "order is '--id'"),
            ({"limit": 0}, "limit is 0"),
            ({"only": "maybe"}, "only is 'maybe'; it must be one of below, above, undecided"),
            ({"search": ""}, "search ''"),
            ({"search": "x" * 10_001}, "search is 10,001 letters long; it may have 10,000 at most"),
            ({"limit": 3, "confidence": 1}, "confidence is 1"),
            ({"nearest": 3, "order": "id"}, "nearest has an order and a limit of its own"),
            ({"retired": True, "limit": 3}, "threshold and retired are not for pages"),
        ],
    )
    def test_a_page_that_there_cannot_be_is_refused(
        self, campaign: Campaign, wanted: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(InvalidInputError, match=message):
            campaign.decisions(**wanted)
        with pytest.raises(NotFoundError, match="has no arm 'nobody'"):
            campaign.decisions(limit=1, after="nobody")
