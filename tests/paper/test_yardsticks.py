import math
from collections.abc import Iterable

import numpy as np
import pytest

from cutline.paper.setups import OURS, SETUPS, yardsticks
from cutline.paper.summary import summary
from cutline.paper.yardsticks import RATIO_ORACLES, budget_ratios, yardstick_lines
from cutline.policies.oracle import GapOracle, RatioOracle
from cutline.simulation.curves import RegretCurves
from cutline.simulation.simulate import simulate
from cutline.theory.static_optimum import static_optimum

ORACLE = str(RatioOracle())
BUDGETS = np.arange(1, 11) * 100


def curves(ours: Iterable[float], theirs: Iterable[float], runs: int = 100_000) -> RegretCurves:
    """Curves of LSA and the ratio oracle in which so large a share of the runs has one error."""
    errors = np.zeros((2, BUDGETS.size, runs), np.int32)
    for row, rates in enumerate((ours, theirs)):
        for place, rate in enumerate(rates):
            errors[row, place, : round(rate * runs)] = 1
    return RegretCurves(
        problem=SETUPS[1].problem,
        policies=(str(OURS), ORACLE),
        budgets=BUDGETS,
        errors=errors,
        pulls=np.ones((2, BUDGETS.size, 10)),
        seed=0,
        streams="independent",
        versions={},
    )


def test_exponential_curves_have_the_ratio_of_their_rates_wherever_it_can_be_read() -> None:
    found = budget_ratios(curves(np.exp(-BUDGETS / 300), np.exp(-BUDGETS / 250)), ORACLE)
    # LSA's regret at T is the oracle's at T 250 / 300, which is before its first budget for T = 100.
    assert [item.budget for item in found] == BUDGETS[1:].tolist()
    assert [item.ratio for item in found] == pytest.approx([300 / 250] * 9, abs=2e-3)


def test_a_yardstick_that_is_worse_has_a_ratio_below_1() -> None:
    found = budget_ratios(curves(np.exp(-BUDGETS / 250), np.exp(-BUDGETS / 300)), ORACLE)
    assert [item.budget for item in found] == [100, 200, 300, 400, 500, 600, 700, 800]
    assert [item.ratio for item in found] == pytest.approx([250 / 300] * 8, abs=2e-3)


def test_regrets_of_0_have_no_ratio() -> None:
    ours = [0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.0, 0.0, 0.0, 0.0]
    theirs = [0.6, 0.4, 0.25, 0.15, 0.08, 0.04, 0.0, 0.0, 0.0, 0.0]
    assert [item.budget for item in budget_ratios(curves(ours, theirs), ORACLE)] == [100, 200, 300, 400, 500]


def test_the_last_of_several_crossings_counts() -> None:
    theirs = [0.9, 0.3, 0.6, 0.2, 0.15, 0.12, 0.1, 0.08, 0.06, 0.05]
    found = {item.budget: item.ratio for item in budget_ratios(curves([0.5] * 10, theirs), ORACLE)}
    needed = 300 + 100 * math.log(0.6 / 0.5) / math.log(0.6 / 0.2)
    assert found[1000] == pytest.approx(1000 / needed, rel=1e-3)


def test_the_standard_error_is_the_spread_of_the_ratio_over_repetitions() -> None:
    ratios, errors = [], []
    for seed in range(60):
        played = simulate(
            SETUPS[1].problem, [OURS, ORACLE], SETUPS[1].budgets, runs=200, seed=seed, streams="independent"
        )
        found = {item.budget: item for item in budget_ratios(played, ORACLE)}
        ratios.append(found[500].ratio)
        errors.append(found[500].error)
    # The spread of 60 has a relative standard error of 0.09; a factor of 1.5 either way is 4.5 of them.
    spread, said = np.std(ratios, ddof=1), np.median(errors)
    assert said / 1.5 < spread < 1.5 * said
    assert not 0.4 * said / 1.5 < spread < 1.5 * 0.4 * said  # errors that are too small by far are refused


def test_a_single_run_has_ratios_without_an_error() -> None:
    played = simulate(SETUPS[5].problem, [OURS, ORACLE], SETUPS[5].budgets, runs=1)
    found = budget_ratios(played, ORACLE)
    assert found
    assert all(math.isinf(item.error) for item in found)
    assert "\N{PLUS-MINUS SIGN}" not in "".join(yardstick_lines(played))


def test_the_summary_says_the_ratio_and_what_fixed_pulls_can_do() -> None:
    made = curves(np.exp(-BUDGETS / 300), np.exp(-BUDGETS / 250))
    ratio, fixed = yardstick_lines(made)
    assert ratio.startswith(
        "    For its regret at T = 1,000 LSA needs 1.20 \N{PLUS-MINUS SIGN} 0.02 times the budget of"
    )
    assert ratio.endswith("Ratio-Oracle(2) (median over 9 budgets: 1.20).")
    value = float(static_optimum(SETUPS[1].problem.gaps, 1000))
    assert fixed == f"    The best fixed pulls for these gaps have {value:.4f} at T = 1,000, averaged over sides."


def test_a_yardstick_out_of_reach_is_said_to_be() -> None:
    lines = list(yardstick_lines(curves([0.9] * 10, np.exp(-BUDGETS / 300))))
    assert lines[0] == "    Ratio-Oracle(2) has none of LSA's regrets within these budgets."


def test_curves_without_ratio_oracles_have_no_such_lines() -> None:
    played = simulate(SETUPS[1].problem, [OURS, "Gap-Oracle"], [100, 200], runs=3)
    assert list(yardstick_lines(played)) == []


def test_both_ratio_oracles_are_among_the_yardsticks_that_the_paper_is_simulated_with() -> None:
    assert set(RATIO_ORACLES) < set(yardsticks())
    assert set(yardsticks()) == {GapOracle(), RatioOracle(2), RatioOracle(1)}


def test_the_summary_of_a_setup_has_them_below_its_other_lines() -> None:
    played = simulate(SETUPS[1].problem, [OURS, "APT(0)", ORACLE], SETUPS[1].budgets, runs=50, streams="independent")
    text = summary({1: played}, [])
    assert text.splitlines()[-2:] == list(yardstick_lines(played))
