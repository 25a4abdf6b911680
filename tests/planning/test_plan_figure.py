from dataclasses import replace
from typing import Any

import pytest

from cutline.errors import InvalidInputError
from cutline.planning import plan
from cutline.planning.figure import plan_figure
from cutline.planning.planner import Beside, Plan
from cutline.plotting import figure_bytes


@pytest.fixture(scope="module")
def found() -> Plan:
    return plan([0.3, 0.42, 0.58, 0.7], errors=0.5, policy="LSA", progress=False)


def lines(figure: Any) -> dict[str, list[list[float]]]:
    return {line.get_label(): line.get_xydata().tolist() for line in figure.axes[0].get_lines()}


def test_curves_target_and_budgets_are_drawn_where_they_are(found: Plan) -> None:
    drawn = lines(plan_figure(found))
    assert drawn["LSA(1.35)"] == [[point.budget, point.expected_errors] for point in found.curve]
    assert drawn["Uniform, exactly"] == [[point.budget, point.uniform] for point in found.curve]
    known = [point for point in found.curve if point.oracle is not None]
    assert drawn["Gap-Oracle, computed"] == [[point.budget, point.oracle] for point in known]
    assert [y for _, y in drawn["target, 0.5"]] == [0.5, 0.5]
    assert drawn[f"{found.budget:,} pulls"] == [[found.budget, 0.5]]
    assert drawn[f"{found.uniform:,} pulls"] == [[found.uniform, 0.5]]


def test_the_policies_beside_have_a_line_each(found: Plan) -> None:
    other = Beside("Lai", 100, 90, 110, 8, tuple(replace(point, expected_errors=1.0) for point in found.curve))
    drawn = lines(plan_figure(replace(found, beside=(other,))))
    assert drawn["Lai"] == [[point.budget, 1.0] for point in found.curve]


def test_a_plan_for_uniform_has_one_curve(found: Plan) -> None:
    assert "Uniform, exactly" not in lines(plan_figure(replace(found, policy="Uniform")))


def test_a_plan_without_a_budget_has_no_mark(found: Plan) -> None:
    drawn = lines(plan_figure(replace(found, budget=None, low=None, high=None, uniform=None)))
    assert list(drawn) == ["LSA(1.35)", "Uniform, exactly", "Gap-Oracle, computed", "target, 0.5"]


def test_errors_of_0_are_drawn_at_the_foot(found: Plan) -> None:
    *others, last = found.curve
    figure = plan_figure(replace(found, curve=(*others, replace(last, expected_errors=0.0))))
    assert lines(figure)["LSA(1.35)"][-1][1] == figure.axes[0].get_ylim()[0]


@pytest.mark.slow
def test_equal_plans_give_equal_bytes(found: Plan) -> None:
    for ending in (".svg", ".png", ".pdf"):
        assert figure_bytes(plan_figure(found), ending) == figure_bytes(plan_figure(found), ending)


def test_a_plan_without_any_game_has_nothing_to_draw() -> None:
    with pytest.raises(InvalidInputError, match=r"nothing to draw\. The only mean lies on the threshold"):
        plan_figure(plan([0.5], errors=0.1, progress=False))
