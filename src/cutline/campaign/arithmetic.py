"""The arithmetic of a campaign: rewards as whole numbers, the index with pulls in flight, the probability of error.

Rewards are kept as whole billionths, and probabilities of error as whole 10^-12ths. Sums of whole numbers do not
depend on the order in which they are added up, nor on the database, and a running sum never drifts.
"""

import json
import math
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cutline.campaign.checks import check_reward
from cutline.campaign.settings import Settings
from cutline.errors import InvalidInputError
from cutline.policies import LearningPolicy, tally
from cutline.policies.policy import Parameters
from cutline.threshold import is_above

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cutline.beliefs.knowledge import Knowledge

Record: TypeAlias = tuple[int, int, int, int]
"""Pulls, total, squares and evidence; the last is 0 where workers count alike."""

NOTHING = (0, 0, 0, 0)
"""The record of an arm without results."""

Index: TypeAlias = Callable[[int, int, int, int], float]
"""The index of an arm with these pulls, total, pulls in flight and evidence."""

Whole: TypeAlias = "NDArray[np.int64]"
Truths: TypeAlias = "NDArray[np.bool_]"
Floats: TypeAlias = "NDArray[np.float64]"

UNIT = 10**9
"""A reward of 1 in the units in which rewards are kept."""

DOUBT = 10**12
"""A probability of 1 in the units in which probabilities of error are kept."""

FIRST = -math.inf
"""Index of an arm that comes before all others: the policy pulls each arm once to begin with."""

_FLAT = (1.0, 1.0)
"""The a and b of the Beta prior while nothing has been learnt."""

_RECORDS = 10_000

_EQUAL = 1e-9
"""Probabilities that differ by less are taken to be equal: rounding must not decide."""

_EVER = 1e15
"""More pulls than any campaign has."""

CLOSED = math.inf
"""Index of an arm that has, or will have with what is in flight, as many results as it may have."""


def to_units(reward: Any) -> int:
    """Return a reward in billionths; raise InvalidInputError unless it is a boolean or a number in [0, 1]."""
    return round(check_reward(reward) * UNIT)


def written(units: int) -> str:
    """Write a reward for a message: 1, not 1.0."""
    return f"{units / UNIT:.9g}"


