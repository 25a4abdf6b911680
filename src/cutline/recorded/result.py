"""The result of a replay: wrong decisions at every budget, and the labels that each policy needs."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cutline.errors import InvalidInputError
from cutline.rows import Rows
from cutline.simulation.curves import COLUMNS, RegretCurves
from cutline.text import as_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GOLD_COLUMNS = ("mean_gold_errors", "gold_standard_error")


@dataclass(frozen=True, eq=False)
class Replay(Rows):
    """What ``replay`` returns.

    ``against_full``: wrong decisions where the truth is the full-data answer, as RegretCurves; its problem has
    the yes-share of all labels of each task as means. ``against_gold``: the same where the truth is gold, over
    the tasks that have it; None without gold. ``full_gold_errors``: how often the full-data answer itself
    disagrees with gold. ``tasks``: K ids; ``labels``: N; ``source``: the name of the file. ``remarks``: sentences
    about the data that their owner should know, such as ids of gold that are no task.
    """

    source: str
    tasks: tuple[str, ...]
    labels: int
    against_full: RegretCurves
    against_gold: RegretCurves | None
    full_gold_errors: int | None
    remarks: tuple[str, ...] = ()

    def labels_needed(self, within: float = 0.01) -> dict[str, int | None]:
        """Return the labels that each policy needs to come within ``within`` of the full-data accuracy.

        The accuracy is that against gold if there is gold, else that against the full-data answer (then the
        full-data accuracy is 1). The number is the first of the budgets from which on the mean accuracy stays
        there; None if that is above the last budget. Raises InvalidInputError unless 0 <= within < 1.
        """
        check_within(within)
        curves = self.against_gold or self.against_full
        # Errors are whole numbers and runs are few, so a mean is off by far less than this.
        allowed = (self.full_gold_errors or 0) + within * curves.problem.arms + 1e-9
        needed: dict[str, int | None] = {}
        for name, mean in zip(curves.policies, curves.mean, strict=True):
            outside = np.flatnonzero(mean > allowed)
            first = int(outside[-1]) + 1 if outside.size else 0
            needed[name] = int(curves.budgets[first]) if first < curves.budgets.size else None
        return needed

    def summary(self, within: float = 0.01) -> str:
        """Return ``labels_needed`` in words: "LSA(1.35) needs 12,000 of 20,000 labels; Uniform all"."""
        parts: list[str] = []
        for name, needed in self.labels_needed(within).items():
            verb = "" if parts else " needs"
            if needed is None:
                text = f"more than {int(self.against_full.budgets[-1]):,}"
            else:
                text = "all" if needed == self.labels else f"{needed:,}"
            parts.append(f"{name}{verb} {text}" + ("" if parts else f" of {self.labels:,} labels"))
        return "; ".join(parts)

    def sentence(self, within: float = 0.01) -> str:
        """Return ``summary`` and what it is about: how near to what accuracy, against which answer, of which tasks."""
        what = "the full-data answer"
        if self.against_gold is not None and self.full_gold_errors is not None:
            known, tasks = self.against_gold.problem.arms, len(self.tasks)
            covered = f"all {tasks:,}" if known == tasks else f"{known:,} of the {tasks:,}"
            accuracy = 1.0 - self.full_gold_errors / known
            what = f"the accuracy of all labels ({accuracy:.3f} against gold for {covered} tasks)"
        return f"To come within {within:g} of {what}, {self.summary(within)}."

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict a policy and budget: policy, budget, runs, mean_errors and standard_error, against gold too.

        mean_gold_errors and gold_standard_error are None without gold.
        """
        rows = self.against_full.rows()
        gold = self.against_gold.rows() if self.against_gold else [dict.fromkeys(COLUMNS)] * len(rows)
        names = dict(zip(GOLD_COLUMNS, COLUMNS[-2:], strict=True))
        return [row | {name: other[key] for name, key in names.items()} for row, other in zip(rows, gold, strict=True)]

    def to_csv(self) -> str:
        """Return the rows as CSV, with a header; what is not known is an empty field."""
        return as_csv((*COLUMNS, *GOLD_COLUMNS), self.rows())

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return a figure of the panels side by side, and write it to a path if one is given: .svg, .png or .pdf.

        Raises InvalidInputError for another ending or a file that cannot be written, MissingDependencyError without
        matplotlib.
        """
        from cutline.plotting import regret_figure
        from cutline.plotting.saving import drawn

        return drawn(lambda: regret_figure(self.panels()), path)

    def panels(self) -> dict[str, RegretCurves]:
        """Return what ``plotting.regret_figure`` draws: errors against the full-data answer and against gold."""
        full = {"against the full-data answer": self.against_full}
        return full | ({"against gold": self.against_gold} if self.against_gold else {})


def check_within(within: float) -> float:
    """Return the share of the tasks; raise InvalidInputError unless 0 <= within < 1."""
    if not 0.0 <= within < 1.0:
        raise InvalidInputError(f"within is {within}; it must be a share of the tasks, from 0 to below 1")
    return within
