"""Joining: the results of a file join a campaign, all of them or none, and nobody waits for them for long.

They are staged in many short transactions, in which every conflict is found: what is staged counts for nobody. One more
decides that they count, and others write what follows from it; see finishing.py. If the process dies, what it has
staged is undone, or what it has decided is finished, by whoever opens the campaign or asks.
"""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.rows import counters, imports
from cutline.campaign.database.rows.imports import Change
from cutline.campaign.database.schema import OBSERVED, STAGED, TOLD, WITHDRAWN, sources
from cutline.campaign.database.store import BusyError, Store
from cutline.campaign.operations.changing.building import keep_building
from cutline.campaign.operations.observing.known import observed_with
from cutline.campaign.operations.observing.observing import Changed, News, find_news, insert_new, record_observed
from cutline.campaign.operations.upkeep.finishing import PATIENCE, Steps, end_dead, finish, undo
from cutline.campaign.operations.upkeep.pace import Pace
from cutline.campaign.results import Observation
from cutline.errors import ConflictError, NotFoundError, StoreError
from cutline.progress import Progress

CHUNK = 1_000
"""Results that one short transaction takes."""

_PATH = Prepared(select(sources.c.path).where(sources.c.name_digest == bindparam("name")))
_FORGET = Prepared(delete(sources).where(sources.c.name_digest == bindparam("name")), ("name",))
_REMEMBER = Prepared(insert(sources), ("name_digest", "campaign_id", "path"))


class Batch(NamedTuple):
    """Some results, their rewards in billionths, and where each stands in the file, for messages."""

    observations: list[Observation]
    places: list[str]

    def where(self, number: int) -> str:
        """Return where the n-th stands."""
        return self.places[number]


class Source(NamedTuple):
    """A file whose rows are known by their place in it: its name, and its path unless the user gave the name."""

    name: str
    path: str
    named: bool


def build_with(store: Store, campaign: Identity, batches: Iterable[Batch], source: Source | None) -> int:
    """Record results in a campaign that is being built, in short transactions; return how many are new."""
    if source is not None:
        store.write(lambda connection: claim(connection, campaign, source))
    new, pace = 0, Pace()
    for batch in batches:
        new += store.write(partial(_build_on, campaign=campaign, batch=batch))
        pace.between()
    return new


def _build_on(connection: Connection, campaign: Identity, batch: Batch) -> int:
    keep_building(connection, campaign)
    return record_observed(connection, campaign, Clock(), batch.observations, batch.where)


def observed_keys(store: Store, campaign: Identity, keys: list[str]) -> list[str]:
    """Return those of the keys that the campaign holds a result from elsewhere with."""
    return list(store.read(lambda connection: observed_with(connection, campaign, keys)))


class Joining:
    """An import into a campaign that is not decided yet. ``new`` results have been staged, ``withdrawn`` others."""

    def __init__(self, store: Store, campaign: Identity, token: str) -> None:
        self._steps = Steps(store, campaign, token)
        self._campaign = campaign
        self._added = self._settling = 0
        self.new = 0
        self.withdrawn = 0
        self.is_decided = False

    def stage(self, batch: Batch, replace: bool) -> list[Changed]:
        """Stage results, and return those that are to settle pulls in flight.

        ``replace``: another reward of a result from elsewhere corrects it. Raises what recording them would raise.
        """
        news = self._steps.do(partial(_stage, campaign=self._campaign, batch=batch, replace=replace))
        self._added += len(news.new)
        self._settling += len(news.settled)
        self.new += len(news)
        return news.settled

    def withdraw(self, keys: list[str]) -> None:
        """Have results from elsewhere with these keys count no more."""
        self.withdrawn += self._steps.do(partial(_stage_withdrawals, campaign=self._campaign, keys=keys))

    def decide(self, source: Source | None) -> list[int]:
        """Have all of it count from now on, and return [].

        Not if pulls that it settles are in flight no more: then the results that were to settle them are staged no
        longer, and their numbers are returned. Raises ConflictError if the source is another file.
        """
        overtaken = self._steps.do(
            partial(_decide, campaign=self._campaign, source=source, added=self._added, settling=self._settling)
        )
        self.is_decided = not overtaken
        self._settling -= len(overtaken)
        self.new -= len(overtaken)
        return overtaken


