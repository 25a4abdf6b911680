"""A campaign on a server, with the methods, errors and results of one in a database."""

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import IO, Any, Self, Unpack

from cutline.campaign.campaign import Campaign
from cutline.campaign.checks import (
    check_confidence,
    check_name,
    check_note,
    check_reward,
    check_text,
)
from cutline.campaign.database.connecting.address import Url
from cutline.campaign.decisions import Decisions, PageOptions
from cutline.campaign.operations.asking.wanted import Wanted
from cutline.campaign.operations.changing.creation import Arms, require_same_arms
from cutline.campaign.operations.observing.observing import checked_observation
from cutline.campaign.operations.telling.telling import checked_answer
from cutline.campaign.remote.answers import decision_of, past_pull_of, status_of
from cutline.campaign.remote.bodies import body_of_change, body_of_creation
from cutline.campaign.remote.connection import Connection
from cutline.campaign.remote.rows import rows_sent
from cutline.campaign.results import (
    ArmHistory,
    Change,
    Decision,
    Observation,
    ProgressPoint,
    Pull,
    PullRecord,
    Pulls,
    PullState,
    Reason,
    Result,
    Status,
    Worker,
)
from cutline.campaign.settings import Changes, Settings
from cutline.campaign.weighed import Weighed
from cutline.checks import check_positive, check_whole
from cutline.errors import ConflictError, NotFoundError
from cutline.threshold import check_threshold

_ALL_ARMS = {"nearest": None, "threshold": None, "retired": False}


class RemoteCampaign(Campaign):
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
    def make_of_rows(cls, url: Url, name: str, rows: IO[bytes]) -> dict[str, Any]:
        """Create a campaign of rows that ``files.sending`` has written; return what an import says."""
        return rows_sent(Connection(url, None), rows, campaign=name)

    def import_rows(self, rows: IO[bytes]) -> dict[str, Any]:
        """Record rows that ``files.sending`` has written; return what an import says."""
        return rows_sent(self._connection, rows, **self._which)

    @property
    def name(self) -> str:
        """The name of the campaign."""
        return self._name

    @property
    def settings(self) -> Settings:
        """What the campaign was created with."""
        return self._settings

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

    def decisions(
        self,
        nearest: int | None = None,
        confidence: float = 0.95,
        threshold: float | None = None,
        retired: bool = False,
        **page: Unpack[PageOptions],
    ) -> Decisions:
        """Return a Decision for every arm, or for those that are wanted; see ``Campaign.decisions``."""
        check_confidence(confidence)
        wanted = {"nearest": nearest, "threshold": threshold, "retired": retired}
        if wanted == _ALL_ARMS and not page:
            rows = map(decision_of, self._lines("export", what="decisions", confidence=confidence))
            return Decisions(rows, self._settings.threshold)
        if nearest is not None:
            check_whole("nearest", nearest, 1)
        if threshold is not None:
            check_threshold(threshold)
        if page:
            from cutline.campaign.operations.reading.paging import Page  # loads NumPy

            Page(**page).check()
        found = self._post("decisions", {**page, **wanted, "confidence": confidence})
        return Decisions(
            (Decision(**row) for row in found), self._settings.threshold if threshold is None else threshold
        )

    def weigh(
        self, known: Mapping[str, bool] | None = None, exclude: Collection[str] = (), confidence: float = 0.95
    ) -> Weighed:
        """Weigh the results that the server has, here; see ``Campaign.weigh``."""
        from cutline.campaign.operations.reading import weighing  # loads SciPy

        rows = ((item.arm, item.reward, item.worker) for item in self.results())
        held = weighing.Held(self.name, self.settings, self.decisions(confidence=confidence), rows)
        return weighing.weigh(held, known, exclude, confidence)

    def records(self) -> list[tuple[int, float, int]]:
        """Return the different records of arms; see ``Campaign.records``."""
        rows = self._connection.get("records", **self._which)
        return [(row["pulls"], row["total"], row["arms"]) for row in rows]

    def results(self) -> Iterator[Result]:
        """Yield every reward that the campaign holds; see ``Campaign.results``."""
        return (Result(**row) for row in self._lines("results"))

    def arm(self, arm: str, last: int | None = None, confidence: float = 0.95) -> ArmHistory:
        """Return the Decision of an arm and its history; see ``Campaign.arm``."""
        if last is not None:
            check_whole("last", last, 1)
        body = {"arm": check_text("arm", arm), "last": last, "confidence": check_confidence(confidence)}
        found = self._post("arm", body)
        return ArmHistory(Decision(**found["decision"]), tuple(map(past_pull_of, found["pulls"])))

    def progress(self) -> list[ProgressPoint]:
        """Return the curve of expected errors; see ``Campaign.progress``."""
        return [ProgressPoint(**row) for row in self._connection.get("progress", **self._which)]

    def workers(self) -> list[Worker]:
        """Return who works on the campaign; see ``Campaign.workers``."""
        return [Worker(**row) for row in self._connection.get("workers", **self._which)]

    def pull(self, pull: Pull | str) -> PullRecord:
        """Return what has become of a pull; see ``Campaign.pull``."""
        row = self._post("pull", {"pull": self._id_of(pull)})
        return PullRecord(**row | {"state": PullState(row["state"])})

    def answered(self, worker: str) -> int:
        """Return how many pulls a worker has told; see ``Campaign.answered``."""
        return int(self._post("answered", {"worker": check_text("worker", worker)})["answered"])

    def status(self) -> Status:
        """Return where the campaign stands; see ``Campaign.status``."""
        status = status_of(self._connection.get("status", **self._which))
        self._settings = status.settings
        return status

    def history(self) -> list[Change]:
        """Return what was changed of the campaign; see ``Campaign.history``."""
        return [Change(**row) for row in self._connection.get("history", **self._which)]

    def change(
        self,
        *,
        add: Arms = (),
        retire: Iterable[str] = (),
        bring_back: Iterable[str] = (),
        known: Mapping[str, bool] | None = None,
        **settings: Unpack[Changes],
    ) -> list[Change]:
        """Change settings and arms; see ``Campaign.change``."""
        given = body_of_change(settings, add, retire, bring_back, known)
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

    def close(self) -> None:
        """Close the connections to the server."""
        self._connection.close()

    def _post(self, path: str, body: dict[str, Any], again: bool = True) -> Any:
        return self._connection.post(path, body, again=again, **self._which)

    def _lines(self, path: str, **query: Any) -> Iterator[Any]:
        return self._connection.lines(path, **self._which, format="jsonl", **query)

    def _id_of(self, pull: Any) -> str:
        name = getattr(pull, "id", pull)
        if not isinstance(name, str) or not name:
            raise NotFoundError(f"campaign {self._name!r} has no pull {name!r}")
        return name

    def _arms(self) -> dict[str, Any]:
        """Return the ids of the arms with their payloads."""
        return {row["arm"]: row["payload"] for row in self._lines("export", what="decisions")}
