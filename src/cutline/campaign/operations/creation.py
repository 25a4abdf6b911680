"""Creating, comparing and deleting campaigns."""

import itertools
import json
import random
import secrets
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

from sqlalchemy import Connection, delete as delete_from, insert, select, update
from sqlalchemy.exc import IntegrityError

from cutline.campaign.arithmetic import NOTHING
from cutline.campaign.checks import check_name, check_text
from cutline.campaign.database import progress
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, read_identity
from cutline.campaign.database.learnt import arithmetic_of
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.schema import (
    COUNTERS,
    UNDECIDED,
    arms,
    campaigns,
    corrections,
    import_arms,
    import_pulls,
    imports,
    learnt,
    progress as points,
    pulls,
    requests,
    sources,
    tokens,
)
from cutline.campaign.database.store import Store
from cutline.campaign.operations import learning
from cutline.campaign.results import Payload
from cutline.campaign.settings import Settings
from cutline.errors import ConflictError, InvalidInputError

Arms: TypeAlias = Iterable[str] | Iterable[tuple[str, Payload]]
"""Ids, pairs of id and payload, or a mapping from id to payload."""

MOST_ARMS = 9_000_000
"""With more, the sum of their probabilities of error in 10^-12ths could leave 64 bits."""

_BATCH = 10_000

_NEW_ARM = Prepared(insert(arms), tuple(column.name for column in arms.columns))


def create(store: Store, name: str, given: Arms, settings: Settings, clock: Clock | None = None) -> Identity:
    """Write a new campaign and return it; see Campaign.create."""
    check_new(store, name, settings)

    def work(connection: Connection) -> Identity:
        filling = Filling(insert_campaign(connection, store, name, settings), checked_arms(given))
        while filling.insert_some(connection):
            pass
        return filling.finish(connection, clock or Clock())

    return store.write(work)


def check_new(store: Store, name: str, settings: Settings) -> None:
    """Raise InvalidInputError for a name that no campaign can have, and for settings that could not be read again."""
    check_name(name)
    if not store.in_memory:
        settings.require_readable()


def insert_campaign(connection: Connection, store: Store, name: str, settings: Settings) -> Identity:
    """Insert the row of a new campaign; raise ConflictError if the name is taken."""
    row = {"name": name, "token": secrets.token_hex(4), **settings.columns(), "arms": 0}
    row |= dict.fromkeys((*COUNTERS, "generation", "learnt_from", "up_to_date"), 0)
    try:
        key = connection.execute(insert(campaigns).values(row)).inserted_primary_key
    except IntegrityError:
        raise taken(store, name) from None
    assert key is not None
    return Identity(key[0], name, str(row["token"]), settings, 0)


def taken(store: Store, name: str) -> ConflictError:
    """The error to raise if there is a campaign of that name."""
    return ConflictError(f"{store.label}: there is a campaign {name!r} already")


class Filling:
    """Inserts the arms of a new campaign batch by batch, each in a position that is drawn for it.

    ``checked`` yields the id and the payload, as JSON or None, of each.
    """

    def __init__(self, campaign: Identity, checked: Iterable[tuple[str, str | None]]) -> None:
        self._campaign = campaign
        self._numbered = enumerate(checked, campaign.base)
        self._draw = random.Random(campaign.settings.seed).getrandbits
        self._count = 0

    def insert_some(self, connection: Connection) -> int:
        """Insert the next arms and return how many they were, 0 at the end; raise InvalidInputError for too many."""
        campaign, arithmetic = self._campaign, arithmetic_of(connection, self._campaign, 0)
        unseen = arithmetic.index(0, 0, 0), arithmetic.verdicts([NOTHING])[0].doubt, 0, UNDECIDED
        rows = [
            (number, campaign.id, arm, campaign.digest(arm), payload, self._draw(63), *NOTHING, 0, *unseen)
            for number, (arm, payload) in itertools.islice(self._numbered, _BATCH)
        ]
        _NEW_ARM.run(connection, rows)
        self._count += len(rows)
        if self._count > MOST_ARMS:
            raise InvalidInputError(f"more than {MOST_ARMS:,} arms; a campaign has at most that many")
        return len(rows)

    def finish(self, connection: Connection, clock: Clock) -> Identity:
        """Write how many arms there are and return the campaign; raise InvalidInputError if there are none."""
        if self._count == 0:
            raise InvalidInputError("no arms: give at least one id")
        campaign = replace(self._campaign, arms=self._count)
        (unseen,) = arithmetic_of(connection, campaign, 0).verdicts([NOTHING])
        first = learning.first_time(campaign)
        connection.execute(
            update(campaigns)
            .where(campaigns.c.id == campaign.id)
            .values(arms=self._count, doubt=self._count * unseen.doubt, up_to_date=self._count, learn_at=first)
        )
        progress.add_point(connection, campaign, clock.now(connection))
        return campaign


def checked_arms(given: Arms) -> Iterator[tuple[str, str | None]]:
    """Yield (id, payload as JSON or None) of each arm; raise InvalidInputError for a bad one."""
    if isinstance(given, (str, bytes)):
        raise InvalidInputError("arms is one text; give a list of ids")
    seen: set[str] = set()
    pairs: Iterable[Any] = given.items() if isinstance(given, Mapping) else given
    for number, item in enumerate(pairs, 1):
        if isinstance(item, str):
            arm, payload = item, None
        elif isinstance(item, (tuple, list)) and len(item) == 2:
            arm, payload = item
        else:
            raise InvalidInputError(f"arm {number} is {item!r}; it must be an id or a pair of id and payload")
        if check_text(f"arm {number}:", arm) in seen:
            raise InvalidInputError(f"arm {number}: the id {arm!r} comes twice; every arm needs its own")
        seen.add(arm)
        yield arm, _payload(arm, payload)


def _payload(arm: str, payload: Payload) -> str | None:
    if payload is None:
        return None
    try:
        text = json.dumps(payload, ensure_ascii=False, allow_nan=False, sort_keys=True)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInputError(f"arm {arm!r}: its payload cannot be written as JSON: {error}") from None
    return text


def require_arms(store: Store, campaign: Identity, given: Arms) -> None:
    """Raise ConflictError, naming one that is new or missing, unless the campaign has these arms, in any order."""
    rows = store.read(
        lambda connection: connection.execute(
            select(arms.c.name, arms.c.payload).where(arms.c.number.between(*campaign.numbers))
        ).all()
    )
    stored = {row.name: row.payload for row in rows}
    for arm, payload in checked_arms(given):
        if arm not in stored:
            raise ConflictError(f"arms: {arm!r} is new")
        if stored.pop(arm) != payload:
            raise ConflictError(f"arms: {arm!r} has another payload")
    if stored:
        raise ConflictError(f"arms: {next(iter(stored))!r} is missing")


def delete(store: Store, name: str) -> None:
    """Delete a campaign; see campaign.delete."""
    campaign = read_identity(store, name)

    def work(connection: Connection) -> None:
        deleted = connection.execute(delete_from(campaigns).where(campaigns.c.id == campaign.id))
        if deleted.rowcount == 0:
            return
        for table in (sources, imports, learnt, tokens, requests, points):
            connection.execute(delete_from(table).where(table.c.campaign_id == campaign.id))
        numbers = (pulls.c.number, arms.c.number, corrections.c.pull, import_pulls.c.number, import_arms.c.arm)
        for number in numbers:
            connection.execute(delete_from(number.table).where(number.between(*campaign.numbers)))

    store.write(work)
