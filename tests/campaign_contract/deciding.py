"""What is decided, and how sure that is."""

import math
import random
from fractions import Fraction
from typing import Any

import pytest

from campaign_contract.campaigns import CampaignTests, Create, arms, for_each, one
from cutline.campaign.operations.reading import deciding
from cutline.errors import InvalidInputError


class Deciding(CampaignTests):
    def test_a_mean_on_the_threshold_is_above_whatever_binary_makes_of_it(self, create: Create) -> None:
        campaign = create(["3 of 10", "parts", "just below"], threshold=0.3, decide="mean")
        campaign.observe_many([("3 of 10", i < 3) for i in range(10)])
        campaign.observe_many([("parts", reward) for reward in (0.1, 0.2, 0.6)])
        campaign.observe_many([("just below", reward) for reward in (0.1, 0.2, 0.599999999)])
        assert [item.above for item in campaign.decisions()] == [True, True, False]

    def test_decisions_say_how_sure_they_are(self, create: Create) -> None:
        campaign = create(["a", "b", "c"], threshold=0.4, budget=50, prior=(1, 1))
        campaign.observe_many([("a", i < 6) for i in range(9)] + [("b", i < 1) for i in range(7)])
        a, b, c = campaign.decisions(confidence=0.9)
        assert [(item.arm, item.pulls, item.above) for item in (a, b, c)] == [
            ("a", 9, True),
            ("b", 7, False),
            ("c", 0, None),
        ]
        assert (a.mean, b.mean, c.mean) == (6 / 9, 1 / 7, None)
        # P(Beta(1 + s, 1 + n - s) <= x) is the probability of more than s successes in n + 1 trials
        assert a.wrong == pytest.approx(float(1 - naive_binomial(6, 10, Fraction(2, 5))), rel=1e-12)
        assert b.wrong == pytest.approx(float(naive_binomial(1, 8, Fraction(2, 5))), rel=1e-12)
        assert c.wrong == pytest.approx(0.4, rel=1e-12)
        assert a.hoeffding == pytest.approx(2 * math.exp(-2 * 9 * (6 / 9 - 0.4) ** 2), rel=1e-12)
        assert b.hoeffding == pytest.approx(2 * math.exp(-2 * 7 * (1 / 7 - 0.4) ** 2), rel=1e-12)
        assert c.hoeffding == 1
        # where B(1/2 + s, 1/2 + n - s) / (pi m^s (1 - m)^(n - s)) is 1 / (1 - confidence)
        beta = math.gamma(6.5) * math.gamma(3.5) / math.gamma(10)
        for end in (a.low, a.high):
            assert beta / (math.pi * end**6 * (1 - end) ** 3) == pytest.approx(10, rel=1e-9)
        assert a.mean is not None
        assert 0 < a.low < a.mean < a.high < 1
        assert (c.low, c.high) == (0, 1)

    def test_many_arms_are_decided_as_few_are(self, create: Create, monkeypatch: pytest.MonkeyPatch) -> None:
        campaign = create(23, threshold=0.4)
        campaign.observe_many((arm, i / 23) for i, arm in enumerate(arms(20)))
        campaign.change(retire=["arm 4", "arm 21"])
        at_once = list(campaign.decisions())
        assert [item.arm for item in at_once] == [arm for arm in arms(23) if arm not in ("arm 4", "arm 21")]
        for count in (1, 4, 20, 21):
            monkeypatch.setattr(deciding, "_ARMS_AT_ONCE", count)
            assert campaign.decisions() == at_once
            assert [item.arm for item in campaign.decisions(retired=True)] == ["arm 4", "arm 21"]
            assert len(campaign.decisions(5, threshold=0.3)) == 5

    def test_the_interval_narrows_with_many_results(self, create: Create) -> None:
        campaign = create(["a"], budget=5000)
        campaign.observe_many([("a", i % 2) for i in range(5000)])
        (a,) = campaign.decisions()
        # n = 2 s: ln B(s + 1/2, s + 1/2) is ln(pi) - n ln 2 - ln(pi n / 2) / 2 within 1 / n,
        # and n kl(1/2, m) is 2 n (m - 1/2)^2 to the fourth power
        width = math.sqrt((math.log(20) + 0.5 * math.log(math.pi * 5000 / 2)) / (2 * 5000))
        assert (a.low, a.high) == pytest.approx((0.5 - width, 0.5 + width), abs=3e-5)

    def test_scores_that_vary_little_are_clear_sooner_than_coins_of_the_same_mean(self, create: Create) -> None:
        scores, coins = create(5, threshold=0.5), create(5, threshold=0.5)
        for i in range(5):
            scores.observe_many((f"arm {i}", 0.6 + 0.02 * (step % 3 - 1)) for step in range(20))
            coins.observe_many((f"arm {i}", step < 12) for step in range(20))
        of_scores, of_coins = scores.decisions()[0], coins.decisions()[0]
        assert of_scores.mean is not None
        assert of_scores.mean == pytest.approx(0.6, abs=0.01)
        assert of_coins.mean == 0.6
        assert of_scores.wrong < 1e-6 < 0.05 < of_coins.wrong
        assert of_scores.high - of_scores.low < 0.5 * (of_coins.high - of_coins.low)

    def test_the_prior_is_what_the_campaign_was_created_with(self, create: Create) -> None:
        campaign = create(["a"], threshold=0.5, prior=(3, 1))
        assert campaign.decisions()[0].wrong == pytest.approx(0.5**3, rel=1e-12)
        campaign.observe("a", 0)
        # Beta(3, 2) holds 11/16 above 0.5
        assert campaign.decisions()[0].above is True
        assert campaign.decisions()[0].wrong == pytest.approx(5 / 16, rel=1e-12)

    def test_the_mean_decides_where_the_campaign_says_so_however_likely_that_is_wrong(self, create: Create) -> None:
        campaign = create(["a"], threshold=0.5, prior=(3, 1), decide="mean")
        campaign.observe("a", 0)
        assert campaign.decisions()[0].above is False
        assert campaign.decisions()[0].wrong == pytest.approx(11 / 16, rel=1e-12)

    def test_expected_errors_is_always_the_sum_over_the_arms(self, create: Create) -> None:
        campaign = create(9, threshold=0.37, prior=(0.5, 2))
        answers = random.Random(4)
        for step in range(60):
            pull = one(campaign)
            campaign.tell(pull, round(answers.random(), 2) if step % 3 else answers.random() < 0.4)
            expected = math.fsum(item.wrong for item in campaign.decisions())
            assert campaign.status().expected_errors == pytest.approx(expected, abs=9e-12)

    def test_the_nearest_are_those_most_likely_to_be_wrong(self, create: Create) -> None:
        campaign = create(8)
        answers = random.Random(6)
        campaign.observe_many([(f"arm {i}", answers.random() < 0.5) for i in range(8) for _ in range(3 + i)])
        every = sorted(campaign.decisions(), key=lambda item: -item.wrong)
        assert [item.wrong for item in campaign.decisions(nearest=3)] == [item.wrong for item in every[:3]]
        assert len(campaign.decisions(nearest=99)) == 8

    @for_each("options", [{"nearest": 0}, {"nearest": 1.5}, {"confidence": 1}, {"confidence": 0}])
    def test_decisions_refuse_a_bad_argument(self, create: Create, options: dict[str, Any]) -> None:
        with pytest.raises(InvalidInputError, match=next(iter(options))):
            create().decisions(**options)


def naive_binomial(most: int, trials: int, p: Fraction) -> Fraction:
    """The probability of at most so many successes."""
    return sum((math.comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(most + 1)), Fraction(0))
