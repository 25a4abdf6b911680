"""The figure of a plan: expected errors over the budget, the target, and where it is reached."""

from typing import TYPE_CHECKING

import numpy as np

from cutline.errors import InvalidInputError
from cutline.planning.result import Plan
from cutline.plotting.figure import BUDGET, STANDARD_ERRORS
from cutline.plotting.saving import figure_style

if TYPE_CHECKING:
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

_BLACK, _BLUE, _GREY = "#000000", "#0072b2", "#4d4d4d"
_SHORT = 100.0  # from the lowest to the highest number of an axis
_OTHERS = ("#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def plan_figure(plan: Plan) -> "Figure":
    """Return a figure of a plan: simulated errors with a band of 1.96 standard errors, and those of Uniform.

    The policies beside it have a line each. Both axes are logarithmic. The target is a line across, the budget with its
    interval a bar down, Uniform's budget a mark where it is reached.
    Raises InvalidInputError for a plan without any simulated budget, and MissingDependencyError without matplotlib.
    """
    if not plan.curve:
        raise InvalidInputError(f"nothing was simulated, so there is nothing to draw. {plan.remark}")
    with figure_style():
        from cutline.plotting.drawing import Drawing

        budgets = np.array([point.budget for point in plan.curve])
        mean = np.array([point.expected_errors for point in plan.curve])
        half = STANDARD_ERRORS * np.array([point.standard_error for point in plan.curve])
        uniform = [*((point.budget, point.uniform) for point in plan.curve), *plan.uniform_beyond]
        floor = 0.5 * min(plan.target, mean.min(where=mean > 0.0, initial=plan.target))
        figure = Drawing(figsize=(7.2, 4.8), layout="constrained")
        axes = figure.subplots()
        axes.fill_between(budgets, np.maximum(mean - half, floor), mean + half, color=_BLACK, alpha=0.16, linewidth=0)
        axes.plot(budgets, np.maximum(mean, floor), color=_BLACK, linewidth=2.0, label=plan.policy)
        for number, other in enumerate(plan.beside):
            at = [point.budget for point in other.curve]
            errors = np.maximum([point.expected_errors for point in other.curve], floor)
            axes.plot(at, errors, color=_OTHERS[number % len(_OTHERS)], linewidth=1.4, label=other.policy)
        if plan.policy != "Uniform":
            axes.plot(*zip(*uniform, strict=True), color=_BLUE, linewidth=1.4, label="Uniform, exactly")
        known = [(point.budget, point.oracle) for point in plan.curve if point.oracle is not None]
        if known:
            axes.plot(
                *zip(*known, strict=True), color=_GREY, linewidth=1.4, linestyle="--", label="Gap-Oracle, computed"
            )
        axes.axhline(plan.target, color=_GREY, linewidth=1.0, linestyle=":", label=f"target, {plan.target:g}")
        if plan.budget is not None and plan.low is not None and plan.high is not None:
            axes.axvspan(plan.low, plan.high, color=_BLACK, alpha=0.12, linewidth=0)
            axes.plot([plan.budget], [plan.target], "o", color=_BLACK, label=f"{plan.budget:,} pulls")
        if plan.uniform is not None and budgets[0] <= plan.uniform:
            axes.plot([plan.uniform], [plan.target], "s", color=_BLUE, label=f"{plan.uniform:,} pulls")
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_ylim(bottom=floor)
        _mark(axes.xaxis, "{x:,.0f}")
        _mark(axes.yaxis, "{x:g}")
        axes.set_xlabel(BUDGET)
        axes.set_ylabel("expected errors (arms on the wrong side)")
        axes.grid(axis="both")
        axes.legend()
    return figure


def _mark(axis: "Axis", form: str) -> None:
    """Have a logarithmic axis say plain numbers: the powers of ten, and 2 and 5 times these where it is short."""
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    low, high = axis.get_view_interval()
    axis.set_major_formatter(StrMethodFormatter(form))
    axis.set_minor_locator(LogLocator(subs=(2.0, 5.0)))
    axis.set_minor_formatter(StrMethodFormatter(form) if high < _SHORT * low else NullFormatter())
