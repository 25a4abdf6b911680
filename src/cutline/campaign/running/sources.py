"""Where a run gets its pulls from and how it measures and tells them: one at a time, or in batches."""

import signal
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import suppress
from typing import NamedTuple, Protocol, TypeAlias

from cutline.campaign.checks import check_reward
from cutline.campaign.results import Pull, Pulls, Reason, Status
from cutline.campaign.running.batch_command import BatchCommand
from cutline.campaign.running.batch_sizes import Sizes
from cutline.campaign.running.command import Command
from cutline.campaign.running.outcomes import BatchResult, Kind, Trouble
from cutline.errors import ConflictError, InvalidInputError, MeasurementError

Measure: TypeAlias = Callable[[Pull], float]
"""Measures ``pull.arm`` once and returns the reward: a number in [0, 1] or a boolean."""

MeasureBatch: TypeAlias = Callable[[Sequence[Pull]], Iterable[float | None]]
"""Measures each arm of a batch once and returns the rewards in its order; None: there is none for this arm."""

AT_A_TIME = 50
"""So many single measurements are started at a time; in between, results are told and signals obeyed."""


class Runnable(Protocol):
    """What a run needs of a campaign; each method does what Campaign's does."""

    def ask(self, n: int = 1, *, lease: float, without: Collection[str]) -> Pulls:
        """Lease up to ``n`` pulls, of other arms than ``without``."""
        ...

    def tell(self, pull: Pull, reward: float) -> object:
        """Record the reward of a pull; raise ConflictError if its place has gone to another."""
        ...

    def abandon(self, pull: Pull) -> None:
        """Give a pull back without a reward; raise ConflictError if it has been told."""
        ...

    def extend(self, pull: Pull, lease: float) -> object:
        """Make a lease end ``lease`` seconds from now; raise ConflictError if it has ended."""
        ...

    def status(self) -> Status:
        """Return where the campaign stands."""
        ...


class BatchRunnable(Runnable, Protocol):
    """What a run in batches needs of a campaign."""

    def ask(self, n: int = 1, *, lease: float, without: Collection[str], distinct: bool = False) -> Pulls:
        """Lease up to ``n`` pulls, of other arms than ``without``; ``distinct``: of n different arms."""
        ...

    def tell_many(self, rewards: Iterable[tuple[Pull, float]]) -> object:
        """Record many rewards, all or none; raise ConflictError if the place of one has gone to another."""
        ...


class Taken(NamedTuple):
    """Batches to be measured; why there are not more of them; whether more can be had at once."""

    batches: list[Sequence[Pull]]
    reason: Reason | None
    more: bool


class Source(Protocol):
    """What a run gets its pulls from, measures them with, and tells them to."""

    tells_when_stopped: bool
    """Whether rewards that come back after ``stop`` can be told."""

    def take(self, places: int, lease: float, without: Collection[str]) -> Taken:
        """Lease what at most ``places`` measurements at a time are to measure next."""
        ...

    def measure(self, batch: Sequence[Pull]) -> BatchResult:
        """Measure a batch; called in a thread of its own."""
        ...

    def tell(self, rewards: Sequence[tuple[Pull, float]]) -> list[str]:
        """Record rewards; return what is to be said of each that came too late."""
        ...

    def note(self, batch: Sequence[Pull], seconds: float) -> str | None:
        """Take in how long a batch has taken; return what is to be said of it."""
        ...

    def stop(self, how: signal.Signals) -> None:
        """Send a signal to what is being measured."""
        ...

    @property
    def can_be_stopped(self) -> bool:
        """Whether ``stop`` ends what is being measured."""
        ...


