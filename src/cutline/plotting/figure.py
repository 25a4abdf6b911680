"""Draws regret curves: aggregate regret over the budget, on a logarithmic axis (paper, Figures 1 to 3)."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cutline.errors import CutlineError, InvalidInputError
from cutline.plotting.saving import figure_style
from cutline.policies import parse
from cutline.policies.lsa import LSA

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REGRET = "aggregate regret (expected wrong arms)"
BUDGET = "budget T (pulls)"
STANDARD_ERRORS = 1.96
"""Half the width of a band around a mean, in standard errors: it holds the true mean with probability 0.95."""

_DEFAULT = str(LSA())
_GREYS = ("#4d4d4d", "#8c8c8c")
# Okabe and Ito's colours that people with any colour vision tell apart; their yellow is too pale for a line.
_HUES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#882255")
_MARKERS = ("s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "d")
_DASHES = ((0, (5, 2)), (0, (2, 1.5)), (0, (7, 2, 1.5, 2)), (0, (1, 1)))


class Curves(Protocol):
    """What is drawn, such as RegretCurves: mean errors of P policies at B budgets over so many runs."""

    @property
    def policies(self) -> tuple[str, ...]:
        """Their names, P."""

    @property
    def budgets(self) -> NDArray[np.int64]:
        """Pulls in all, increasing, shape (B,)."""

    @property
    def runs(self) -> int:
        """How many runs the means are of."""

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean errors, shape (P, B)."""

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """Standard errors of the means, shape (P, B)."""


@dataclass(frozen=True)
class _Pen:
    """How one policy is drawn, the same in every panel."""

    color: str
    marker: str
    line: Any  # what matplotlib takes as a line style
    width: float
    order: float


def regret_figure(panels: Mapping[str, Curves]) -> "Figure":
    """Return a figure with one panel for each entry, side by side: title -> curves.

    Regret is drawn over the budget on a logarithmic axis, with a band of 1.96 standard errors to either side where
    there are two runs or more. Curves at a single budget become a row of points with error bars, one policy a line.
    LSA(1.35) is black, the variants of a policy share a hue and differ by shade and marker, and policies that are
    told the truth (yardsticks) are grey and dashed.

    **Zero regret** has no place on a logarithmic axis. Where a policy made no error at all, the axis ends in a shaded
    strip that runs linearly from 0 to just below the smallest regret that was seen, and the tick at its foot says 0:
    the curve goes on to where it belongs, and nobody takes the foot for a small number.

    Raises InvalidInputError without panels, and MissingDependencyError without matplotlib.
    """
    if not panels:
        raise InvalidInputError("no curves to draw; give at least one panel")
    with figure_style():
        from cutline.plotting.drawing import Drawing

        pens = _pens(tuple(dict.fromkeys(name for curves in panels.values() for name in curves.policies)))
        lines = [curves for curves in panels.values() if curves.budgets.size > 1]
        size = (4.3 * len(panels), 5.3) if len(panels) > 1 else (7.2 if lines else 6.4, 4.8)
        figure = Drawing(figsize=size, layout="constrained")
        every: Sequence[Axes] = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (title, curves) in zip(every, panels.items(), strict=True):
            axes.set_title(title)
            if curves.budgets.size > 1:
                _draw_curves(axes, curves, pens)
                axes.set_ylabel(REGRET if curves is lines[0] else "")
            else:
                _draw_points(axes, curves, pens)
        if lines:
            _draw_legend(figure, pens, lines[0].runs, len(panels) > 1)
    return figure


def _pens(names: Sequence[str]) -> dict[str, _Pen]:
    yardsticks = [name for name in names if _is_yardstick(name)]
    others = [name for name in names if name not in yardsticks and name != _DEFAULT]
    families = {name: name.partition("(")[0] for name in others}
    if len(set(families.values())) == 1:
        families = {name: name for name in others}
    hues = {family: _HUES[i % len(_HUES)] for i, family in enumerate(dict.fromkeys(families.values()))}
    pens = {}
    for i, name in enumerate(others):
        members = [other for other in others if families[other] == families[name]]
        color = _shade(hues[families[name]], members.index(name), len(members))
        pens[name] = _Pen(color, _MARKERS[i % len(_MARKERS)], "-", 1.4, 3.0 - i / 100)
    for i, name in enumerate(yardsticks):
        pens[name] = _Pen(_GREYS[i % len(_GREYS)], "", _DASHES[i % len(_DASHES)], 1.4, 2.0)
    pens[_DEFAULT] = _Pen("black", "o", "-", 2.2, 4.0)
    return {name: pens[name] for name in names}


def _is_yardstick(name: str) -> bool:
    try:
        return parse(name).yardstick
    except CutlineError:  # a policy of the user's own, or one that has gone
        return False


def _shade(color: str, place: int, count: int) -> str:
    """Return a shade of a colour, from dark (first of several) to light; the colour itself if it is the only one."""
    mix = 0.0 if count == 1 else -0.4 + 0.95 * place / (count - 1)
    target = 255 if mix > 0 else 0
    channels = [int(color[i : i + 2], 16) for i in (1, 3, 5)]
    return "#" + "".join(f"{round(value + (target - value) * abs(mix)):02x}" for value in channels)


