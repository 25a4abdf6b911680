"""Where a run gets its pulls from, and how it tells them: one at a time, or in batches."""

import math
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from typing import NamedTuple, Protocol, TypeAlias, runtime_checkable

from cutline.campaign.results import Pull, Pulls, Reason, Status
from cutline.campaign.running.batch_sizes import Sizes
from cutline.errors import ConflictError

AT_A_TIME = 50
"""So many single measurements are started at a time; in between, results are told and signals obeyed."""


Answer: TypeAlias = tuple[Pull, float] | tuple[Pull, float, str]
"""A pull, its reward, and the note that comes with it where there is one."""


class Runnable(Protocol):
    """What a run needs of a campaign; each method does what Campaign's does."""

    def ask(self, n: int = 1, *, lease: float, without: Collection[str]) -> Pulls:
        """Lease up to ``n`` pulls, of other arms than ``without``."""
        ...

    def tell(self, pull: Pull, reward: float, note: str | None = None) -> object:
        """Record the reward of a pull; raise ConflictError if its place has gone to another."""
        ...

    def tell_many(self, rewards: Iterable[Answer]) -> object:
        """Record many rewards, all or none; raise ConflictError if the place of one has gone to another."""
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


@runtime_checkable
class Learns(Protocol):
    """A campaign that learns from what it is told, and can put that off."""

    def learning_later(self) -> AbstractContextManager[Callable[[], None]]:
        """Have it learn nothing while this goes on, until what is yielded is called."""
        ...


@runtime_checkable
class Retires(Protocol):
    """A campaign whose arms can be retired."""

    def change(self, *, retire: Iterable[str]) -> object:
        """Ask for these arms no more, and leave them out of what is decided."""
        ...


class Taken(NamedTuple):
    """Batches to be measured; why there are not more of them; whether more can be had at once."""

    batches: list[Sequence[Pull]]
    reason: Reason | None
    more: bool


class Source(Protocol):
    """What a run gets its pulls from."""

    tells_when_stopped: bool
    """Whether rewards that come back from what has been stopped can be told."""

    asks_ahead: bool
    """Whether pulls may be leased that wait for a place to be free."""

    def take(self, places: int, lease: float, without: Collection[str]) -> Taken:
        """Lease what at most ``places`` measurements at a time are to measure next."""
        ...

    def note(self, batch: Sequence[Pull], seconds: float) -> str | None:
        """Take in how long a batch has taken; return what is to be said of it."""
        ...


class Singles:
    """One pull at a time, for what measures one arm."""

    tells_when_stopped = False
    asks_ahead = True

    def __init__(self, campaign: Runnable, remark: Callable[[], str | None] | None = None) -> None:
        """``remark`` returns, once, what makes the measurements look wrong as a whole."""
        self._campaign = campaign
        self._remark = remark

    def take(self, places: int, lease: float, without: Collection[str]) -> Taken:
        """See Source."""
        pulls = self._campaign.ask(min(places, AT_A_TIME), lease=lease, without=without)
        return Taken([[pull] for pull in pulls], pulls.reason, len(pulls) == AT_A_TIME < places)

    def note(self, batch: Sequence[Pull], seconds: float) -> str | None:
        """See Source."""
        return self._remark() if self._remark else None


class Batches:
    """Batches of distinct arms, for what measures many arms at once."""

    tells_when_stopped = True
    asks_ahead = False

    def __init__(
        self, campaign: BatchRunnable, sizes: Sizes, ends: float, expect: Callable[[int], object] | None = None
    ) -> None:
        """``ends``: when the run is to end, as time.monotonic counts.

        ``expect`` is told with every batch about how many there will be after it.
        """
        self._campaign = campaign
        self._sizes = sizes
        self._ends = ends
        self._expect = expect

    def take(self, places: int, lease: float, without: Collection[str]) -> Taken:
        """See Source."""
        left = self._campaign.status().left
        size = self._sizes.next(left, self._ends - time.monotonic())
        pulls = self._campaign.ask(size, lease=lease, without=without, distinct=True)
        if self._expect:
            self._expect(math.ceil((left - len(pulls)) / size))
        return Taken([pulls] if pulls else [], pulls.reason, bool(pulls) and places > 1)

    def note(self, batch: Sequence[Pull], seconds: float) -> str | None:
        """See Source."""
        self._sizes.note(len(batch), seconds)
        return None


def tell_all(campaign: Runnable, rewards: Sequence[Answer]) -> dict[str, str]:
    """Record rewards; return what is to be said of those that came too late, by the ids of their pulls."""
    with suppress(ConflictError):
        campaign.tell_many(rewards)
        return {}
    late = {}
    for answer in rewards:
        try:
            campaign.tell(*answer)
        except ConflictError as error:
            late[answer[0].id] = str(error)
    return late
