"""A campaign on a server, with the methods, errors and results of one in a database."""

import secrets
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any, Self, Unpack

from cutline.campaign.campaign import Campaign
from cutline.campaign.checks import (
    check_name,
    check_note,
    check_reward,
    check_text,
)
from cutline.campaign.database.connecting.address import Url
from cutline.campaign.operations.asking.wanted import Wanted
from cutline.campaign.operations.changing.changing import Roster
from cutline.campaign.operations.changing.creation import Arms, require_same_arms
from cutline.campaign.operations.observing.observing import checked_observation
from cutline.campaign.operations.telling.telling import checked_answer
from cutline.campaign.remote.answers import status_of
from cutline.campaign.remote.bodies import body_of_change, body_of_creation
from cutline.campaign.remote.connection import Connection
from cutline.campaign.remote.reader import RemoteReader
from cutline.campaign.remote.rows import rows_sent
from cutline.campaign.results import (
    Change,
    Observation,
    Pull,
    Pulls,
    Reason,
)
from cutline.campaign.settings import Changes, Settings
from cutline.checks import check_positive
from cutline.errors import ConflictError
from cutline.progress import Progress


class RemoteCampaign(RemoteReader, Campaign):
    """A campaign on a server; made by ``Campaign.create`` and ``Campaign.open`` with the address of one.

    What may safely be sent again is, if the server does not answer, with growing waits and for about a minute: all but
    what creates or deletes, and results from elsewhere without a key. StoreError then says that it cannot be reached.
    """

    def __init__(self, connection: Connection, row: dict[str, Any]) -> None:
        """Not to be called; see ``Campaign.create`` and ``Campaign.open``. ``row``: what the server says of it."""
        status = status_of(row)
        self._connection = connection
        self._name = status.name
        self._settings = status.settings
        self._which = {"campaign": status.name, "id": row["id"]}

    @classmethod
    def make(
        cls, url: Url, token: str | None, name: str, arms: Arms, settings: Settings, known: Mapping[str, bool] | None
    ) -> Self:
        """Create a campaign; see ``Campaign.create``."""
        body = body_of_creation(name, arms, settings, known)
        connection = Connection(url, token)
        return cls(connection, connection.post("campaigns", body, again=False))

    @classmethod
    def reach(cls, url: Url, token: str | None, name: str, arms: Arms | None, expected: dict[str, Any]) -> Self:
        """Return the campaign of that name; see ``Campaign.open``."""
        connection = Connection(url, token)
        check_name(name)
        made = cls(connection, connection.get("status", campaign=name))
        try:
            made._settings.require(expected)
            if arms is not None:
                require_same_arms(made._arms(), arms)
        except ConflictError as error:
            raise ConflictError(f"campaign {name!r}: {error}") from None
        return made

    @classmethod
    def make_of_rows(
        cls, url: Url, name: str, rows: IO[bytes], count: int, progress: Progress | bool | None
    ) -> dict[str, Any]:
        """Create a campaign of rows that ``files.sending`` has written, with so many results; return what is said."""
        return rows_sent(Connection(url, None), rows, count, progress, campaign=name)

    def import_rows(self, rows: IO[bytes], count: int, progress: Progress | bool | None) -> dict[str, Any]:
        """Record rows that ``files.sending`` has written, with so many results; return what is said."""
        return rows_sent(self._connection, rows, count, progress, **self._which)

    def ask(
        self,
        n: int = 1,
        worker: str | None = None,
        lease: float = 600.0,
        without: Collection[str] = (),
        distinct: bool = False,
        request: str | None = None,
    ) -> Pulls:
        """Lease up to ``n`` pulls; see ``Campaign.ask``. Without a ``request`` it has one of its own."""
        own = secrets.token_urlsafe(12) if request is None else request
        wanted = Wanted(n, worker, lease, without, distinct, own).checked()
        body = {**wanted._asdict(), "without": list(wanted.without), "distinct": bool(distinct)}
        answer = self._post("ask", body)
        reason = answer["reason"]
        return Pulls((Pull(**pull) for pull in answer["pulls"]), None if reason is None else Reason(reason))

    def tell(self, pull: Pull | str, reward: float, note: str | None = None) -> bool:
        """Record the reward of a pull; see ``Campaign.tell``."""
        return self.tell_many([(pull, reward, note)]) == 1

    def tell_many(self, rewards: Iterable[tuple[Pull | str, float] | tuple[Pull | str, float, str | None]]) -> int:
        """Record many rewards; see ``Campaign.tell_many``."""
        told = [
            {"pull": self._id_of(pull), "reward": check_reward(reward), "note": note}
            for pull, reward, note in map(checked_answer, rewards)
        ]
        return int(self._post("tell-many", {"rewards": told})["new"]) if told else 0

    def correct(self, pull: Pull | str, reward: float, note: str | None = None, worker: str | None = None) -> bool:
        """Replace the reward of a pull; see ``Campaign.correct``."""
        check_note(note)
        if worker is not None:
            check_text("worker", worker)
        body = {"pull": self._id_of(pull), "reward": check_reward(reward), "note": note, "worker": worker}
        return bool(self._post("correct", body)["changed"])

    def abandon(self, pull: Pull | str) -> None:
        """Give a pull back; see ``Campaign.abandon``."""
        self._post("abandon", {"pull": self._id_of(pull)})

    def extend(self, pull: Pull | str, lease: float) -> float:
        """Make a lease end later; see ``Campaign.extend``."""
        body = {"pull": self._id_of(pull), "lease": check_positive("lease", lease)}
        return float(self._post("extend", body)["expires"])

    def observe_many(self, observations: Iterable[Observation | tuple[Any, ...]], add_arms: bool = False) -> int:
        """Record many results from elsewhere; see ``Campaign.observe_many``."""
        given = [tuple(item) for item in observations]
        rows = [checked_observation(item)._replace(reward=check_reward(item[1]))._asdict() for item in given]
        again = all(row["key"] is not None for row in rows)
        body = {"observations": rows, "add_arms": bool(add_arms)}
        return int(self._post("observe", body, again=again)["new"]) if rows else 0

    def change(
        self,
        *,
        add: Arms = (),
        retire: Iterable[str] = (),
        bring_back: Iterable[str] = (),
        known: Mapping[str, bool] | None = None,
        forget: Iterable[str] = (),
        exclude: Iterable[str] = (),
        readmit: Iterable[str] = (),
        **settings: Unpack[Changes],
    ) -> list[Change]:
        """Change settings, arms and workers; see ``Campaign.change``."""
        given = body_of_change(settings, Roster(add, retire, bring_back, known, forget, exclude, readmit))
        changed = [Change(**row) for row in self._post("change", given)]
        self.status()
        return changed

    def learning_later(self) -> AbstractContextManager[Callable[[], None]]:
        """Do nothing: it is the server that learns; see ``Campaign.learning_later``."""
        return nullcontext(lambda: None)

    def rename(self, name: str) -> None:
        """Give the campaign another name; see ``Campaign.rename``."""
        row = self._post("rename", {"name": check_name(name)}, again=False)
        self._name, self._which = name, {"campaign": name, "id": row["id"]}

    def copy(self, name: str, results: bool = True) -> Self:
        """Make another campaign like this one; see ``Campaign.copy``."""
        body = {"name": check_name(name), "results": bool(results)}
        return type(self)(self._connection, self._post("copy", body, again=False))

    def delete(self) -> None:
        """Delete the campaign; see ``Campaign.delete``."""
        self._connection.delete("campaigns", **self._which)

    def _arms(self) -> dict[str, Any]:
        """Return the ids of the arms with their payloads."""
        return {row["arm"]: row["payload"] for row in self._lines("export", what="decisions")}