def _draw_curves(axes: "Axes", curves: Curves, pens: Mapping[str, _Pen]) -> None:
    mean, half = curves.mean, STANDARD_ERRORS * curves.standard_error
    every = max(1, curves.budgets.size // 6)
    for row, name in enumerate(curves.policies):
        pen = pens[name]
        if curves.runs > 1:
            low, high = mean[row] - half[row], mean[row] + half[row]
            band = axes.fill_between(curves.budgets, np.maximum(low, 0.0), high, color=pen.color, alpha=0.16)
            band.set(linewidth=0.0, zorder=pen.order - 2.0)
        axes.plot(
            curves.budgets,
            mean[row],
            color=pen.color,
            linestyle=pen.line,
            linewidth=pen.width,
            marker=pen.marker,
            markersize=5.0,
            markeredgecolor="white",
            markeredgewidth=0.5,
            markevery=[b for b in range(curves.budgets.size) if b % every == row % every or mean[row, b] == 0],
            zorder=pen.order,
            clip_on=False,
        )
    _regret_axis(axes, "y", mean, half, curves.runs)
    _budget_axis(axes, curves.budgets)


def _draw_points(axes: "Axes", curves: Curves, pens: Mapping[str, _Pen]) -> None:
    mean, half = curves.mean, STANDARD_ERRORS * curves.standard_error
    for row, name in enumerate(curves.policies):
        pen = pens[name]
        if curves.runs > 1:
            bar = [[min(half[row, 0], mean[row, 0])], [half[row, 0]]]
            axes.errorbar(mean[row], [row], xerr=bar, fmt="none", ecolor=pen.color, elinewidth=1.4, capsize=3.0)
        axes.plot(mean[row], [row], pen.marker or "d", color=pen.color, markersize=7.0, clip_on=False)
    axes.set_yticks(range(len(curves.policies)), curves.policies)
    axes.set_ylim(len(curves.policies) - 0.4, -0.6)
    axes.grid(axis="y")
    _regret_axis(axes, "x", mean, half, curves.runs)
    axes.set_xlabel(f"{REGRET}\nat T = {curves.budgets[0]:,} pulls\n{_how_many(curves.runs)}")


def _regret_axis(axes: "Axes", which: str, mean: NDArray[np.float64], half: NDArray[np.float64], runs: int) -> None:
    """Scale and tick the axis of the regret, with a linear strip at its foot if some regret is 0."""
    axis = axes.yaxis if which == "y" else axes.xaxis
    scale, limits = (axes.set_yscale, axes.set_ylim) if which == "y" else (axes.set_xscale, axes.set_xlim)
    half = np.nan_to_num(half)
    smallest = float(mean.min(where=mean > 0, initial=np.inf))
    top = 1.25 * float((mean + half).max())
    if top == 0.0:
        smallest, top = 1.0 / runs, 2.5 / runs
    if mean.min() > 0:
        bottom = min(smallest / 1.4, max(float((mean - half).min()) / 1.1, smallest / 5.0))
        scale("log")
        limits(bottom, top)
    else:
        bottom = max(_marks((1, 2, 5), smallest / 20.0, smallest * 0.999))
        scale("symlog", linthresh=bottom, linscale=0.15 * math.log10(top / bottom))
        limits(0.0, top)
        span = axes.axhspan if which == "y" else axes.axvspan
        span(0.0, bottom, color="#f3f3f3", zorder=0.0, linewidth=0)
    labelled = [0.0] * bool(mean.min() == 0) + _labelled_marks(bottom, top)
    axis.set_ticks(labelled, [f"{mark:g}" for mark in labelled])
    axis.set_ticks([mark for mark in _marks(range(1, 10), bottom, top) if mark not in labelled], minor=True)
    axis.set_tick_params(which="minor", **{f"label{side}": False for side in ("left", "bottom")})
    axes.grid(axis="both" if which == "y" else "x")


def _labelled_marks(bottom: float, top: float) -> list[float]:
    """Return three numbers or more between two others to write on a logarithmic axis, as round as may be."""
    from matplotlib.ticker import MaxNLocator

    for steps in ((1,), (1, 2, 5), range(1, 10)):
        marks = _marks(steps, bottom, top)
        if len(marks) > 2:
            return marks
    return [float(mark) for mark in MaxNLocator(5).tick_values(bottom, top) if bottom <= mark <= top]


def _marks(steps: Sequence[int], bottom: float, top: float) -> list[float]:
    """Return step * 10^k for every step and whole k, between bottom and top."""
    decades = range(math.floor(math.log10(bottom)), math.ceil(math.log10(top)) + 1)
    marks = [float(f"{step}e{decade}") for decade in decades for step in steps]
    return [mark for mark in marks if bottom <= mark <= top]


def _budget_axis(axes: "Axes", budgets: NDArray[np.int64]) -> None:
    """Scale the axis of the budgets as they are spaced: evenly, or by factors."""
    from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, StrMethodFormatter

    first, middle, last = float(budgets[0]), float(np.median(budgets)), float(budgets[-1])
    if abs(middle - math.sqrt(first * last)) < abs(middle - (first + last) / 2):
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator())
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10], integer=True))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    axes.set_xlabel(BUDGET)


def _draw_legend(figure: "Figure", pens: Mapping[str, _Pen], runs: int, wide: bool) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=pen.color, linestyle=pen.line, linewidth=pen.width, marker=pen.marker, label=name)
        for name, pen in pens.items()
    ]
    title = _how_many(runs)
    figure.legend(
        handles=handles,
        loc="outside lower center" if wide else "outside right upper",
        ncols=min(math.ceil(len(handles) / 2), int(figure.get_figwidth() / 1.8)) if wide else 1,
        title=title if wide else title.replace(" \N{PLUS-MINUS SIGN}", "\n\N{PLUS-MINUS SIGN}"),
        alignment="center" if wide else "left",
        handlelength=2.6,
    )


def _how_many(runs: int) -> str:
    return f"mean of {runs:,} runs \N{PLUS-MINUS SIGN} {STANDARD_ERRORS} standard errors" if runs > 1 else "one run"
