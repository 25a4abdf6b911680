"""The decisions of a campaign, as a list that is a table too."""

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypedDict

from cutline.campaign.results import Decision, in_words
from cutline.rows import Rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DECISION_COLUMNS = (
    "arm",
    "pulls",
    "in_flight",
    "mean",
    "decision",
    "wrong",
    "hoeffding",
    "low",
    "high",
    "payload",
    "probability",
    "known",
)


class PageOptions(TypedDict, total=False):
    """Which decisions of many ``Campaign.decisions`` returns, and in which order."""

    order: str
    """Their order: "given", by "wrong", "id", "mean" or "pulls", the smallest first (undecided arms before all means),
    or with a minus, as "-wrong", exactly the other way round."""
    limit: int | None
    """How many there are on the page."""
    after: str | None
    """The id of the last arm on the page before."""
    only: str | None
    """Those that are "above", "below" or "undecided"."""
    search: str | None
    """Those whose id contains this text, at most 10,000 letters; A to Z in either case are the same."""


class Decisions(list[Decision], Rows):
    """A list of Decision, and a table: shown as one in a notebook, as a DataFrame, as a figure.

    ``threshold`` is what the arms are held against.
    """

    def __init__(self, decisions: Iterable[Decision], threshold: float) -> None:
        super().__init__(decisions)
        self.threshold = threshold

    def rows(self) -> list[dict[str, Any]]:
        """Return the fields of each Decision, with ``decision`` in words instead of ``above``."""
        return list(decision_rows(self))

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return a figure of the means and intervals, and write it to a path if one is given: .svg, .png or .pdf.

        Raises InvalidInputError for another ending or a file that cannot be written, MissingDependencyError without
        matplotlib.
        """
        from cutline.campaign.figure import decisions_figure
        from cutline.plotting.saving import drawn

        return drawn(lambda: decisions_figure(self, self.threshold), path)


def decision_rows(decisions: Iterable[Decision]) -> Iterator[dict[str, Any]]:
    """Yield decisions as dicts: the fields of a Decision, with ``decision`` in words instead of ``above``."""
    for item in decisions:
        values = {name: getattr(item, name) for name in DECISION_COLUMNS if name != "decision"}
        yield {name: values.get(name, in_words(item)) for name in DECISION_COLUMNS}
