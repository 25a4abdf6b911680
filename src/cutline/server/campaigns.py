"""The campaigns that a server serves, each opened once."""

import threading
from collections.abc import Callable
from typing import Any, TypeVar

from cutline.campaign.campaign import Campaign, campaigns, delete
from cutline.campaign.operations.creation import Arms
from cutline.campaign.results import Status
from cutline.campaign.settings import Options
from cutline.errors import NotFoundError
from cutline.server.settings import ServerSettings

T = TypeVar("T")


class Campaigns:
    """The campaigns of one database, for any number of threads."""

    def __init__(self, settings: ServerSettings) -> None:
        self._url = settings.db
        self._clock = settings.clock
        self._opened: dict[str, Campaign] = {}
        self._turn = threading.Lock()

    def statuses(self) -> list[Status]:
        """Return where every campaign stands, by name."""
        try:
            return campaigns(self._url, self._clock)
        except NotFoundError:  # no database, or nothing in it
            return []

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
        given: Options = options  # type: ignore[assignment]  # Campaign.create checks them
        with Campaign.create(self._url, name, arms, threshold, policy, budget, clock=self._clock, **given) as made:
            return made.status()

    def delete(self, name: str) -> None:
        """Delete a campaign; raise NotFoundError if there is none of that name."""
        delete(self._url, name)

    def close(self) -> None:
        """Close all that was opened."""
        with self._turn:
            for campaign in self._opened.values():
                campaign.close()
            self._opened.clear()

    def _open(self, name: str) -> Campaign:
        with self._turn:
            if name not in self._opened:
                self._opened[name] = Campaign.open(self._url, name, clock=self._clock)
            return self._opened[name]

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
