"""The paper's three figures, from the curves that there are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cutline.paper.setups import SETUPS
from cutline.plotting import regret_figure
from cutline.simulation.curves import RegretCurves

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES = {"figure-1": (1, 2, 3), "figure-2": (4, 5, 6)}
"""Which setups a figure shows, by its file name."""

ALPHA_FIGURE = "figure-3"


def setups_figure(numbers: tuple[int, ...], curves: Mapping[int, RegretCurves]) -> "Figure":
    """Return Figure 1 or 2 of the paper: a panel for each of these setups that has curves (by setup number)."""
    return regret_figure({SETUPS[number].name: curves[number] for number in numbers if number in curves})


def alpha_figure(curves: RegretCurves) -> "Figure":
    """Return Figure 3 of the paper: LSA with several tuning parameters on Setup 1."""
    return regret_figure({"Setup 1, tuning parameter of LSA": curves})
