"""What a campaign tells about itself, and changes nothing."""

from collections.abc import Collection, Iterator, Mapping
from typing import Self, Unpack

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows import counters, history
from cutline.campaign.database.rows.progress import progress_of
from cutline.campaign.database.store import Store
from cutline.campaign.decisions import Decisions, PageOptions
from cutline.campaign.operations.reading import known_answers, pull_records
from cutline.campaign.results import (
    ArmHistory,
    Change,
    ProgressPoint,
    Pull,
    PullRecord,
    Result,
    Status,
    Worker,
)
from cutline.campaign.settings import Settings
from cutline.campaign.weighed import Weighed
from cutline.errors import InvalidInputError


class Reader:
    """The part of a Campaign that only reads: each method is one transaction that writes nothing."""

    def __init__(self, store: Store, campaign: Identity, clock: Clock) -> None:
        """Not to be called; see ``create`` and ``open``."""
        self._store = store
        self._identity = campaign
        self._clock = clock

    @property
    def name(self) -> str:
        """The name of the campaign, at the time of the last call."""
        return self._identity.name

    @property
    def settings(self) -> Settings:
        """What the campaign was created with, and changed to, at the time of the last call."""
        return self._identity.settings

    def decisions(
        self,
        nearest: int | None = None,
        confidence: float = 0.95,
        threshold: float | None = None,
        retired: bool = False,
        **page: Unpack[PageOptions],
    ) -> Decisions:
        """Return a Decision for every arm that is not retired, in their order, as a list that is a table, too.

        With ``nearest``, only for that many arms: those most likely to be wrong, these first. Each interval [low, high]
        holds the true mean at all times with probability ``confidence`` at least, for one arm. ``threshold`` asks what
        would be decided with another one, and changes nothing; ``retired``, for the arms that are, instead.

        The rest, see ``PageOptions``, is for one page of many arms. The database sorts and filters; for some seconds
        after an import or a change of settings the order may be that of before.

        Raises InvalidInputError unless nearest >= 1 and confidence and threshold are between 0 and 1, for what is above
        together with a page, and for an order that there is not; NotFoundError for ``after`` an unknown arm.
        """
        from cutline.campaign.operations.reading import deciding, paging  # loads NumPy

        wanted = paging.Page(**page)
        if wanted == paging.Page():
            found = deciding.decisions(self._store, self._identity, nearest, confidence, threshold, retired)
        elif nearest is not None:
            raise InvalidInputError("nearest has an order and a limit of its own; leave out the one or the others")
        elif threshold is not None or retired:
            raise InvalidInputError("threshold and retired are not for pages; leave out the one or the others")
        else:
            found = paging.page(self._store, self._identity, wanted, confidence).decisions
        return Decisions(found, self.settings.threshold if threshold is None else float(threshold))

    def weigh(
        self, known: Mapping[str, bool] | None = None, exclude: Collection[str] = (), confidence: float = 0.95
    ) -> Weighed:
        """Return what is decided when rewards are weighed by who gave them, and how often each worker is right.

        How far a worker is to be believed is learnt from how the answers of all agree, and from the answers that are
        ``known`` by arm. Those of workers in ``exclude`` count for nothing. ``confidence`` is that of all intervals.
        What is asked for next does not depend on it. It reads all results. Where the campaign itself weighs workers,
        what it knows and whom it excludes is taken as well, and all is learnt anew from the results there are now.
        Raises InvalidInputError unless the threshold is 0.5, NotFoundError for arms and workers that are not there.
        """
        from cutline.campaign.operations.reading import weighing

        held = weighing.held(self._store, self._identity, confidence)
        return weighing.weigh(held, known, exclude, confidence)

    def records(self) -> list[tuple[int, float, float, int, int]]:
        """Return the different records of arms: pulls, the sums of the rewards and of their squares, and two counts.

        That is how many arms have this record, and how many of these have an answer that is known beforehand.
        """
        from cutline.campaign.operations.reading import deciding

        return deciding.records(self._store, self._identity)

    def results(self) -> Iterator[Result]:
        """Yield every reward that the campaign holds, in the order in which the pulls were asked for or observed."""
        from cutline.campaign.operations.reading import deciding

        return deciding.results(self._store, self._identity)

    def arm(self, arm: str, last: int | None = None, confidence: float = 0.95) -> ArmHistory:
        """Return the Decision of an arm and the history of its pulls: who gave which reward when, with which note.

        Pulls that were abandoned, whose lease has ended, and those in flight are in it, too, and what corrections have
        replaced. With ``last``, only so many of its pulls, the latest. ``confidence`` as in ``decisions``. Raises
        NotFoundError if there is no such arm.
        """
        from cutline.campaign.operations.reading import remembering  # loads NumPy

        return remembering.history(self._store, self._identity, self._clock, arm, last, confidence)

    def progress(self) -> list[ProgressPoint]:
        """Return the curve of expected errors: where the campaign stood at counts of results, and where it stands now.

        There are points from the beginning on, at the first 64 results and then about 32 to each doubling of their
        number; a campaign that an older Cutline made has those since. The last is the present.
        """
        return progress_of(self._store, self._identity, self._clock)

    def known_answers(self) -> dict[str, bool]:
        """Return the answers that are known beforehand, by arm, in the order of the arms."""
        return known_answers.known_answers(self._store, self._identity)

    def workers(self) -> list[Worker]:
        """Return who works on the campaign, whoever gave most answers first; those without a name are none of them.

        It reads all pulls, which takes a second or so for a million.
        """
        from cutline.campaign.operations.reading import attendance  # loads NumPy

        return attendance.workers(self._store, self._identity, self._clock)

    def status(self) -> Status:
        """Return where the campaign stands; it takes the same time for a million arms, and writes nothing."""
        return counters.status(self._store, self._identity, self._clock)

    def history(self) -> list[Change]:
        """Return what was changed of the campaign after it was made, the first change first."""
        return self._store.read(lambda connection: history.read(connection, self._identity))

    def pull(self, pull: Pull | str) -> PullRecord:
        """Return what has become of a pull (or its id): whose it is, of which arm, and its reward if it has one.

        Raises NotFoundError for an unknown pull.
        """
        return pull_records.record_of(self._store, self._identity, self._clock, pull)

    def answered(self, worker: str) -> int:
        """Return how many pulls a worker has told; results from elsewhere are not among them."""
        return pull_records.answered(self._store, self._identity, worker)

    def leased(self, worker: str) -> list[Pull]:
        """Return the pulls that a worker has in flight, in the order in which they were asked for."""
        return pull_records.leased(self._store, self._identity, self._clock, worker)

    def close(self) -> None:
        """Close the connections to the database; a campaign in memory is gone."""
        self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        from cutline.campaign.running.watching import as_html

        return as_html(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.settings.policy}, threshold {self.settings.threshold})"
