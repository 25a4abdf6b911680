"""What a campaign is made of and what it hands out: frozen rows."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from cutline.campaign.settings import Settings

Payload: TypeAlias = Any
"""What json.dumps can write, or None for nothing."""


class Reason(StrEnum):
    """Why an ask got fewer pulls than it wanted. The first three say that the campaign has finished."""

    TARGET_REACHED = "target reached"
    """The expected number of errors is at most the target."""
    BUDGET_SPENT = "budget spent"
    """Every pull of the budget has its reward."""
    ARMS_EXHAUSTED = "arms exhausted"
    """Every arm has as many results as an arm may have."""
    ALL_IN_FLIGHT = "all in flight"
    """What is left of the budget or of the arms is leased, or the arms still follow a change: ask again."""
    NOTHING_FOR_WORKER = "nothing for this worker"
    """Arms are open, but this worker has had each of them, or they are in this answer and no arm may be in it twice."""

    @property
    def finished(self) -> bool:
        """Whether the campaign has finished, as far as can be told now."""
        return self in (Reason.TARGET_REACHED, Reason.BUDGET_SPENT, Reason.ARMS_EXHAUSTED)


class Pull(NamedTuple):
    """Leave to measure ``arm`` once, until ``expires`` (seconds since 1970 in UTC, as time.time() counts).

    ``id`` is text without spaces that any process can tell the reward with; ``payload`` is the arm's.
    """

    id: str
    arm: str
    payload: Payload
    worker: str | None
    expires: float


class Pulls(tuple[Pull, ...]):
    """What an ask got: a tuple of pulls, and ``reason``, which is None if they are as many as were asked for."""

    reason: Reason | None

    def __new__(cls, pulls: Iterable[Pull], reason: Reason | None) -> "Pulls":
        made = super().__new__(cls, pulls)
        made.reason = reason
        return made

    def __reduce__(self) -> tuple[type["Pulls"], tuple[tuple[Pull, ...], Reason | None]]:
        return Pulls, (tuple(self), self.reason)


class Observation(NamedTuple):
    """A result from elsewhere: a reward in [0, 1] of an arm, who gave it, a key that says it is this one, a note."""

    arm: str
    reward: float
    worker: str | None = None
    key: str | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """What the campaign says of one arm now.

    ``mean`` is the average of the ``pulls`` rewards, results from elsewhere among them, None if there are none.
    ``above`` is True if the arm's true mean is more likely above the threshold than below, or with the rule "mean" if
    ``mean`` is at or above it; else False, and None (undecided) without rewards that count. ``wrong`` is the
    probability that this is wrong, given its rewards and the prior, which is learnt from all arms unless the campaign
    has its own; of an undecided arm, the probability that the likelier side is the wrong one. ``probability`` is that
    of the arm being above. Where workers are weighed, "above" means that the true answer to the arm is yes, which
    the weights of its results decide, or that this is ``known`` beforehand. ``hoeffding`` is the paper's bound of the
    probability of error with the gap seen, min(1, 2 exp(-2 T_i gap_i^2)) (Section 3), 1 without rewards. ``low`` and
    ``high`` bound the true mean with the confidence asked for, at all times together and under any rule of asking.
    """

    arm: str
    payload: Payload
    pulls: int
    in_flight: int
    mean: float | None
    above: bool | None
    wrong: float
    hoeffding: float
    low: float
    high: float
    retired: bool = False
    probability: float = 0.5
    known: bool = False


def in_words(decision: Decision) -> str:
    """Return "above", "below" or "undecided"."""
    return "undecided" if decision.above is None else "above" if decision.above else "below"


@dataclass(frozen=True, slots=True)
class Result:
    """One reward that the campaign holds.

    ``key`` identifies it in any campaign: the id of its pull, or the key that a result from elsewhere came with, if
    it came with one. ``observed`` says that it came from elsewhere. ``note`` is what was kept with it, if anything was.
    """

    arm: str
    reward: float
    worker: str | None
    key: str
    observed: bool
    note: str | None = None


class PullState(StrEnum):
    """What has become of a pull, or of a result from elsewhere."""

    IN_FLIGHT = "in flight"
    """It is leased."""
    TOLD = "told"
    """It has its reward."""
    ABANDONED = "abandoned"
    """It was given back."""
    LEASE_ENDED = "lease ended"
    """Nobody told it in time; a late answer counts while there is room for it."""
    OBSERVED = "observed"
    """It came from elsewhere."""
    WITHDRAWN = "withdrawn"
    """It came from elsewhere, and counts no more since a corrected file does not have it."""


@dataclass(frozen=True, slots=True)
class PullRecord:
    """A pull as it stands: its arm and payload, its worker, what has become of it, and the reward that it was told."""

    id: str
    arm: str
    payload: Payload
    worker: str | None
    state: PullState
    reward: float | None


class Answer(NamedTuple):
    """A reward that somebody gave, with its note, and when (None: an older Cutline did not write it down)."""

    time: float | None
    worker: str | None
    reward: float
    note: str | None


@dataclass(frozen=True, slots=True)
class PastPull:
    """A pull of an arm, or a result from elsewhere, and what has become of it.

    ``key`` is as in Result. ``time`` is when it was told, observed or abandoned, or else asked for, in seconds since
    1970; None for what an older Cutline wrote. ``expires``: when its lease ends, if it is in flight. The last of the
    ``answers`` counts, those before it have been corrected.
    """

    key: str
    state: PullState
    worker: str | None
    time: float | None
    expires: float | None
    answers: tuple[Answer, ...]

    @property
    def reward(self) -> float | None:
        """The reward that counts, None if there is none."""
        return self.answers[-1].reward if self.answers else None

    @property
    def note(self) -> str | None:
        """The note of the reward that counts."""
        return self.answers[-1].note if self.answers else None


@dataclass(frozen=True, slots=True)
class ArmHistory:
    """What the campaign says of an arm, and its pulls, in the order in which they were asked for or observed."""

    decision: Decision
    pulls: tuple[PastPull, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a campaign after it was made: ``time`` (seconds since 1970 in UTC), and what it was before and after.

    ``what`` is the name of a setting, with its values as JSON has them (a policy as text); "name"; "copied from", with
    the name of the other campaign ``after``; or "arms added", "arms retired", "arms brought back", "payloads replaced",
    with a dictionary ``after``: their number as ``count``, the ids of the first ten as ``first``.
    """

    time: float
    what: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Worker:
    """Somebody who works on a campaign.

    ``answers`` of the worker count, and ``agreeing`` of these are on the same side of the threshold as the decision of
    their arm. ``in_flight`` pulls are leased. ``last_seen`` is when the worker last asked, told, gave back or
    corrected, in seconds since 1970; None if only an older Cutline knew.
    """

    name: str
    answers: int
    agreeing: int
    in_flight: int
    last_seen: float | None

    @property
    def agreement(self) -> float | None:
        """The share of the answers that agree, None without answers."""
        return self.agreeing / self.answers if self.answers else None


