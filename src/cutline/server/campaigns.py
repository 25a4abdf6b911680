"""The campaigns that a server serves: one database, its connections shared by all of them."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from cutline.campaign.campaign import Campaign
from cutline.campaign.database import counters
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import read_identities, read_identity
from cutline.campaign.database.store import Store
from cutline.campaign.operations import creation
from cutline.campaign.operations.creation import Arms
from cutline.campaign.operations.finishing import end_dead
from cutline.campaign.results import Status
from cutline.campaign.settings import Settings
from cutline.errors import NotFoundError

T = TypeVar("T")


class Campaigns:
    """The campaigns of one database, for any number of threads."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._opened: dict[str, Campaign] = {}
        self._turn = threading.Lock()

    def statuses(self) -> list[Status]:
        """Return where every campaign stands, by name."""
        return [counters.status(self._store, each, self._clock) for each in read_identities(self._store)]

    def use(self, name: str, work: Callable[[Campaign], T]) -> T:
        """Do ``work`` with the campaign of that name and return what it returns; raise what it raises.

        Raises NotFoundError if there is no such campaign. One that was deleted and made again is the new one.
        """
        campaign = self._open(name)
        try:
            return work(campaign)
        except NotFoundError:
            if self._is_there(campaign):
                raise
            self._forget(name, campaign)
            return work(self._open(name))

    def create(self, name: str, arms: Arms, threshold: float, policy: str, budget: int, **options: Any) -> Status:
        """Create a campaign and return where it stands; raise what ``Campaign.create`` raises."""
        settings = Settings(threshold, policy, budget, **options)  # type: ignore[arg-type]  # Settings parses it
        return counters.status(self._store, creation.create(self._store, name, arms, settings), self._clock)

    def delete(self, name: str) -> None:
        """Delete a campaign; raise NotFoundError if there is none of that name."""
        creation.delete(self._store, read_identity(self._store, name))

    def _open(self, name: str) -> Campaign:
        with self._turn:
            campaign = self._opened.get(name)
        if campaign is None or campaign.name != name:  # it may have another name now
            identity = read_identity(self._store, name)
            end_dead(self._store, identity)
            campaign = Campaign(self._store, identity, self._clock)
            with self._turn:
                self._opened[name] = campaign
        return campaign

    def _forget(self, name: str, campaign: Campaign) -> None:
        with self._turn:
            if self._opened.get(name) is campaign:
                del self._opened[name]

    @staticmethod
    def _is_there(campaign: Campaign) -> bool:
        try:
            campaign.status()
        except NotFoundError:
            return False
        return True
