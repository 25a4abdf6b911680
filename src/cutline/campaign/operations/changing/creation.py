"""Creating, comparing and deleting campaigns."""

import itertools
import json
import random
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from sqlalchemy import Connection, delete as delete_from, insert, select, update
from sqlalchemy.exc import IntegrityError

from cutline.campaign.arithmetic import NOTHING, Arithmetic, Learnt
from cutline.campaign.checks import check_known, check_name, check_text
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, Terms
from cutline.campaign.database.prepared import Prepared, Row
from cutline.campaign.database.rows import progress
from cutline.campaign.database.rows.learnt import make_arithmetic
from cutline.campaign.database.schema import (
    COUNTERS,
    UNDECIDED,
    arms,
    campaigns,
    changes,
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
from cutline.campaign.operations.changing.knowing import set_known
from cutline.campaign.operations.changing.naming import arm_numbers
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.results import Payload
from cutline.campaign.settings import Settings
from cutline.errors import ConflictError, InvalidInputError

Arms: TypeAlias = Iterable[str] | Iterable[tuple[str, Payload]]
"""Ids, pairs of id and payload, or a mapping from id to payload."""

MOST_ARMS = 9_000_000
"""With more, the sum of their probabilities of error in 10^-12ths could leave 64 bits."""

_BATCH = 10_000

_COUNTED_FROM_0 = (*COUNTERS, "generation", "changed_at", "learnt_from", "up_to_date", "version", "retired")

_NEW_ARM = Prepared(insert(arms), tuple(column.name for column in arms.columns))


def create(
    store: Store,
    name: str,
    given: Arms,
    settings: Settings,
    clock: Clock | None = None,
    known: Mapping[str, bool] | None = None,
) -> Identity:
    """Write a new campaign and return it; see Campaign.create."""
    check_new(store, name, settings)
    answers = check_known(known)
    settings.require_known(answers)

    def work(connection: Connection) -> Identity:
        campaign = insert_campaign(connection, store, name, settings)
        filling = Filling(campaign, checked_arms(given))
        while rows := filling.take():
            insert_arms(connection, rows)
        filling.finish(connection, clock or Clock())
        numbers = arm_numbers(connection, campaign, answers, lambda arm: "a known answer: ")
        set_known(connection, campaign, {number: answers[name] for name, number in numbers.items()})
        return campaign

    return store.write(work)


def check_new(store: Store, name: str, settings: Settings) -> None:
    """Raise InvalidInputError for a name that no campaign can have, and for settings that could not be read again."""
    check_name(name)
    if not store.in_memory:
        settings.require_readable()


def insert_campaign(connection: Connection, store: Store, name: str, settings: Settings) -> Identity:
    """Insert the row of a new campaign; raise ConflictError if the name is taken."""
    row = {"name": name, "token": secrets.token_hex(4), **settings.columns(), "arms": 0}
    row |= dict.fromkeys(_COUNTED_FROM_0, 0)
    try:
        key = connection.execute(insert(campaigns).values(row)).inserted_primary_key
    except IntegrityError:
        raise taken(store, name) from None
    assert key is not None
    return Identity(key[0], str(row["token"]), Terms(0, name, settings))


def taken(store: Store, name: str) -> ConflictError:
    """The error to raise if there is a campaign of that name."""
    return ConflictError(f"{store.label}: there is a campaign {name!r} already")


def insert_arms(connection: Connection, rows: list[Row]) -> None:
    """Insert arms: every column of the table, in its order."""
    _NEW_ARM.run(connection, rows)


def unseen(arithmetic: Arithmetic, generation: int) -> Row:
    """Return the columns of an arm without results that come after its position."""
    doubt = arithmetic.verdicts([NOTHING])[0].doubt
    pulls, total, squares, evidence = NOTHING
    index = arithmetic.index(0, 0, 0, 0)
    return (pulls, total, squares, 0, index, doubt, generation, UNDECIDED, False, evidence, None)


class Filling:
    """Makes the arms of a new campaign batch by batch, each in a position that is drawn for it.

    ``checked`` yields the id and the payload, as JSON or None, of each.
    """

    def __init__(self, campaign: Identity, checked: Iterable[tuple[str, str | None]]) -> None:
        self._campaign = campaign
        self._numbered = enumerate(checked, campaign.base)
        self._draw = random.Random(campaign.settings.seed).getrandbits
        self._arithmetic = make_arithmetic(campaign, campaign.settings, Learnt())
        self._count = 0

    def take(self) -> list[Row]:
        """Return the rows of the next arms for ``insert_arms``, none at the end; raise InvalidInputError for too many.

        No transaction need be open: they may come from a database.
        """
        campaign = self._campaign
        rows: list[Row] = [
            (number, campaign.id, arm, campaign.digest(arm), payload, self._draw(63), *unseen(self._arithmetic, 0))
            for number, (arm, payload) in itertools.islice(self._numbered, _BATCH)
        ]
        self._count += len(rows)
        if self._count > MOST_ARMS:
            raise InvalidInputError(f"more than {MOST_ARMS:,} arms; a campaign has at most that many")
        return rows

    def finish(self, connection: Connection, clock: Clock) -> None:
        """Write how many arms there are; raise InvalidInputError if there are none."""
        if self._count == 0:
            raise InvalidInputError("no arms: give at least one id")
        campaign = self._campaign
        doubt = self._arithmetic.verdicts([NOTHING])[0].doubt
        first = learning.next_time(campaign.settings, self._count, Learnt(), 0)
        connection.execute(
            update(campaigns)
            .where(campaigns.c.id == campaign.id)
            .values(arms=self._count, doubt=self._count * doubt, up_to_date=self._count, learn_at=first)
        )
        progress.add_point(connection, campaign, clock.now(connection))


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
    """Raise ConflictError, naming one that is new or missing, unless the campaign has these arms, in any order.

    Those that are retired may be there or not.
    """
    rows = store.read(
        lambda connection: connection.execute(
            select(arms.c.name, arms.c.payload, arms.c.retired).where(arms.c.number.between(*campaign.numbers))
        ).all()
    )
    stored = {row.name: None if row.payload is None else json.loads(row.payload) for row in rows}
    require_same_arms(stored, given, {row.name for row in rows if row.retired})


def require_same_arms(stored: dict[str, Payload], given: Arms, retired: Collection[str] = ()) -> None:
    """Raise ConflictError, naming one that is new or missing, unless these are the arms that are stored.

    Those that are ``retired`` may be missing.
    """
    left = dict(stored)
    for arm, payload in checked_arms(given):
        if arm not in left:
            raise ConflictError(f"arms: {arm!r} is new")
        if _payload(arm, left.pop(arm)) != payload:
            raise ConflictError(f"arms: {arm!r} has another payload")
    for arm in left:
        if arm not in retired:
            raise ConflictError(f"arms: {arm!r} is missing")


def delete(store: Store, campaign: Identity) -> None:
    """Delete a campaign; see Campaign.delete."""

    def work(connection: Connection) -> None:
        deleted = connection.execute(delete_from(campaigns).where(campaigns.c.id == campaign.id))
        if deleted.rowcount == 0:
            return
        for table in (sources, imports, learnt, tokens, requests, points, changes):
            connection.execute(delete_from(table).where(table.c.campaign_id == campaign.id))
        numbers = (pulls.c.number, arms.c.number, corrections.c.pull, import_pulls.c.number, import_arms.c.arm)
        for number in numbers:
            connection.execute(delete_from(number.table).where(number.between(*campaign.numbers)))

    store.write(work)
