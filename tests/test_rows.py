"""Results as tables: what a notebook shows of them, and DataFrames."""

import subprocess
import sys

import numpy as np
import pytest

from cutline import simulate
from cutline.planning import Beliefs, plan
from cutline.problem import Problem
from cutline.recorded.observations import Observations
from cutline.recorded.replay import replay
from cutline.rows import MOST_SHOWN, html_table
from cutline.simulation.curves import RegretCurves


@pytest.fixture(scope="module")
def curves() -> RegretCurves:
    return simulate(Problem([0.2, 0.7]), ["LSA", "Uniform"], [10, 20], runs=4)


def test_a_frame_has_the_rows_and_their_names(curves: RegretCurves) -> None:
    import pandas  # half a second, which other tests need not wait for

    frame = curves.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.to_dict("records") == curves.rows()
    assert list(frame.columns) == ["policy", "budget", "runs", "mean_errors", "standard_error"]


def test_a_notebook_shows_a_table_with_a_line_a_row(curves: RegretCurves) -> None:
    shown = curves._repr_html_()
    assert shown.count("<tr>") == 1 + 4
    assert shown.startswith("<table>\n<tr><th>policy</th><th>budget</th>")
    assert "<td>LSA(1.35)</td><td>20</td>" in shown


def test_a_plan_and_a_replay_are_tables_too() -> None:
    planned = plan(Beliefs.prior(1, 1, 5), errors=2.0)
    assert planned.to_frame()["budget"].iloc[0] == planned.budget
    labels = Observations("x.csv", ("a", "b"), np.array([0, 1, 0]), ("u", "v", "w"), np.ones(3), np.array([2, 3, 4]))
    frame = replay(labels, "Uniform", budgets=[2, 3], runs=2).to_frame()
    assert frame["budget"].tolist() == [2, 3]
    assert frame["mean_gold_errors"].isna().all()


def test_text_is_never_markup_and_what_is_not_known_is_a_dash() -> None:
    (row,) = html_table([{"<b>": "<script>alert(1)</script>", "n": None, "x": float("nan")}]).splitlines()[2:-1]
    assert row == "<tr><td>&lt;script&gt;alert(1)&lt;/script&gt;</td><td>-</td><td>-</td></tr>"


def test_numbers_are_short_and_whole_numbers_whole() -> None:
    (row,) = html_table([{"a": 1234567, "b": 0.123456, "c": 1e-9, "d": 123456.7, "e": True}]).splitlines()[2:-1]
    cells = "".join(f"<td>{text}</td>" for text in ("1,234,567", "0.1235", "1e-09", "123,457", "True"))
    assert row == f"<tr>{cells}</tr>"


def test_a_long_table_says_how_many_rows_it_leaves_out() -> None:
    shown = html_table([{"n": n} for n in range(MOST_SHOWN + 1000)])
    assert shown.count("<tr>") == 1 + MOST_SHOWN
    assert shown.endswith("<p>1,000 more rows</p>")
    assert html_table([]) == "<p>no rows</p>"


@pytest.mark.process
def test_without_pandas_one_line_says_how_to_get_it() -> None:
    script = (
        "import sys; sys.modules['pandas'] = None\n"
        "from cutline.planning import Beliefs, plan\n"
        "try: plan(Beliefs.prior(1, 1, 5), errors=2.0).to_frame()\n"
        "except ImportError as error: print(type(error).__name__, error)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "MissingDependencyError to_frame needs pandas: pip install pandas\n"
