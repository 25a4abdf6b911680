"""The figure of decisions: the mean and the interval of every arm, and the threshold."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from cutline.campaign.results import Decision, in_words
from cutline.plotting.saving import figure_style
from cutline.text import shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LABELLED = 40
"""So many arms have their ids beside them; where there are more, there is no room."""

_LOOKS = {"above": ("#0072b2", "o"), "below": ("#d55e00", "s"), "undecided": ("#8c8c8c", "D")}
"""Colour and marker of each decision, told apart with any colour vision."""


def decisions_figure(decisions: Sequence[Decision], threshold: float) -> "Figure":
    """Return a figure with a line an arm, the highest mean on top: its mean and its interval; and the threshold.

    Raises MissingDependencyError without matplotlib.
    """
    with figure_style():
        from cutline.plotting.drawing import Drawing

        order = sorted(decisions, key=lambda item: (item.mean is not None, item.mean or 0.0))
        labels = [shown(item.arm, 40) for item in order] if len(order) <= _LABELLED else []
        height = max(2.0, 0.9 + 0.24 * len(labels)) if labels else 6.0
        figure = Drawing(figsize=(7.2, height), layout="constrained")
        axes = figure.subplots()
        axes.axvline(threshold, color="black", linewidth=1.0, linestyle=(0, (5, 2)), label=f"threshold {threshold:g}")
        for word, (colour, marker) in _LOOKS.items():
            places = [place for place, item in enumerate(order) if in_words(item) == word]
            if not places:
                continue
            some = [order[place] for place in places]
            axes.hlines(places, [item.low for item in some], [item.high for item in some], color=colour, alpha=0.6)
            means = [np.nan if item.mean is None else item.mean for item in some]
            label = f"{word}: {len(some):,}"
            axes.plot(means, places, marker, color=colour, markersize=5.0, label=label, clip_on=False)
        axes.set_xlim(0.0, 1.0)
        axes.set_ylim(-0.6, len(order) - 0.4)
        axes.set_yticks(range(len(labels)), labels)
        axes.set_xlabel("mean of the rewards, and the interval of the true mean")
        axes.grid(axis="x")
        figure.legend(loc="outside upper right", ncols=4)
    return figure
