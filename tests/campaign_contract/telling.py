"""What came back: a pull counts once, with one reward."""

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import pytest

from campaign_contract.campaigns import CampaignTests, Create, for_each, one
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from ledger import dump


class Telling(CampaignTests):
    def test_telling_the_same_again_changes_nothing(self, create: Create) -> None:
        campaign = create()
        pull = one(campaign)
        assert campaign.tell(pull, 1) is True
        before = dump(campaign)
        assert campaign.tell(pull, True) is False
        assert campaign.tell(pull.id, cast(float, np.float32(1))) is False
        assert campaign.tell_many([(pull, 1), (pull.id, 1)]) == 0
        assert dump(campaign) == before

    def test_another_reward_for_a_pull_is_an_error_that_shows_both(self, create: Create) -> None:
        campaign = create()
        pull, other = campaign.ask(2)
        campaign.tell(pull, 0.25)
        before = dump(campaign)
        with pytest.raises(ConflictError, match=r"was told 0\.25 and now 1;"):
            campaign.tell(pull, 1)
        with pytest.raises(ConflictError, match=r"was told 0 and now 1;"):
            campaign.tell_many([(other, 0), (other, 1)])
        assert dump(campaign) == before

    def test_a_batch_of_rewards_counts_as_a_whole_or_not_at_all(self, create: Create) -> None:
        campaign = create(5)
        pulls = campaign.ask(5)
        campaign.tell(pulls[4], 1)
        before = dump(campaign)
        with pytest.raises(ConflictError):
            campaign.tell_many([(pull, 0) for pull in pulls])
        assert dump(campaign) == before
        assert campaign.tell_many([(pull, 1) for pull in pulls]) == 4
        assert campaign.status().spent == 5
        assert campaign.tell_many([]) == 0

    @for_each(
        ("reward", "mean"),
        [(0, 0), (1, 1), (True, 1), (False, 0), (0.5, 0.5), (Decimal("0.1"), 0.1), (Fraction(1, 4), 0.25)]
        + [(kind(1), 1) for kind in (np.bool_, np.int8, np.uint64, np.float16, np.float64)]
        + [(1 / 3, 0.333333333)],
    )
    def test_rewards_are_booleans_and_numbers_from_0_to_1_to_nine_decimals(
        self, create: Create, reward: Any, mean: float
    ) -> None:
        campaign = create(1)
        campaign.tell(one(campaign), reward)
        assert campaign.decisions()[0].mean == mean
        assert [result.reward for result in campaign.results()] == [mean]

    @for_each("reward", [2, -1, 1.0000001, math.nan, math.inf, "1", "", None, b"1", 1j, [1], {}])
    def test_anything_else_is_no_reward(self, create: Create, reward: Any) -> None:
        campaign = create(1)
        pull = one(campaign)
        refusals: list[Callable[[], object]] = [
            lambda: campaign.tell(pull, reward),
            lambda: campaign.tell_many([(pull, 1), (pull, reward)]),
            lambda: campaign.observe("arm 0", reward),
        ]
        for refused in refusals:
            with pytest.raises(InvalidInputError, match="is not a number in"):
                refused()
        assert campaign.status().spent == 0

    @for_each(
        "unknown",
        [
            "",
            "1",
            "-1-0",
            "x-1-0",
            "{own}-",
            "{own} ",
            "{token}-1",
            "{token}-9-0",
            "{token}-1-9",
            "{token}-1-²",
            "{token}-99999999999999999999-0",
            None,
            1,
        ],
    )
    def test_an_unknown_pull_is_not_found(self, create: Create, unknown: Any) -> None:
        campaign = create()
        own = one(campaign).id
        token = own.partition("-")[0]
        campaign.observe("arm 0", 1, key="elsewhere")  # number 2 is no pull
        unknown = unknown.format(token=token, own=own) if isinstance(unknown, str) else unknown
        for number in (unknown, f"{token}-2-0"):
            for refused in (
                campaign.abandon,
                lambda pull: campaign.tell(pull, 1),
                lambda pull: campaign.extend(pull, 9),
            ):
                with pytest.raises(NotFoundError, match="has no pull"):
                    refused(number)

    def test_a_pull_of_another_campaign_is_not_taken_for_ones_own(self, create: Create) -> None:
        mine, other = create(), create()
        pull = one(other)
        one(mine)
        with pytest.raises(NotFoundError):
            mine.tell(pull, 1)
        assert other.tell(pull, 1)

    def test_an_abandoned_pull_cannot_be_told_nor_a_told_one_abandoned(self, create: Create) -> None:
        campaign = create()
        pull, other = campaign.ask(2)
        campaign.abandon(pull)
        with pytest.raises(ConflictError, match="was abandoned"):
            campaign.tell(pull, 1)
        campaign.tell(other, 1)
        with pytest.raises(ConflictError, match="has its reward already"):
            campaign.abandon(other)

    def test_a_note_is_kept_with_the_reward_it_came_with(self, create: Create) -> None:
        campaign = create(4)
        first, second, third, fourth = campaign.ask(4)
        assert campaign.tell(first, 1, "l.txt\nline 2 \U0001f3c1")
        assert campaign.tell_many([(second, 0, "no"), (third, 0.5), (fourth, 1, "")]) == 3
        assert campaign.observe("arm 0", 1, "ann", "key", "seen")
        notes = ["l.txt\nline 2 \U0001f3c1", "no", None, None, "seen"]
        assert [item.note for item in campaign.results()] == notes
        assert campaign.tell(first, 1, "another note") is False
        assert campaign.tell_many([(second, 0, "first"), (second, 0, "second")]) == 0
        assert [item.note for item in campaign.results()] == notes

    @for_each("note", ["a\0b", "\ud800", 7, b"n", ["n"]])
    def test_a_note_is_text_that_every_database_keeps(self, create: Create, note: Any) -> None:
        campaign = create(1)
        pull = one(campaign)
        refusals: list[Callable[[], object]] = [
            lambda: campaign.tell(pull, 1, note),
            lambda: campaign.observe("arm 0", 1, note=note),
            lambda: campaign.correct(pull, 1, note),
        ]
        for refused in refusals:
            with pytest.raises(InvalidInputError, match=r"^note "):
                refused()
        assert campaign.status().in_flight == 1

    @for_each("answer", [(), ("a",), ("a", 1, None, None), None, 7])
    def test_an_answer_is_a_pull_and_a_reward_and_perhaps_a_note(self, create: Create, answer: Any) -> None:
        with pytest.raises(InvalidInputError, match=r"^answer .* must be \(pull, reward\), and may add a note$"):
            create(1).tell_many([answer])
