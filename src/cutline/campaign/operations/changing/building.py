"""Building: a campaign is made together with its results, in many short transactions, and seen when it is whole.

Until then its row has a name that nobody can give and says until when somebody is at work on it. Whoever builds another
campaign after that time deletes it, so what a killed process leaves behind does not stay.
"""

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from sqlalchemy import ColumnElement, Connection, Table, bindparam, delete, select, update
from sqlalchemy.exc import IntegrityError

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared, Row
from cutline.campaign.database.schema import STRIDE, arms, campaigns, changes, learnt, progress, pulls, sources
from cutline.campaign.database.store import Store
from cutline.campaign.operations.changing.creation import Filling, check_new, insert_arms, insert_campaign, taken
from cutline.campaign.operations.upkeep.pace import Pace
from cutline.campaign.settings import Settings
from cutline.errors import StoreError

_PATIENCE = 60.0
"""Seconds after its last transaction at which the builder of a campaign counts as dead."""

_SOME = 20_000

_GO_ON = Prepared(
    update(campaigns).where(campaigns.c.id == bindparam("campaign")).values(unfinished_until=bindparam("until")),
    ("until", "campaign"),
)


@contextmanager
def building(
    store: Store, name: str, settings: Settings, given: Iterable[tuple[str, str | None]]
) -> Iterator[Identity]:
    """Yield a new campaign that nobody else sees; at the end it is seen.

    ``given``: the id of each arm, no two alike, and its payload as JSON.
    ``keep_building`` is to be called in each transaction. Raises ConflictError at the end if the name has been taken,
    and what ``create`` raises. If anything is raised, the campaign is gone.
    """
    check_new(store, name, settings)
    _clear(store)
    campaign = store.write(lambda connection: _begin(connection, store, settings))
    try:
        filling, pace = Filling(campaign, given), Pace()
        while rows := filling.take():
            store.write(partial(_fill, campaign=campaign, rows=rows))
            pace.between()
        store.write(lambda connection: filling.finish(connection, Clock()))
        campaign.terms = campaign.terms._replace(name=name)
        yield campaign
        store.write(lambda connection: _show(connection, store, campaign, name))
    except BaseException:
        with suppress(StoreError):
            _drop(store, campaign.id)
        raise


def keep_building(connection: Connection, campaign: Identity) -> None:
    """Say in a transaction that somebody is still at work on a campaign."""
    _GO_ON.run(connection, [(Clock().now(connection) + _PATIENCE, campaign.id)])


def _begin(connection: Connection, store: Store, settings: Settings) -> Identity:
    campaign = insert_campaign(connection, store, f"\n{secrets.token_hex(16)}", settings)
    keep_building(connection, campaign)
    return campaign


def _fill(connection: Connection, campaign: Identity, rows: list[Row]) -> None:
    keep_building(connection, campaign)
    insert_arms(connection, rows)


def _show(connection: Connection, store: Store, campaign: Identity, name: str) -> None:
    shown = update(campaigns).where(campaigns.c.id == campaign.id)
    try:
        done = connection.execute(shown.values(name=name, unfinished_until=None))
    except IntegrityError:
        raise taken(store, name) from None
    if done.rowcount == 0:
        raise campaign.gone()
    campaign.terms = campaign.terms._replace(name=name)


def _clear(store: Store) -> None:
    """Delete the campaigns whose builders are dead."""

    def dead(connection: Connection) -> list[int]:
        now = Clock().now(connection)
        return list(connection.scalars(select(campaigns.c.id).where(campaigns.c.unfinished_until <= now)))

    for campaign in store.write(dead):
        _drop(store, campaign)


def _drop(store: Store, campaign: int) -> None:
    """Delete a campaign that is unfinished, in short transactions, its own row last."""
    base, pace = campaign * STRIDE, Pace()
    for number in (pulls.c.number, arms.c.number):
        some = select(number).where(number.between(base, base + STRIDE - 1)).limit(_SOME)
        while _delete(store, number.table, number.in_(some)):
            pace.between()
    for table in (sources, learnt, changes, progress):
        _delete(store, table, table.c.campaign_id == campaign)
    _delete(store, campaigns, campaigns.c.id == campaign)


def _delete(store: Store, table: Table, condition: ColumnElement[bool]) -> int:
    return store.write(lambda connection: connection.execute(delete(table).where(condition)).rowcount)
