"""Figures from curves, and their files.

Figures are made without pyplot, so nothing global changes and no window opens. matplotlib is imported when the
first figure is made; it comes with ``pip install "cutline[plot]"``.

figure: draws curves. saving: settings and files.
"""

from cutline.plotting.figure import Curves, regret_figure
from cutline.plotting.saving import figure_bytes, require_drawable, save_figure

__all__ = ["Curves", "figure_bytes", "regret_figure", "require_drawable", "save_figure"]