@contextmanager
def joining(
    store: Store, campaign: Identity, progress: Callable[[int], AbstractContextManager[Progress]]
) -> Iterator[Joining]:
    """Begin an import as soon as there is no other into the campaign; yield it, to be decided, and then finish it.

    ``progress`` is shown how many of so many arms have been written at the end. If anything is raised before it is
    decided, nothing is left of it.
    """
    token = secrets.token_hex(8)
    own = Joining(store, campaign, token)
    try:
        while store.write(partial(_is_held_off, campaign=campaign, token=token)):
            end_dead(store, campaign)
            _wait()
        yield own
        with progress(store.read(partial(imports.arms_left, campaign=campaign))) as advance:
            finish(store, campaign, token, advance)
    except BaseException:
        with suppress(StoreError, NotFoundError):
            if own.is_decided:
                store.write(
                    lambda connection: imports.go_on(connection, campaign, token, 0.0)
                )  # for the next to finish
            else:
                undo(store, campaign, token)
        raise


def _wait() -> None:
    time.sleep(0.1)


def _is_held_off(connection: Connection, campaign: Identity, token: str) -> bool:
    """Begin an import unless there is one; return whether there is."""
    counted = counters.add(connection, campaign).rows()  # locks the campaign
    if not counted:
        raise campaign.gone()
    if imports.read(connection, campaign) is not None:
        return True
    until = Clock().now(connection) + PATIENCE
    imports.begin(connection, campaign, imports.Row(token, until, campaign.base + counted[0][0] + 1, False))
    return False


def _stage(connection: Connection, campaign: Identity, batch: Batch, replace: bool) -> News:
    now = Clock().now(connection)
    news = find_news(connection, campaign, batch.observations, batch.where, staging=True, replace=replace)
    if news.new:
        numbered = counters.add(connection, campaign, numbered=len(news.new)).rows()[0][0]
        insert_new(connection, campaign, news.new, STAGED, numbered, now)
    imports.add_fates(
        connection,
        [(pull.number, TOLD, pull.new, pull.note, now) for pull in news.settled]
        + [(pull.number, OBSERVED, pull.new, pull.note, now) for pull in news.corrected],
    )
    imports.add_changes(
        connection,
        [(seen.arm, Change.by(seen.reward)) for seen in news.new]
        + [(pull.arm, Change.by(pull.new, in_flight=-1)) for pull in news.settled]
        + [(pull.arm, Change.by(pull.new, pull.old)) for pull in news.corrected],
    )
    return news


def _stage_withdrawals(connection: Connection, campaign: Identity, keys: list[str]) -> int:
    found, now = observed_with(connection, campaign, keys).values(), Clock().now(connection)
    imports.add_fates(
        connection, [(held.observed, WITHDRAWN, None, None, now) for held in found if held.observed is not None]
    )
    imports.add_changes(connection, [(held.arm, Change.by(None, held.reward)) for held in found])
    return len(found)


def _decide(connection: Connection, campaign: Identity, source: Source | None, added: int, settling: int) -> list[int]:
    overtaken = imports.overtaken(connection, campaign)
    if overtaken:
        imports.forget_fates(connection, [number for number, _, _ in overtaken])
        imports.add_changes(connection, [(arm, Change.by(None, reward, in_flight=1)) for _, arm, reward in overtaken])
        return [number for number, _, _ in overtaken]
    if source is not None:
        claim(connection, campaign, source)
    settled, withdrawn = imports.decide(connection, campaign)
    if settled != settling:
        raise BusyError  # one has been told since
    counters.add(connection, campaign, observed=added - withdrawn, spent=settled, in_flight=-settled).ignore()
    return []


def claim(connection: Connection, campaign: Identity, source: Source) -> None:
    """Take note of the path of a source; raise ConflictError if rows of that name came from another path."""
    name = campaign.digest(source.name)
    stored = _PATH.rows(connection, name=name)
    if stored and stored[0][0] == source.path:
        return
    if stored and not source.named:
        raise ConflictError(
            f"{source.path}: rows of {stored[0][0]} are in campaign {campaign.name!r} already, and rows without key "
            f"and worker are known by the name of their file; give --source {source.name} if these are the same rows, "
            "or another name if they are others"
        )
    _FORGET.run(connection, [(name,)])
    _REMEMBER.run(connection, [(name, campaign.id, source.path)])
