"""The t-test table: the paper's p-values, ours beside them, and when the two agree."""

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from cutline.paper.setups import COMPETITORS, OURS, SETUPS
from cutline.paper.table import COLUMNS, PAPER_P_VALUES, agrees, p_text, table, to_csv, to_markdown
from cutline.simulation.curves import RegretCurves
from cutline.simulation.simulate import simulate

# A right implementation fails one of the 30 cells, or one of the 18 regret values, with this probability.
FALSE_ALARM = 1e-4

# Measured with an independent implementation at T = 1,000 / 40,000 / 100,000 in Setups 1 / 2 / 3, 5,000 runs: mean
# and standard error.
MEASURED = {
    "LSA(1.35)": ((0.0298, 0.0024), (0.2512, 0.0068), (0.2204, 0.0066)),
    "APT(0)": ((0.0888, 0.0043), (1.4758, 0.0213), (1.0636, 0.0144)),
    "APT(0.05)": ((0.0270, 0.0023), (0.4748, 0.0086), (0.4572, 0.0092)),
    "UCBE(0)": ((0.1248, 0.0049), (5.5992, 0.0277), (2.7602, 0.0191)),
    "Opt-KG(1,1)": ((0.0338, 0.0026), (0.3688, 0.0085), (0.3330, 0.0079)),
    "Uniform": ((0.3198, 0.0074), (0.8576, 0.0113), (0.7782, 0.0115)),
}


def exchange(curves: Mapping[int, RegretCurves], rows: list[int]) -> dict[int, RegretCurves]:
    """The same curves, as if the policies had each other's errors."""
    return {number: replace(one, errors=one.errors[rows]) for number, one in curves.items()}


def few_runs(number: int, runs: int = 40) -> RegretCurves:
    setup = SETUPS[number]
    return simulate(
        setup.problem, (OURS, *COMPETITORS), setup.budgets[0], runs=runs, streams="independent", progress=False
    )


@pytest.mark.slow
def test_all_30_cells_agree_with_the_papers_table(t_test_curves: dict[int, RegretCurves]) -> None:
    cells = table(t_test_curves, FALSE_ALARM)
    assert len(cells) == 30
    assert [(cell.setup, cell.policy, cell.z_paper, cell.z_ours) for cell in cells if not cell.agrees] == []


@pytest.mark.slow
def test_the_table_disagrees_when_neighbouring_policies_change_places(t_test_curves: dict[int, RegretCurves]) -> None:
    names = [str(policy) for policy in (OURS, *COMPETITORS)]
    for first in range(1, 10):
        second = first + 1
        if (names[first], names[second]) == ("Opt-KG(1,1)", "Opt-KG(0.5,0.5)"):
            continue  # in the paper itself their |z| are 2 to 4 apart, less than the tolerance
        rows = list(range(11))
        rows[first], rows[second] = second, first
        disagreeing = {cell.policy for cell in table(exchange(t_test_curves, rows), FALSE_ALARM) if not cell.agrees}
        assert disagreeing & {names[first], names[second]}, names[first]


@pytest.mark.slow
@pytest.mark.parametrize("wrong", ["LSA(0.3)", "LSA(8)", "APT(0.025)"])
def test_the_table_disagrees_when_lsa_is_another_policy(t_test_curves: dict[int, RegretCurves], wrong: str) -> None:
    setup, right = SETUPS[2], t_test_curves[2]
    errors = right.errors.copy()
    errors[0] = simulate(setup.problem, wrong, setup.max_budget, seed=3, progress=False).errors[0]
    assert not all(cell.agrees for cell in table({2: replace(right, errors=errors)}, FALSE_ALARM))


@pytest.mark.slow
def test_the_regret_is_what_an_independent_implementation_measured(t_test_curves: dict[int, RegretCurves]) -> None:
    bound = stats.norm.isf(FALSE_ALARM / 18 / 2)
    for policy, values in MEASURED.items():
        for number, (mean, error) in enumerate(values, 1):
            ours = t_test_curves[number]
            row = ours.row(policy)
            spread = math.hypot(error, ours.standard_error[row, 0])
            assert abs(ours.mean[row, 0] - mean) < bound * spread, (policy, number)


@pytest.mark.slow
def test_the_regret_of_no_policy_passes_for_that_of_another_in_all_setups(
    t_test_curves: dict[int, RegretCurves],
) -> None:
    bound = stats.norm.isf(FALSE_ALARM / 18 / 2)
    for policy, values in MEASURED.items():
        for other in set(MEASURED) - {policy}:
            off = []
            for number, (mean, error) in enumerate(values, 1):
                ours = t_test_curves[number]
                row = ours.row(other)
                off.append(abs(ours.mean[row, 0] - mean) / math.hypot(error, ours.standard_error[row, 0]))
            assert max(off) > bound, (policy, other)


