"""Joining: the results of a file join a campaign, all of them or none.

What the campaign holds already is found out first, in short transactions that only read. The rest is written in one.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, delete, insert, select

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.schema import sources
from cutline.campaign.database.store import Store
from cutline.campaign.operations.building import Pace, keep_building
from cutline.campaign.operations.observing import (
    held_keys,
    places_of_news,
    record_observed,
    withdraw,
)
from cutline.campaign.results import Observation
from cutline.errors import ConflictError

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

    def only(self, numbers: Iterable[int]) -> "Batch":
        """Return the batch with only those of these numbers."""
        chosen = list(numbers)
        return Batch([self.observations[number] for number in chosen], [self.places[number] for number in chosen])


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
    return record_observed(connection, campaign, batch.observations, batch.where)


def news(store: Store, campaign: Identity, batches: Iterable[Batch], replace: bool) -> Iterator[Batch]:
    """Yield what of the batches the campaign does not hold; raise what recording it would raise."""
    for batch in batches:
        places = store.read(
            partial(
                places_of_news,
                campaign=campaign,
                observations=batch.observations,
                where=batch.where,
                replace=replace,
            )
        )
        if places:
            yield batch.only(places)


def held(store: Store, campaign: Identity, keys: list[str]) -> set[str]:
    """Return those of the keys that the campaign holds a result with."""
    return set(store.read(lambda connection: held_keys(connection, campaign, keys)))


def join(
    store: Store,
    campaign: Identity,
    batches: Callable[[], Iterable[Batch]],
    source: Source | None,
    replace: bool,
    withdrawn: list[str],
) -> int:
    """Record results in one transaction, and withdraw those with the keys ``withdrawn``; return how many are new."""

    def work(connection: Connection) -> int:
        if source is not None:
            claim(connection, campaign, source)
        for first in range(0, len(withdrawn), CHUNK):
            withdraw(connection, campaign, withdrawn[first : first + CHUNK])
        return sum(
            record_observed(connection, campaign, batch.observations, batch.where, replace) for batch in batches()
        )

    return store.write(work, pipelined=True)


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
