import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

from cutline.errors import InvalidInputError
from cutline.policies import Policy, available, parse
from cutline.policies.oracle import GapOracle, RatioOracle
from cutline.problem import Problem
from cutline.simulation.simulate import simulate

SETUP_1 = ([0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8], 1_000)
SETUP_2 = ([(405 + 10 * i) / 1000 for i in range(20)], 40_000)
SETUP_3 = ([0.45] * 5 + [0.505] * 5, 100_000)


def parameters(policy: Policy, mean: float, threshold: float) -> list[float]:
    """The parameters of the only arm of a problem."""
    return [float(np.ravel(column)[0]) for column in policy.parameters(Problem([mean], threshold))]


def index(policy: Policy, mean: float, threshold: float, pulls: float, total: float) -> float:
    return policy.index(pulls, total, threshold, *parameters(policy, mean, threshold))


def pulls_of(policy: Policy, means: Sequence[float], budget: int, threshold: float = 0.5) -> NDArray[np.float64]:
    curves = simulate(Problem(means, threshold), policy, budget, runs=1, progress=False)
    pulls: NDArray[np.float64] = curves.pulls[0, 0]
    return pulls


def test_yardsticks_are_marked_and_come_last_in_the_list_of_policies() -> None:
    assert [item.name for item in available() if item.yardstick] == ["Gap-Oracle", "Ratio-Oracle"]
    assert [item.name for item in available()[-2:]] == ["Gap-Oracle", "Ratio-Oracle"]
    assert GapOracle.needs_truth
    assert RatioOracle.needs_truth


def test_yardsticks_are_read_back_from_what_they_print() -> None:
    assert parse("gap-oracle") == GapOracle()
    assert str(GapOracle()) == "Gap-Oracle"
    assert parse("Ratio-Oracle") == RatioOracle(2)
    assert str(RatioOracle(1)) == "Ratio-Oracle(1)"
    assert parse(str(RatioOracle(0.5))) == RatioOracle(0.5)


def test_a_yardstick_without_the_true_means_says_what_it_needs() -> None:
    for policy in (GapOracle(), RatioOracle()):
        with pytest.raises(InvalidInputError, match=f"{policy.name} needs the true gap of every arm"):
            policy.parameters()


@pytest.mark.parametrize("handicap", [-1, math.inf, math.nan, "much"])
def test_a_handicap_that_is_no_number_from_0_on_is_refused(handicap: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"handicap is .*; it must be a number from 0 to 1e6"):
        RatioOracle(handicap)


def test_gap_oracle_index_is_the_formula_of_the_paper() -> None:
    for mean, pulls, wanted in (
        (0.75, 16, 16 / 16 + math.log(4)),
        (0.25, 1, 1 / 16 + math.log(4)),
        (0.0, 4, 1 + math.log(2)),
    ):
        assert index(GapOracle(), mean, 0.5, pulls, 0.0) == pytest.approx(wanted, rel=1e-11)


def test_gap_oracle_pulls_are_those_of_a_greedy_search_in_plain_numpy() -> None:
    means, budget = [0.2, 0.45, 0.52, 0.8, 0.501], 3000
    gaps = np.abs(np.array(means) - 0.5)
    pulls = np.ones(5)
    for _ in range(budget - 5):
        pulls[np.argmin(pulls * gaps**2 - np.log(gaps))] += 1
    assert pulls_of(GapOracle(), means, budget).tolist() == pulls.tolist()


def test_ratio_oracle_index_at_one_half_is_the_closed_form() -> None:
    for gap in (1e-6, 0.005, 0.05, 0.3, 0.499):
        for pulls, total in ((1, 0), (1, 1), (10, 5), (37, 30), (1000, 499)):
            evidence = abs(total - pulls / 2) * math.log((0.5 + gap) / (0.5 - gap))
            for handicap in (1, 2):
                wanted = evidence - handicap * math.log(gap)
                assert index(RatioOracle(handicap), 0.5 + gap, 0.5, pulls, total) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(("threshold", "mean"), [(0.3, 0.45), (0.3, 0.21), (0.8, 0.9), (0.62, 0.61), (0.1, 0.15)])