def test_the_paper_prints_30_p_values_of_which_9_are_zero() -> None:
    printed = [p for row in PAPER_P_VALUES.values() for p in row]
    assert len(printed) == 30
    assert printed.count("0") == 9
    assert all(len(row) == len(COMPETITORS) for row in PAPER_P_VALUES.values())
    assert all(0 < float(p) <= 1 for p in printed if p != "0")


def test_z_of_the_paper_is_the_normal_deviate_of_its_p_value() -> None:
    cells = {cell.policy: cell for cell in table({1: few_runs(1)})}
    assert cells["APT(0)"].z_paper == pytest.approx(stats.norm.isf(1.4e-32 / 2), rel=1e-9)
    assert cells["APT(0.05)"].z_paper == pytest.approx(stats.norm.isf(0.95 / 2), rel=1e-9)
    assert cells["Uniform"].z_paper == pytest.approx(stats.norm.isf(1.1e-295 / 2), rel=1e-9)
    assert cells["UCBE(-1)"].z_paper == 37.0


def test_a_cell_holds_the_t_test_between_lsa_and_the_policy() -> None:
    curves = few_runs(1)
    cell = table({1: curves})[2]
    test = stats.ttest_rel(curves.errors[0, 0], curves.errors[3, 0])
    assert (cell.setup, cell.budget, cell.policy) == (1, 50, "APT(0.05)")
    assert cell.z_ours == pytest.approx(stats.norm.isf(test.pvalue / 2), rel=1e-6)
    assert cell.p_ours == p_text(math.log10(test.pvalue))
    assert cell.regret_lsa == np.mean(curves.errors[0, 0])
    assert cell.regret == np.mean(curves.errors[3, 0])


def test_the_tolerance_is_the_normal_quantile_of_the_false_alarm_shared_by_30_cells_times_sqrt_2() -> None:
    tolerance = stats.norm.isf(1e-4 / 30 / 2) * math.sqrt(2)
    for z in (10.0 - tolerance, 10.0 + tolerance):
        assert agrees(z + math.copysign(0.001, 10.0 - z), 10.0, False, 5000, 1e-4)
        assert not agrees(z - math.copysign(0.001, 10.0 - z), 10.0, False, 5000, 1e-4)


def test_where_the_paper_prints_zero_only_a_smaller_z_disagrees() -> None:
    assert agrees(500.0, 37.0, True, 5000)
    assert agrees(31.0, 37.0, True, 5000)
    assert not agrees(30.0, 37.0, True, 5000)


def test_with_other_numbers_of_runs_z_is_scaled_by_the_root() -> None:
    assert agrees(40.0, 20.0, False, 20_000)  # four times the runs, twice the z
    assert not agrees(20.0, 20.0, False, 20_000)
    assert agrees(2.0, 20.0, False, 50)
    assert not agrees(20.0, 20.0, False, 50)


@pytest.mark.parametrize(
    ("log10_p", "text"),
    [
        (math.log10(0.6), "0.60"),
        (math.log10(0.0078), "7.8e-3"),
        (math.log10(1.4e-32), "1.4e-32"),
        (-400.5, "3.2e-401"),
        (-9.00001, "1.0e-9"),
        (-math.inf, "0"),
        (0.0, "1.00"),
    ],
)
def test_p_values_are_written_with_two_digits_however_small(log10_p: float, text: str) -> None:
    assert p_text(log10_p) == text


def test_only_setups_with_curves_are_in_the_table() -> None:
    cells = table({3: few_runs(3, 10), 1: few_runs(1, 10), 6: few_runs(6, 10)})
    assert [(cell.setup, cell.policy) for cell in cells] == [
        (number, str(policy)) for number in (1, 3) for policy in COMPETITORS
    ]


def test_csv_and_markdown_hold_every_cell() -> None:
    cells = table({1: few_runs(1)})
    rows = list(csv.DictReader(io.StringIO(to_csv(cells))))
    assert tuple(rows[0]) == COLUMNS
    assert [row["policy"] for row in rows] == [str(policy) for policy in COMPETITORS]
    assert rows[0]["p_paper"] == "1.4e-32"
    assert float(rows[4]["z_ours"]) == cells[4].z_ours
    text = to_markdown(cells, 40)
    assert f"| 1 | 50 | UCBE(-1) | {cells[4].regret:.4f} | {cells[4].regret_lsa:.4f} | 0 |" in text
    assert "| > 37 |" in text
    assert len([line for line in text.splitlines() if line.startswith("| 1 |")]) == 10
