"""Copying: another campaign of the same arms and settings, with the results of the first or without.

It is built in short transactions and seen when it is whole; see building.py.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from sqlalchemy import Connection, select, true

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, Terms, terms_of
from cutline.campaign.database.prepared import Row
from cutline.campaign.database.rows import counters, history
from cutline.campaign.database.rows.arms_and_pulls import lock_pulls_and_arms, write_arms
from cutline.campaign.database.rows.history import Entry
from cutline.campaign.database.rows.learnt import arithmetic_of, read_state
from cutline.campaign.database.rows.pulls import seen_pulls
from cutline.campaign.database.schema import OBSERVED, TOLD, arms
from cutline.campaign.database.store import Store
from cutline.campaign.operations.changing.building import building, keep_building
from cutline.campaign.operations.changing.knowing import set_known
from cutline.campaign.operations.changing.roster import set_retired
from cutline.campaign.operations.reading.deciding import result_pages
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.operations.upkeep.pace import Pace

_PAGE = 10_000
_SOME = 1_000


def copy(store: Store, campaign: Identity, clock: Clock, name: str, results: bool) -> Identity:
    """Make a campaign with the arms of another and return it; see Campaign.copy."""
    terms, last = store.read(lambda connection: _begin(connection, campaign))
    with building(store, name, terms.settings, _arms(store, campaign)) as made:
        store.write(lambda connection: history.write(connection, made, clock, [Entry("copied from", None, terms.name)]))
        pace = Pace()
        for page in _particular(store, campaign):
            store.write(partial(_mark, campaign=made, page=page, shift=made.base - campaign.base))
            pace.between()
        for page in result_pages(store, campaign) if results else ():
            some = [row for row in page if row.number <= last]  # what was asked for later may not fit the budget
            store.write(partial(_take, campaign=made, source=campaign, page=some))
            pace.between()
    while learning.keep_up(store, made, clock, wholly=True):
        pass
    return made


def _begin(connection: Connection, campaign: Identity) -> tuple[Terms, int]:
    """Return the terms of a campaign, and the number of its last pull."""
    state = read_state(connection, campaign)
    numbered = counters.read(connection, campaign, "numbered")
    return terms_of(connection, campaign, state.version), campaign.base + numbered


def _arms(store: Store, campaign: Identity) -> Iterator[tuple[str, str | None]]:
    """Yield id and payload of each arm, in order."""
    first, last = campaign.numbers
    query = select(arms.c.number, arms.c.name, arms.c.payload).order_by(arms.c.number).limit(_PAGE)
    while rows := store.read(partial(_rows, query=query.where(arms.c.number.between(first, last)))):
        for _, name, payload in rows:
            yield name, payload
        first = rows[-1].number + 1


def _particular(store: Store, campaign: Identity) -> Iterator[list[Any]]:
    """Yield number, whether it is retired, and known answer of the arms that are retired or have one."""
    first, last = campaign.numbers
    query = select(arms.c.number, arms.c.retired, arms.c.known).order_by(arms.c.number).limit(_SOME)
    query = query.where((arms.c.retired == true()) | arms.c.known.is_not(None))
    while rows := store.read(partial(_rows, query=query.where(arms.c.number.between(first, last)))):
        yield rows
        first = rows[-1].number + 1


def _mark(connection: Connection, campaign: Identity, page: list[Any], shift: int) -> None:
    """Have arms of a campaign that is being built be retired, or known, as those of its source are."""
    keep_building(connection, campaign)
    set_known(connection, campaign, {row.number + shift: row.known == 1 for row in page if row.known is not None})
    set_retired(connection, campaign, [row.number + shift for row in page if row.retired], True)


def _rows(connection: Connection, query: Any) -> list[Any]:
    return list(connection.execute(query))


def _take(connection: Connection, campaign: Identity, source: Identity, page: list[Any]) -> None:
    """Have a campaign that is being built take some results of its source; those told there are told here."""
    keep_building(connection, campaign)
    shift = campaign.base - source.base
    locked = lock_pulls_and_arms(connection, campaign, (), {row.arm + shift for row in page})
    weigh = arithmetic_of(connection, campaign, locked.state).weigh
    for row in page:
        evidence = weigh(campaign.optional_digest(row.worker), row.reward)
        locked.arms[row.arm + shift].take(row.reward, evidence)
    growth = write_arms(connection, campaign, locked.state, locked.arms.values())
    told = sum(row.state == TOLD for row in page)
    seen = len(page) - told
    answer = counters.add(connection, campaign, numbered=len(page), spent=told, observed=seen, **growth)
    ((numbered,),) = answer.rows()
    rows: list[Row] = []
    for number, row in enumerate(page, campaign.base + numbered - len(page) + 1):
        key = row.key or source.pull_id((row.number, row.arm))  # so the same result is no news here
        who, state = campaign.optional_digest(row.worker), TOLD if row.state == TOLD else OBSERVED
        own = (number, campaign.id, row.arm + shift, state, None, row.reward)
        rows.append((*own, row.worker, who, key, campaign.digest(key), row.note, row.time))
    seen_pulls(connection, rows)
