from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest

from cutline.errors import InvalidInputError
from cutline.planning import plan
from cutline.planning.figure import plan_figure
from cutline.planning.result import Beside, Plan
from cutline.plotting import figure_bytes


@pytest.fixture(scope="module")
def found() -> Plan:
    return plan([0.3, 0.42, 0.58, 0.7], errors=0.5, policy="LSA", progress=False)


def lines(figure: Any) -> dict[str, list[list[float]]]:
    return {line.get_label(): line.get_xydata().tolist() for line in figure.axes[0].get_lines()}


def test_curves_target_and_budgets_are_drawn_where_they_are(found: Plan) -> None:
    drawn = lines(plan_figure(found))
    assert drawn["LSA(1.35)"] == [[point.budget, point.expected_errors] for point in found.curve]
    assert drawn["Uniform, exactly"] == [
        *([point.budget, point.uniform] for point in found.curve),
        *([budget, errors] for budget, errors in found.uniform_beyond),
    ]
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


def test_short_axes_have_plain_numbers_that_do_not_touch(found: Plan) -> None:
    """Budgets from 25 to 330: matplotlib writes 2 x 10^1, 3 x 10^1, 4 x 10^1 and so on over one another there."""
    few = tuple(replace(point, budget=25 + 20 * place) for place, point in enumerate(found.curve[:8]))
    figure = plan_figure(replace(found, curve=few, budget=None, low=None, high=None, uniform=330))
    figure.draw_without_rendering()
    (axes,) = figure.axes
    left, right = axes.get_xlim()
    ticks = [*axes.xaxis.get_major_ticks(), *axes.xaxis.get_minor_ticks()]
    labels = {float(tick.get_loc()): tick.label1 for tick in ticks if left <= tick.get_loc() <= right}
    assert [labels[at].get_text() for at in sorted(labels)] == ["50", "100", "200"]
    boxes = [labels[at].get_window_extent() for at in sorted(labels)]
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
