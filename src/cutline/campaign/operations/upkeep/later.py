"""Learning later: whoever asks and tells says himself when there is time for it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.learnt import State
from cutline.campaign.database.store import Store
from cutline.campaign.operations.upkeep import learning


@contextmanager
def put_off(store: Store, campaign: Identity, clock: Clock) -> Iterator[Callable[[], None]]:
    """Have asks and tells learn nothing while this goes on; yield what does so when it is called.

    The schedule is the same. Only the tell by which the campaign is finished learns at once, since what all results say
    may be that it is not.
    """
    later = _Later(store, campaign, clock)
    campaign.keeper = later.note
    try:
        yield later.catch_up
    finally:
        campaign.keeper = None
    later.catch_up()


class _Later:
    """The last state of a campaign that says that there is something to learn, or to bring up to date."""

    def __init__(self, store: Store, campaign: Identity, clock: Clock) -> None:
        self._store, self._campaign, self._clock = store, campaign, clock
        self._state: State | None = None

    def note(self, state: State, told: bool) -> None:
        """Take the state after an ask or a tell."""
        if told and learning.has_ended(self._store, self._campaign, state):
            learning.keep_up(self._store, self._campaign, self._clock, told=True)
        elif learning.is_behind(state):
            self._state = state

    def catch_up(self) -> None:
        """Do what the last state says, once."""
        state, self._state = self._state, None
        if state is not None:
            learning.keep_up(self._store, self._campaign, self._clock, state)
