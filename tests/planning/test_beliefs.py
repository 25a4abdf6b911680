import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from cutline.errors import InvalidInputError, OutOfMemoryError
from cutline.planning import Beliefs


def test_a_prior_is_the_same_for_every_arm() -> None:
    beliefs = Beliefs.prior(2, 3, 4)
    assert beliefs.arms == 4
    assert beliefs.a.tolist() == [2.0] * 4
    assert beliefs.b.tolist() == [3.0] * 4


def test_a_pilot_round_adds_its_rewards_to_a_uniform_prior() -> None:
    beliefs = Beliefs.after([10, 0, 3], [7.5, 0, 3])
    assert beliefs.a.tolist() == [8.5, 1.0, 4.0]
    assert beliefs.b.tolist() == [3.5, 1.0, 1.0]


def test_a_draw_depends_on_its_seed_alone() -> None:
    beliefs = Beliefs.prior(2, 2, 5)
    assert beliefs.draw(0.4, 1, 2, 3) == beliefs.draw(0.4, 1, 2, 3)
    assert beliefs.draw(0.4, 1, 2, 3) != beliefs.draw(0.4, 1, 2, 4)
    assert beliefs.draw(0.4, 1, 2, 3).threshold == 0.4


def test_means_are_drawn_from_each_arms_own_distribution() -> None:
    beliefs = Beliefs([1.0, 30.0, 0.5], [4.0, 10.0, 0.5])
    means = np.array([beliefs.draw(0.5, 7, draw).means for draw in range(4000)])
    for arm in range(3):
        # Three Kolmogorov-Smirnov tests, and three controls with the next arm's distribution, at 1e-5 each.
        assert stats.kstest(means[:, arm], stats.beta(beliefs.a[arm], beliefs.b[arm]).cdf).pvalue > 1e-5
        other = (arm + 1) % 3
        assert stats.kstest(means[:, arm], stats.beta(beliefs.a[other], beliefs.b[other]).cdf).pvalue < 1e-5


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0, 0.0], [1.0, 1.0], "a of a Beta distribution .* that of arm 1 is 0.0"),
        ([1.0], [math.nan], "b of a Beta distribution .* that of arm 0 is nan"),
        ([1.0], [2e6], "from 1e-06 to 1e\\+06"),
        ([], [], "one an arm"),
        (["x"], [1], "list of numbers"),
        ([1.0, 2.0], [1.0], "2 numbers a and 1 numbers b"),
    ],
)
def test_bad_parameters_are_refused_with_the_arm(a: Any, b: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Beliefs(a, b)


@pytest.mark.parametrize(
    ("pulls", "totals", "message"),
    [
        ([5, 5], [2, 6], "arm 1: total 6 of 5 pulls"),
        ([5], [-1], "arm 0: total -1 of 5 pulls"),
        ([5, 5], [1], "give one of each an arm"),
        ([], [], "give one of each an arm"),
        (["a"], [1], "must be numbers"),
        ([1e7], [1e6], "pulls < 1e6"),
    ],
)
def test_impossible_pilot_results_are_refused_with_the_arm(pulls: Any, totals: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        Beliefs.after(pulls, totals)


@pytest.mark.parametrize(
    ("arms", "wanted"), [(0, "a whole number from 1"), (2.5, "a whole number"), ("ten", "a whole number")]
)
def test_a_prior_needs_a_whole_number_of_arms(arms: Any, wanted: str) -> None:
    with pytest.raises(InvalidInputError, match=f"arms is {arms!r}; it must be {wanted}"):
        Beliefs.prior(2, 2, arms)


def test_more_arms_than_fit_into_memory_are_refused_before_any_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutline.memory.available_memory", lambda: 4e9)
    assert Beliefs.prior(2, 3, 1000).arms == 1000
    with pytest.raises(OutOfMemoryError, match=r"^plans for 2,000,000,000 arms need about 400\.0 GB of memory"):
        Beliefs.prior(2, 3, 2_000_000_000)
