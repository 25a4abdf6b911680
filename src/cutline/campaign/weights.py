"""The arithmetic of a campaign whose workers are weighed: what a result adds to the evidence on its arm.

Weights and evidence are log likelihood ratios in whole billionths, so that sums do not depend on the order of results,
and whoever adds them up anew gets the same to the last digit.
"""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from cutline.beliefs.evidence import MISTAKEN, RATE, asking_index, index_for, log_odds
from cutline.campaign.arithmetic import (
    CLOSED,
    FIRST,
    UNIT,
    Arithmetic,
    Floats,
    Index,
    Learnt,
    Truths,
    Whole,
    whole_or_none,
)
from cutline.campaign.settings import Settings

if TYPE_CHECKING:
    from cutline.beliefs.workers import Crowd

Weight = tuple[int, int]
"""What a 0 and a 1 by a worker weigh, the first as a rule below 0."""

_NOTHING = (0, 0)
_BEFORE = round(UNIT * math.log(RATE / (1.0 - RATE)))


class Weights(NamedTuple):
    """What is known of the workers of a campaign.

    ``workers``: the weights by name, None standing for all results without a worker. ``anybody``: those of a worker
    who has not been seen. ``prior``: the evidence on an arm without results. ``mistaken``: the share of arms that the
    crowd has wrong together. ``tells``: whether the results tell workers apart. ``correlation``, ``sureness``: see
    ``Crowd``; what was learnt by a Cutline of before has no sureness, which was 1.
    """

    workers: dict[str | None, Weight]
    anybody: Weight = (-_BEFORE, _BEFORE)
    prior: int = 0
    mistaken: float = MISTAKEN
    tells: bool = True
    correlation: float = 0.0
    sureness: float = 1.0

    @classmethod
    def of_crowd(cls, crowd: "Crowd", names: list[str | None]) -> "Weights":
        """Return the weights of a crowd whose workers have these names."""
        *each, anybody = [(round(no * UNIT), round(yes * UNIT)) for no, yes in crowd.weights().tolist()]
        workers = dict(zip(names, each, strict=True))
        doubts = (crowd.mistaken, crowd.tells, crowd.correlation, crowd.sureness)
        return cls(workers, anybody, round(crowd.prior * UNIT), *doubts)

    def as_json(self) -> dict[str, Any]:
        """Return it as JSON has it, for ``from_json``."""
        return self._asdict() | {"workers": [[name, *weight] for name, weight in self.workers.items()]}

    @classmethod
    def from_json(cls, read: dict[str, Any]) -> "Weights":
        """Read what ``as_json`` returned."""
        workers = {name: (no, yes) for name, no, yes in read["workers"]}
        return cls(**(read | {"workers": workers, "anybody": tuple(read["anybody"])}))


class WeighedArithmetic(Arithmetic):
    """Index, decision and probability of error of an arm whose results are weighed by who gave them.

    ``digest``: what a worker's name is looked up by.
    """

    is_weighed = True

    def __init__(self, settings: Settings, learnt: Learnt, digest: Callable[[str], bytes]) -> None:
        super().__init__(settings, learnt)
        crowd = learnt.crowd
        self._crowd = Weights({}) if crowd is None else Weights.from_json(crowd)
        self.least_wrong = self._crowd.mistaken
        self._weights = {None if name is None else digest(name): each for name, each in self._crowd.workers.items()}
        self.excluded = frozenset(map(digest, settings.excluded))
        self._weights |= dict.fromkeys(self.excluded, _NOTHING)
        self.index = self._index  # hardly two arms have one record: there is nothing to keep

    def prepare(self) -> None:
        """Load what every record needs, before a lock is held."""
        from cutline.beliefs.workers import wrong_side

        wrong_side(0.0, self._crowd.mistaken, self._crowd.sureness)

    def weigh(self, worker: bytes | None, units: int) -> int:
        """Return what a reward by the worker of this digest adds to the evidence on its arm."""
        no, yes = self._weights.get(worker, self._crowd.anybody)
        return (no * (UNIT - units) + yes * units + UNIT // 2) // UNIT

    def _index(self, pulls: int, total: int, in_flight: int, evidence: int) -> float:
        """Return the index of the evidence, pulls in flight counted as if they will repeat what a result added.

        While the arm has no results they count as adding nothing. FIRST and CLOSED see ``arithmetic``.
        """
        expected = pulls + in_flight
        if expected >= self._most:
            return CLOSED
        return asking_index(self._expected(pulls, in_flight, evidence), expected) if expected else FIRST

    def indices(self, worker: bytes | None) -> tuple[Index, Index]:
        """Return the index of arms, and that for a worker: the smallest is where what he will answer is worth most."""
        if worker is None:
            return self.index, self.index
        no, yes = (each / UNIT for each in self._weights.get(worker, self._crowd.anybody))

        def index(pulls: int, total: int, in_flight: int, evidence: int) -> float:
            expected = pulls + in_flight
            if expected >= self._most or not expected:
                return self._index(pulls, total, in_flight, evidence)
            part = 1.0 + expected * self._crowd.correlation  # of what it weighs, the label will add one
            return index_for(self._expected(pulls, in_flight, evidence), expected, no / part, yes / part)

        return self.index, index

    def _expected(self, pulls: int, in_flight: int, evidence: int) -> float:
        expected, crowd = pulls + in_flight, self._crowd
        weight = evidence * expected / (max(pulls, 1) * UNIT)
        return float(log_odds(crowd.prior / UNIT, weight, expected, crowd.correlation))

    def decide(self, pulls: Whole, totals: Whole, squares: Whole, evidence: Whole) -> tuple[Truths, Floats]:
        """Return whether yes is the likelier truth of arms, between equal ones it is, and how probably it is not."""
        import numpy as np

        from cutline.beliefs.workers import likelier, wrong_side  # SciPy takes longer to load than an ask, without need

        crowd = self._crowd
        odds = log_odds(crowd.prior / UNIT, evidence / UNIT, np.maximum(pulls, 1), crowd.correlation)
        return likelier(odds), wrong_side(odds, crowd.mistaken, crowd.sureness)

    def more_pulls(self, errors: float, target: float, arms: int) -> int | None:
        """Return about how many pulls it takes from expected errors to a target below, None if none do.

        As if all arms were equally sure, and the results of the crowd added what they do on average.
        """
        no, yes = (each / UNIT for each in self._crowd.anybody)
        right = 1.0 / (1.0 + math.exp(-0.5 * (yes - no)))
        gain = (2.0 * right - 1.0) * 0.5 * (yes - no) * self._crowd.sureness
        aim = self._sure(target / arms)
        if gain <= 0.0 or aim == math.inf:
            return None
        return whole_or_none(arms * max(aim - self._sure(errors / arms), 0.0) / gain)

    def _sure(self, wrong: float) -> float:
        """Return the log odds of being right by chance that leave this probability of error; infinity if none do."""
        if wrong <= self.least_wrong:
            return math.inf
        by_chance = (wrong - self.least_wrong) / (1.0 - 2.0 * self.least_wrong)
        return math.log((1.0 - by_chance) / by_chance)