def square(units: int) -> int:
    """Return the square of a reward in billionths, in billionths."""
    return (units * units + UNIT // 2) // UNIT


def whole_or_none(pulls: float) -> int | None:
    """Return a number of pulls as a whole number, None for more than there ever are."""
    return math.ceil(pulls) if pulls < _EVER else None


class Learnt(NamedTuple):
    """What was learnt from the records of all arms.

    ``knowledge``: the prior and the spread of rewards, as JSON has them, None if nothing was. ``policy``: what a
    policy that learns has learnt, ``policy_from`` so many results. ``crowd``: what is known of the workers, as
    ``weights.Weights`` has it.
    """

    knowledge: Any = None
    policy: tuple[float, ...] | None = None
    policy_from: int = 0
    crowd: Any = None

    def as_text(self) -> str:
        """Write it for ``from_text``."""
        return json.dumps({name: value for name, value in self._asdict().items() if name != "crowd" or value})

    @classmethod
    def from_text(cls, text: str) -> "Learnt":
        """Read what ``as_text`` wrote."""
        read = json.loads(text)
        policy = None if read["policy"] is None else tuple(read["policy"])
        return cls(read["knowledge"], policy, read["policy_from"], read.get("crowd"))


class Verdict(NamedTuple):
    """What is decided of a record: whether it is above, and the probability that this is wrong, in whole 10^-12ths."""

    above: bool
    doubt: int


class Arithmetic:
    """Index, decision and probability of error of an arm's record; totals and squares are in billionths.

    ``learnt``: what was learnt from all arms.
    """

    is_weighed = False
    """Whether results are weighed by who gave them."""

    excluded: frozenset[bytes] = frozenset()
    """The digests of the workers whose results weigh nothing."""

    least_wrong = 0.0
    """How probably the decision of an arm is wrong however many results it has."""

    def __init__(self, settings: Settings, learnt: Learnt) -> None:
        policy = settings.policy
        self.threshold = settings.threshold
        self._policy = policy
        self._policy_index = policy.index
        self._first = policy.pulls_each_arm_first
        self._most = settings.max_pulls_per_arm or sys.maxsize
        self._prior, self._learnt = settings.prior or _FLAT, learnt
        self._by_mean = settings.decide == "mean"
        self._above, self._below = Fraction(repr(settings.threshold)).as_integer_ratio()
        # many arms have one record, above all at the beginning
        self.index: Index = lru_cache(_RECORDS)(self._index)
        self._verdicts: dict[Record, Verdict] = {}

    def prepare(self) -> None:
        """Load and compute all that every record needs, before a lock is held."""
        _ = self._parameters, self._knowledge

    def weigh(self, worker: bytes | None, units: int) -> int:
        """Return what a reward by the worker of this digest adds to the evidence on its arm."""
        return 0

    def indices(self, worker: bytes | None) -> tuple[Index, Index]:
        """Return the index of arms, and that for a worker; the same where workers count alike, or for None."""
        return self.index, self.index

    def _index(self, pulls: int, total: int, in_flight: int, evidence: int) -> float:
        """Return the policy's index, pulls in flight counted as if they will repeat the arm's mean.

        While the arm has no rewards they count as the threshold. FIRST and CLOSED see above.
        """
        expected = pulls + in_flight
        if expected >= self._most:
            return CLOSED
        if expected == 0 and self._first:
            return FIRST
        if in_flight == 0:
            reward = total / UNIT
        elif pulls:
            reward = total * expected / (pulls * UNIT)
        else:
            reward = self._above * in_flight / self._below
        try:
            value = float(self._policy_index(float(expected), reward, self.threshold, *self._parameters))
        except Exception as error:  # a policy from elsewhere may raise anything
            what = f"{type(error).__name__}: {' '.join(str(error).split())}"
            raise InvalidInputError(
                f"the index of policy {self._policy} must be a number for every record; with {expected} pulls, total "
                f"{reward:.9g} and threshold {self.threshold} it fails with {what}"
            ) from error
        # CLOSED is not for a policy to say, and no database keeps NaN, which overflow makes of extreme parameters
        return min(value, sys.float_info.max) if value == value else sys.float_info.max

    @cached_property
    def _parameters(self) -> Parameters:
        if not isinstance(self._policy, LearningPolicy):
            return self._policy.parameters()
        learnt = self._policy.learn(tally(), self.threshold) if self._learnt.policy is None else self._learnt.policy
        return (self._policy.table(learnt, self.threshold),)

    @cached_property
    def _knowledge(self) -> "Knowledge":
        from cutline.beliefs.knowledge import Beta, Knowledge  # SciPy takes longer to load than an ask, without need

        known = self._learnt.knowledge
        return Knowledge(Beta(*self._prior)) if known is None else Knowledge.from_json(known)

    def decide(self, pulls: Whole, totals: Whole, squares: Whole, evidence: Whole) -> tuple[Truths, Floats]:
        """Return whether arms with such records are above, and the probabilities that this is wrong, shape (R,).

        The likelier side is taken, the upper one between equal ones. Where the mean of the rewards decides, free of
        rounding, that is so only without rewards.
        """
        import numpy as np

        below, above = self._knowledge.sides(pulls, totals / UNIT, squares / UNIT, self.threshold)
        likelier = above >= below - _EQUAL
        if not self._by_mean:
            return likelier, np.minimum(below, above)
        by_mean = np.where(pulls > 0, is_above(np.maximum(pulls, 1) * float(UNIT), totals, self.threshold), likelier)
        return by_mean, np.where(by_mean, below, above)

    @property
    def caution(self) -> float:
        """What expected errors are multiplied by before they are held against a target."""
        return (self._learnt.knowledge or {}).get("caution") or 1.0

    def more_pulls(self, errors: float, target: float, arms: int) -> int | None:
        """Return about how many pulls it takes from expected errors to where a target is reached, None if none do."""
        return whole_or_none(self._knowledge.more_pulls(errors, target / self.caution, self.threshold, arms))

    def verdicts(self, records: list[Record]) -> list["Verdict"]:
        """Return what is decided of each of these records."""
        known = self._verdicts
        if len(known) > _RECORDS:
            known = self._verdicts = {}
        import numpy as np

        new = list({record for record in records if record not in known})
        if new:
            above, wrong = self.decide(*np.array(new, dtype=np.int64).T)
            doubts = np.rint(wrong * DOUBT).astype(np.int64).tolist()
            known.update(zip(new, map(Verdict, above.tolist(), doubts), strict=True))
        return [known[record] for record in records]