@dataclass(frozen=True, slots=True)
class ProgressPoint:
    """Where a campaign stood at a ``time``, in seconds since 1970.

    ``spent`` pulls had been told, ``observed`` results had come from elsewhere, ``decided`` arms had a result, and so
    many ``expected_errors`` there were.
    """

    time: float
    spent: int
    observed: int
    decided: int
    expected_errors: float


@dataclass(frozen=True, slots=True)
class Status:
    """Where a campaign stands.

    ``spent`` pulls have their reward, ``in_flight`` are leased, ``left`` can still be asked for, and the three add
    up to the budget. ``observed`` results came from elsewhere and cost no budget. ``expected_errors`` is the sum
    over all arms of the probability of being wrong (see Decision). ``finished`` is None while there is work to do.
    ``more_needed`` is about how many more pulls it takes until the target is reached, None without a target, if no
    number is enough, or if the campaign has finished; while nothing has been learnt it takes means to be spread evenly
    from 0 to 1. ``retired`` arms are not among ``arms``. ``least_errors`` are to be expected however many pulls there
    are: where workers are weighed, on arms that they have wrong together; see ``Weighed.mistaken``. ``known_answers``:
    of so many of the ``arms`` the answer is known beforehand.
    """

    name: str
    settings: Settings
    arms: int
    spent: int
    in_flight: int
    left: int
    observed: int
    expected_errors: float
    finished: Reason | None
    more_needed: int | None = None
    retired: int = 0
    least_errors: float = 0.0
    known_answers: int = 0

    @property
    def never_enough(self) -> bool:
        """Whether there is a target that no number of pulls reaches, as far as is known."""
        target = self.settings.target_errors
        if target is None or self.finished is not None:
            return False
        return target <= self.least_errors or (self.more_needed is None and target < self.expected_errors)

    @property
    def warning(self) -> str | None:
        """What is to be said if the target cannot be reached with what is left of the budget, else None."""
        target = self.settings.target_errors
        what = "" if target is None else f"as things stand, a target of {target:g} expected errors is out of reach"
        if self.never_enough and self.least_errors:
            return (
                f"{what}, however many pulls there are: workers are taken to be wrong together on about "
                f"{self.least_errors:.1f} arms; answers that are known (--known) can show that it is fewer"
            )
        if self.never_enough:
            return f"{what}, however many pulls there are"
        if self.more_needed is None or self.more_needed <= self.left:
            return None
        about = round(self.more_needed, 1 - int(math.log10(self.more_needed)))
        return f"{what}: it takes about {about:,} more pulls, and {self.left:,} are left"