def test_ratio_oracle_index_is_half_the_log_odds_of_the_decision_at_any_threshold(
    threshold: float, mean: float
) -> None:
    gap = abs(mean - threshold)
    for pulls in (1, 7, 20, 200):
        for total in range(pulls + 1):
            likelihoods = stats.binom.logpmf(total, pulls, [threshold + gap, threshold - gap])
            odds = likelihoods[0] - likelihoods[1]
            wanted = (odds if total / pulls >= threshold else -odds) / 2 - 2 * math.log(gap)
            assert index(RatioOracle(), mean, threshold, pulls, total) == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_records_with_equal_evidence_tie_exactly_at_one_half() -> None:
    values = {index(RatioOracle(), mean, 0.5, 2 * n, n + 3) for mean in (0.4, 0.6) for n in range(3, 50_000, 997)}
    assert len(values) == 1


def test_an_arm_on_the_threshold_gets_no_pull_after_its_first() -> None:
    for policy in (GapOracle(), RatioOracle(), RatioOracle(0)):
        assert pulls_of(policy, [0.5, 0.4, 0.5, 0.6], 500)[[0, 2]].tolist() == [1, 1]
        assert pulls_of(policy, [0.5, 0.5], 50).tolist() == [49, 1]  # nothing better to do: the lowest arm


def test_a_reward_that_only_one_of_the_two_means_can_give_is_proof() -> None:
    assert index(RatioOracle(), 1.0, 0.5, 1, 1) > 1e5
    assert index(RatioOracle(), 0.0, 0.5, 1, 0) > 1e5
    assert index(RatioOracle(), 0.9, 0.3, 2, 1) > 1e5  # theta - Delta is -0.3: a mean of 0 gives no reward of 1
    assert index(RatioOracle(), 0.9, 0.3, 10, 1) < -1e5  # the decision says below, and is surely wrong
    assert index(RatioOracle(), 0.1, 0.7, 2, 1) > 1e5  # theta + Delta is 1.3
    assert pulls_of(RatioOracle(), [0.0, 1.0, 0.45], 300).tolist() == [1, 1, 298]


def test_evidence_against_a_mean_that_was_replaced_by_0_or_1_is_that_of_the_replacement() -> None:
    # theta 0.3, mean 0.9: p = 0.9, q = 0; five rewards of 0 speak for q with odds (1 / 0.1)^5.
    assert index(RatioOracle(0), 0.9, 0.3, 5, 0) == pytest.approx(2.5 * math.log(10), rel=1e-9)
    assert index(RatioOracle(0), 0.1, 0.7, 5, 5) == pytest.approx(2.5 * math.log(10), rel=1e-9)


@given(st.data())
def test_ceilings_are_no_less_than_any_index_inside_a_block(data: st.DataObject) -> None:
    threshold = data.draw(st.sampled_from([0.5, 0.3, 0.123456789, 0.9]))
    mean = data.draw(st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, threshold, 0.45, 0.505])))
    policy = data.draw(st.sampled_from([GapOracle(), RatioOracle(), RatioOracle(0)]))
    pulls = data.draw(st.integers(1, 10_000))
    length = data.draw(st.integers(0, 64))
    totals = [data.draw(st.integers(0, pulls + taken)) for taken in (0, length // 2, length)]
    ends = list(zip((pulls, pulls + length // 2, pulls + length), totals, strict=True))
    excesses = [total - threshold * n for n, total in ends]
    values = parameters(policy, mean, threshold)
    assert policy.ceiling is not None
    top = policy.ceiling(float(pulls), float(length), min(excesses), max(excesses), threshold, *values)
    assert max(policy.index(float(n), float(total), threshold, *values) for n, total in ends) <= top


def z_scores(policy: Policy, setup: tuple[Sequence[float], int], seed: int, regret: float) -> float:
    (means, budget), runs = setup, 2000
    curves = simulate(Problem(means), policy, budget, runs=runs, seed=seed, progress=False)
    # The stated regret comes from 5,000 runs, whose standard error is sqrt(2000 / 5000) times ours.
    return float((curves.mean[0, 0] - regret) / (curves.standard_error[0, 0] * math.sqrt(1 + runs / 5000)))


@pytest.mark.slow
def test_ratio_oracle_has_the_regret_measured_with_an_independent_implementation() -> None:
    # Three normal deviates beyond 4.1 have probability 1.2e-4 together; LSA in its place is the control.
    for setup, regret in ((SETUP_1, 0.0200), (SETUP_2, 0.234), (SETUP_3, 0.164)):
        assert abs(z_scores(RatioOracle(), setup, 11, regret)) < 4.1
    assert abs(z_scores(replace(RatioOracle(), handicap=4), SETUP_2, 11, 0.234)) > 4.1
    assert abs(z_scores(parse("LSA"), SETUP_3, 11, 0.164)) > 4.1
