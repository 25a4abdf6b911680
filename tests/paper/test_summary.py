"""The summary says where LSA is best, where it is not, and how the table agrees."""

from dataclasses import replace

import numpy as np

from cutline.paper.setups import COMPETITORS, OURS, SETUPS
from cutline.paper.summary import Rival, rivals, summary
from cutline.paper.table import Cell
from cutline.simulation.curves import RegretCurves

NAMES = (str(OURS), *map(str, COMPETITORS))
RUNS = 400


def curves(rates: dict[str, tuple[float, ...]], default: tuple[float, ...], runs: int = RUNS) -> RegretCurves:
    """Curves in which so large a share of the runs has one error; at budgets 100, 200, ..."""
    errors = np.zeros((len(NAMES), len(default), runs), np.int32)
    for row, name in enumerate(NAMES):
        for place, rate in enumerate(rates.get(name, default)):
            errors[row, place, (np.arange(round(rate * runs)) + 37 * row) % runs] = 1
    return RegretCurves(
        problem=SETUPS[1].problem,
        policies=NAMES,
        budgets=np.arange(1, len(default) + 1) * 100,
        errors=errors,
        pulls=np.ones((len(NAMES), len(default), 10)),
        seed=0,
        streams="independent",
        versions={},
    )


CURVES = curves(
    {str(OURS): (0.1, 0.1, 0.5), "APT(0.05)": (0.8, 0.0975, 0.1), "Uniform": (0.9, 0.12, 0.6)}, (0.5, 0.5, 0.9)
)
CELL = Cell(1, 1000, "APT(0)", 0.03, 0.09, "1.4e-32", "2.0e-30", 11.9, 11.5, True)


def test_the_lead_is_the_difference_in_regret_and_significant_if_its_p_value_is_small_enough() -> None:
    found = {(budget, rival.policy): rival for budget, row in rivals(CURVES).items() for rival in row}
    assert len(found) == 30
    lead = found[100, "APT(0.05)"]
    assert (round(lead.lead, 6), lead.significant) == (0.7, True)
    chance = found[200, "APT(0.05)"]
    assert (round(chance.lead, 6), chance.significant) == (-0.0025, False)
    behind = found[300, "APT(0.05)"]
    assert (round(behind.lead, 6), behind.significant) == (-0.4, True)


def test_a_difference_that_passes_alone_but_not_among_ten_comparisons_is_not_significant() -> None:
    one = curves({str(OURS): (0.10,), "APT(0.05)": (0.16,)}, (0.5,))  # the level is 0.05 / 10
    test = one.compare("APT(0.05)", OURS)
    assert 0.005 < test.p < 0.05
    assert rivals(one)[100][2] == Rival("APT(0.05)", 100, test.difference, False)


def test_each_setup_says_where_lsa_is_lowest_and_who_is_below_it() -> None:
    lines = summary({1: CURVES}, []).splitlines()
    assert lines[0] == "Regret of LSA(1.35) against 10 policies, 400 runs."
    assert lines[1] == "Significant: p < 0.05 / 30, the comparisons of a setup."
    assert lines[3:] == [
        "Setup 1: arithmetic progression I. LSA is lowest at 1 of 3 budgets, "
        "at 1 of them significantly below every other.",
        "    At T = 300: LSA 0.5000, the best other 0.1000 (APT(0.05)).",
        "    Significantly lower than LSA: APT(0.05) at 1 (T = 300).",
        "    Lower by what may be chance: APT(0.05) at 1 (T = 200).",
    ]


def test_yardsticks_in_the_curves_are_no_rivals() -> None:
    with_oracle = replace(
        CURVES, policies=(*NAMES, "Gap-Oracle"), errors=np.concatenate([CURVES.errors, 0 * CURVES.errors[:1]])
    )
    assert summary({1: with_oracle}, []) == summary({1: CURVES}, [])


def test_a_policy_as_low_as_lsa_takes_nothing_from_it() -> None:
    equal = curves({}, (0.5, 0.5))
    assert "LSA is lowest at 2 of 2 budgets, at 0 of them significantly" in summary({1: equal}, [])


def test_with_a_single_run_nothing_is_called_significant() -> None:
    text = summary({1: curves({str(OURS): (1.0,)}, (0.0,), runs=1)}, [])
    assert text.startswith("Regret of LSA(1.35) against 10 policies, one run: too few for a test.\n")
    assert "ignificant" not in text
    assert "LSA is lowest at 0 of 1 budgets." in text


def test_cells_that_disagree_with_the_paper_are_named() -> None:
    wrong = replace(CELL, policy="Uniform", z_ours=25.04, agrees=False)
    zero = replace(CELL, policy="UCBE(-1)", p_paper="0", z_paper=37.0, z_ours=12.0, agrees=False)
    lines = summary({1: CURVES}, [CELL, wrong, zero]).splitlines()
    assert lines[-4] == "t-tests: 1 of 3 cells agree with the paper's table within chance,"
    assert lines[-2:] == [
        "    Setup 1, Uniform: |z| is 25.0, the paper's 11.9",
        "    Setup 1, UCBE(-1): |z| is 12.0, the paper's above 37.0",
    ]
