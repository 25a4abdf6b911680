"""What a campaign on a server tells about itself, and changes nothing."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Unpack

from cutline.campaign.checks import check_confidence, check_text
from cutline.campaign.decisions import Decisions, PageOptions
from cutline.campaign.reader import Reader
from cutline.campaign.remote.answers import decision_of, past_pull_of, status_of
from cutline.campaign.remote.connection import Connection
from cutline.campaign.results import (
    ArmHistory,
    Change,
    Decision,
    ProgressPoint,
    Pull,
    PullRecord,
    PullState,
    Result,
    Status,
    Worker,
)
from cutline.campaign.settings import Settings
from cutline.campaign.weighed import Weighed
from cutline.checks import check_whole
from cutline.errors import NotFoundError
from cutline.threshold import check_threshold

_ALL_ARMS = {"nearest": None, "threshold": None, "retired": False}


class RemoteReader(Reader):
    """The part of a campaign on a server that only reads."""

    _connection: Connection
    _name: str
    _settings: Settings
    _which: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the campaign."""
        return self._name

    @property
    def settings(self) -> Settings:
        """What the campaign was created with."""
        return self._settings

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

    def records(self) -> list[tuple[int, float, float, int, int]]:
        """Return the different records of arms; see ``Campaign.records``."""
        rows = self._connection.get("records", **self._which)
        return [(row["pulls"], row["total"], row["squares"], row["arms"], row["known"]) for row in rows]

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

    def known_answers(self) -> dict[str, bool]:
        """Return the answers that are known beforehand; see ``Campaign.known_answers``."""
        return {row["arm"]: row["answer"] for row in self._connection.get("known", **self._which)}

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

    def leased(self, worker: str) -> list[Pull]:
        """Return the pulls that a worker has in flight; see ``Campaign.leased``."""
        return [Pull(**pull) for pull in self._post("leased", {"worker": check_text("worker", worker)})["pulls"]]

    def status(self) -> Status:
        """Return where the campaign stands; see ``Campaign.status``."""
        status = status_of(self._connection.get("status", **self._which))
        self._settings = status.settings
        return status

    def history(self) -> list[Change]:
        """Return what was changed of the campaign; see ``Campaign.history``."""
        return [Change(**row) for row in self._connection.get("history", **self._which)]

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
