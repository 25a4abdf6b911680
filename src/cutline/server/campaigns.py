"""The campaigns that a server serves: one database, its connections shared by all of them."""

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cutline.campaign.campaign import Campaign
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, read_identities, read_identity
from cutline.campaign.database.rows import counters
from cutline.campaign.database.store import Store
from cutline.campaign.files.importing import Imported, Origin, make
from cutline.campaign.files.staging import Staging
from cutline.campaign.operations.asking.ownership import workers_of
from cutline.campaign.operations.changing import creation
from cutline.campaign.operations.changing.creation import Arms
from cutline.campaign.operations.reading.backup import backup
from cutline.campaign.operations.upkeep.finishing import end_dead
from cutline.campaign.results import Status
from cutline.campaign.settings import Settings
from cutline.errors import NotFoundError
from cutline.server.turns import Turns

T = TypeVar("T")


class Campaigns:
    """The campaigns of one database, for any number of threads; ``turns`` does what comes many times a second."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self.turns = Turns(store, clock)
        self._opened: dict[str, Campaign] = {}
        self._turn = threading.Lock()

    def statuses(self) -> list[Status]:
        """Return where every campaign stands, by name."""
        return [status for _, status in self.identified()]

    def identified(self) -> list[tuple[str, Status]]:
        """Return the same, each with the token of its campaign."""
        return [(each.token, counters.status(self._store, each, self._clock)) for each in read_identities(self._store)]

    def use(self, name: str, work: Callable[[Campaign], T], token: str | None = None) -> T:
        """Do ``work`` with the campaign of that name and return what it returns; raise what it raises.

        Raises NotFoundError if there is no such campaign. One that was deleted and made again is the new one, unless
        ``token`` says which of them is meant.
        """
        try:
            return self._use(name, work, token)
        except NotFoundError:
            if token is not None and not self._has(name, token):
                raise self._gone(name, token) from None
            raise

    def _use(self, name: str, work: Callable[[Campaign], T], token: str | None) -> T:
        campaign = self._open(name)
        if token is not None and campaign._identity.token != token:
            self._forget(name, campaign)
            if not self._has(name, token):
                raise self._gone(name, token)
            campaign = self._open(name)
        try:
            return work(campaign)
        except NotFoundError:
            if self._is_there(campaign):
                raise
            self._forget(name, campaign)
            return work(self._open(name))

    def create(
        self, name: str, arms: Arms, settings: dict[str, Any], known: Mapping[str, bool] | None = None
    ) -> tuple[str, Status]:
        """Create a campaign and return its token and where it stands; raise what ``Campaign.create`` raises."""
        made = creation.create(self._store, name, arms, Settings(**settings), self._clock, known)
        return made.token, counters.status(self._store, made, self._clock)

    def make_of(self, name: str, rows: Staging, origin: Origin, settings: dict[str, Any]) -> Imported:
        """Create a campaign of the rows of a file, with their tasks as arms; raise ConflictError if there is one."""
        return make(self._store, name, rows, origin, Settings(**settings))

    def workers_of(self, name: str, pulls: Sequence[str]) -> set[str | None]:
        """Return who has asked for these pulls; an id that is none counts for nobody."""
        return self.use(name, lambda campaign: workers_of(self._store, campaign._identity, pulls))

    def backup(self, out: Path) -> None:
        """Copy the whole SQLite database to a file; raise InvalidInputError if it is none."""
        backup(self._store, out)

    def close(self) -> None:
        """Close the connections to the database."""
        self.turns.close()
        self._store.close()

    def _open(self, name: str) -> Campaign:
        with self._turn:
            campaign = self._opened.get(name)
        if campaign is None or campaign.name != name:  # it may have another name now
            identity = self._find(name)
            identity.keeper = partial(self.turns.keep, identity)
            end_dead(self._store, identity)
            campaign = Campaign(self._store, identity, self._clock)
            with self._turn:
                self._opened[name] = campaign
        return campaign

    def _find(self, name: str) -> Identity:
        """Return the campaign of that name; where its database is, those who ask from elsewhere need not know."""
        try:
            return read_identity(self._store, name)
        except NotFoundError as error:
            raise NotFoundError(str(error).removeprefix(f"{self._store.label}: ")) from None

    def _forget(self, name: str, campaign: Campaign) -> None:
        with self._turn:
            if self._opened.get(name) is campaign:
                del self._opened[name]

    def _has(self, name: str, token: str) -> bool:
        try:
            return read_identity(self._store, name).token == token
        except NotFoundError:
            return False

    def _gone(self, name: str, token: str) -> NotFoundError:
        now = [each.name for each in read_identities(self._store) if each.token == token]
        what = f"is called {now[0]!r} now; open it again" if now else "has been deleted"
        return NotFoundError(f"campaign {name!r} {what}")

    @staticmethod
    def _is_there(campaign: Campaign) -> bool:
        try:
            campaign.status()
        except NotFoundError:
            return False
        return True
