"""What is decided when results are weighed by who gave them, and how often each worker is right."""

import math
from dataclasses import dataclass

from cutline.campaign.results import Decision
from cutline.checks import check_whole


@dataclass(frozen=True, slots=True)
class WorkerRates:
    """How often a worker is right, as the answers of all show it.

    ``name`` is None for all who gave none, together. ``answers``: how many there are. ``right_on_no`` and
    ``right_on_yes``: how often the worker is right on arms that are truly below, and above; ``on_no`` and ``on_yes``:
    between what that is with the confidence asked for. All four are None for a worker who is left out.
    """

    name: str | None
    answers: int
    right_on_no: float | None
    on_no: tuple[float, float] | None
    right_on_yes: float | None
    on_yes: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Weighed:
    """What ``Campaign.weigh`` returns.

    ``decisions``: one for each arm, in which ``above`` is the likelier answer and ``wrong`` the probability that it is
    not the truth; what is known beforehand is never wrong. The rest of each speaks of the rewards as they are, ``mean``
    of the share of yes. ``workers``: whoever gave most answers first. ``tells``: whether the answers tell workers
    apart; if not, all count alike. ``mistaken``: the share of arms that the crowd is taken to have wrong together.
    """

    decisions: tuple[Decision, ...]
    workers: tuple[WorkerRates, ...]
    tells: bool
    mistaken: float

    @property
    def expected_errors(self) -> float:
        """The sum of ``wrong`` over all arms."""
        return math.fsum(item.wrong for item in self.decisions)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences that whoever reads the decisions should know."""
        count = sum(item.right_on_yes is not None for item in self.workers)
        whom = "1 worker" if count == 1 else f"{count:,} workers"
        said = f"{whom} weighed: {self.expected_errors:.2f} wrong decisions are to be expected"
        if self.tells:
            return (said,)
        return (said, "the answers agree no more than those of a crowd that guesses, so that all workers count alike")

    def nearest(self, n: int | None) -> list[Decision]:
        """Return the n decisions that are most likely to be wrong, these first; None: all, in the order of the arms.

        Raises InvalidInputError unless n >= 1.
        """
        if n is None:
            return list(self.decisions)
        return sorted(self.decisions, key=lambda item: -item.wrong)[: check_whole("nearest", n, 1)]