class Singles:
    """One pull at a time, for a callable or a command that measures one arm."""

    tells_when_stopped = False

    def __init__(self, campaign: Runnable, measure: Measure) -> None:
        self._campaign = campaign
        self._measure = measure
        self._command = measure if isinstance(measure, Command) else None

    def take(self, places: int, lease: float, without: Collection[str]) -> Taken:
        """See Source."""
        pulls = self._campaign.ask(min(places, AT_A_TIME), lease=lease, without=without)
        return Taken([[pull] for pull in pulls], pulls.reason, len(pulls) == AT_A_TIME < places)

    def measure(self, batch: Sequence[Pull]) -> BatchResult:
        """See Source."""
        (pull,) = batch
        try:
            reward = self._measure(pull)
            check_reward(reward)
        except Exception as error:
            return BatchResult(troubles={pull.arm: _trouble(error)})
        return BatchResult(rewards={pull.arm: reward})

    def tell(self, rewards: Sequence[tuple[Pull, float]]) -> list[str]:
        """See Source."""
        return _told_one_by_one(self._campaign, rewards)

    def note(self, batch: Sequence[Pull], seconds: float) -> str | None:
        """See Source."""
        return self._command.remark() if self._command else None

    def stop(self, how: signal.Signals) -> None:
        """See Source."""
        if self._command:
            self._command.stop(how)

    @property
    def can_be_stopped(self) -> bool:
        """See Source."""
        return self._command is not None


class Batches:
    """Batches of distinct arms, for a callable or a command that measures many arms at once."""

    tells_when_stopped = True

    def __init__(
        self, campaign: BatchRunnable, measure: MeasureBatch | BatchCommand, sizes: Sizes, ends: float
    ) -> None:
        """``ends``: when the run is to end, as time.monotonic counts."""
        self._campaign = campaign
        self._measure = measure
        self._command = measure if isinstance(measure, BatchCommand) else None
        self._sizes = sizes
        self._ends = ends

    def take(self, places: int, lease: float, without: Collection[str]) -> Taken:
        """See Source."""
        size = self._sizes.next(self._campaign.status().left, self._ends - time.monotonic())
        pulls = self._campaign.ask(size, lease=lease, without=without, distinct=True)
        return Taken([pulls] if pulls else [], pulls.reason, bool(pulls) and places > 1)

    def measure(self, batch: Sequence[Pull]) -> BatchResult:
        """See Source."""
        if isinstance(self._measure, BatchCommand):
            try:
                return self._measure(batch)
            except OSError as error:  # no place for its report: that is the fault of no arm
                return BatchResult(death=Trouble("crash", _described(error), error))
        try:
            return _listed(batch, self._measure(batch))
        except Exception as error:
            return BatchResult(death=_trouble(error), suspects=[pull.arm for pull in batch])

    def tell(self, rewards: Sequence[tuple[Pull, float]]) -> list[str]:
        """See Source."""
        with suppress(ConflictError):
            self._campaign.tell_many(rewards)
            return []
        return _told_one_by_one(self._campaign, rewards)

    def note(self, batch: Sequence[Pull], seconds: float) -> str | None:
        """See Source."""
        self._sizes.note(len(batch), seconds)
        return None

    def stop(self, how: signal.Signals) -> None:
        """See Source."""
        if self._command:
            self._command.stop(how)

    @property
    def can_be_stopped(self) -> bool:
        """See Source."""
        return self._command is not None


def _listed(batch: Sequence[Pull], returned: Iterable[float | None]) -> BatchResult:
    """Return what a callable has made of a batch; raise MeasurementError if it did not return a reward for each arm."""
    answers = list(returned)
    if len(answers) != len(batch):
        raise MeasurementError(f"{len(answers)} rewards came back for {len(batch)} arms; there must be one for each")
    rewards: dict[str, float] = {}
    troubles: dict[str, Trouble] = {}
    for pull, answer in zip(batch, answers, strict=True):
        if answer is None:
            troubles[pull.arm] = Trouble("missing", "no reward came back")
            continue
        try:
            check_reward(answer)
            rewards[pull.arm] = answer
        except InvalidInputError as error:
            troubles[pull.arm] = _trouble(error)
    return BatchResult(rewards, troubles)


def _told_one_by_one(campaign: Runnable, rewards: Sequence[tuple[Pull, float]]) -> list[str]:
    late = []
    for pull, reward in rewards:
        try:
            campaign.tell(pull, reward)
        except ConflictError as error:
            late.append(str(error))
    return late


def _trouble(error: Exception) -> Trouble:
    ours = isinstance(error, (MeasurementError, InvalidInputError))
    kind: Kind = "timeout" if isinstance(error, TimeoutError) else "crash"
    return Trouble(kind, str(error) if ours else _described(error), error)


def _described(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
