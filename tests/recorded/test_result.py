"""What is read off a replay."""

import csv
import io
import math
from typing import Any

import numpy as np
import pytest

from cutline.errors import InvalidInputError
from cutline.problem import Problem
from cutline.recorded.result import Replay
from cutline.simulation.curves import RegretCurves


def made_up(errors: Any, gold_errors: Any = None, full_gold_errors: Any = None) -> Replay:
    """A result for 100 tasks with 400 labels, budgets 100, 200, 300, 400, and one run."""
    budgets = np.array([100, 200, 300, 400])
    names = ("LSA(1.35)", "Uniform", "APT(0)")[: len(errors)]

    def curves(values: Any) -> RegretCurves:
        array = np.array(values, np.int32)[:, :, None]
        return RegretCurves(
            Problem(np.full(100, 0.6)), names, budgets, array, np.ones((len(errors), 4, 100)), 0, "common"
        )

    gold = curves(gold_errors) if gold_errors else None
    return Replay("x.csv", tuple(map(str, range(100))), 400, curves(errors), gold, full_gold_errors)


def test_labels_needed_is_the_budget_from_which_accuracy_stays_near_that_of_all_labels() -> None:
    found = made_up([[9, 1, 2, 0], [9, 5, 1, 0], [9, 9, 9, 0]])
    assert found.labels_needed(0.01) == {"LSA(1.35)": 400, "Uniform": 300, "APT(0)": 400}
    assert found.labels_needed(0.02) == {"LSA(1.35)": 200, "Uniform": 300, "APT(0)": 400}
    assert found.labels_needed(0.09) == dict.fromkeys(found.against_full.policies, 100)
    assert found.summary(0.02) == "LSA(1.35) needs 200 of 400 labels; Uniform 300; APT(0) all"


def test_labels_needed_is_held_against_gold_where_there_is_gold() -> None:
    found = made_up([[9, 5, 4, 0]], [[20, 12, 11, 11]], 11)
    assert found.labels_needed(0.01) == {"LSA(1.35)": 200}
    assert found.labels_needed(0) == {"LSA(1.35)": 300}
    unreached = made_up([[9, 5, 4, 3]], [[20, 14, 13, 13]], 11)
    assert unreached.labels_needed(0.01) == {"LSA(1.35)": None}
    assert unreached.summary() == "LSA(1.35) needs more than 400 of 400 labels"
    with pytest.raises(InvalidInputError, match="within is 1; it must be a share"):
        found.labels_needed(1)


def test_rows_and_csv_have_the_documented_columns() -> None:
    text = made_up([[9, 5, 4, 0], [9, 8, 7, 0]], [[20, 12, 11, 11], [20, 18, 17, 11]], 11).to_csv()
    rows = list(csv.reader(io.StringIO(text)))
    assert ",".join(rows[0]) == ("policy,budget,runs,mean_errors,standard_error,mean_gold_errors,gold_standard_error")
    assert rows[6] == ["Uniform", "200", "1", "8.0", "", "18.0", ""]
    without_gold = made_up([[9, 5, 4, 0]])
    assert without_gold.to_csv().splitlines()[3] == "LSA(1.35),300,1,4.0,,,"
    assert without_gold.rows()[2] | {"standard_error": 0} == {
        "policy": "LSA(1.35)",
        "budget": 300,
        "runs": 1,
        "mean_errors": 4.0,
        "standard_error": 0,
        "mean_gold_errors": None,
        "gold_standard_error": None,
    }


def test_standard_errors_are_those_of_the_mean_over_runs() -> None:
    errors = np.array([[[1, 4, 4, 7]]], np.int32)
    curves = RegretCurves(Problem([0.6]), ("LSA(1.35)",), np.array([1]), errors, np.ones((1, 1, 1)), 0, "common")
    row = Replay("x.csv", ("a",), 1, curves, curves, 0).rows()[0]
    assert row["mean_errors"] == row["mean_gold_errors"] == 4.0
    assert row["standard_error"] == row["gold_standard_error"] == pytest.approx(math.sqrt(6) / 2)


def test_panels_are_the_curves_that_there_are() -> None:
    both, one = made_up([[9, 5, 4, 0]], [[20, 12, 11, 11]], 11), made_up([[9, 5, 4, 0]])
    assert both.panels() == {"against the full-data answer": both.against_full, "against gold": both.against_gold}
    assert one.panels() == {"against the full-data answer": one.against_full}
