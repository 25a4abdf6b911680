"""The curve of progress: where a campaign stood at counts of results that lie further and further apart.

A point is written in the transaction of the results that bring the campaign to it, after its counters. There is one at
each of the first counts, and then so many to each doubling: some 700 for ten million results. Of transactions that run
at once each may write the point that all of them reach, or none; what a point says was true when it was written.
"""

from sqlalchemy import Connection, bindparam, func, insert, select

from cutline.campaign.arithmetic import DOUBT
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared, Row
from cutline.campaign.database.rows.learnt import State
from cutline.campaign.database.schema import campaigns, progress
from cutline.campaign.database.store import Store
from cutline.campaign.results import ProgressPoint

_BITS = 5
"""There are 2^5 points to each doubling, and one at each count below twice that."""

_COUNTS = ("spent", "observed", "decided", "doubt")

_NEXT = (
    select(func.coalesce(func.max(progress.c.number), 0) + 1)
    .where(progress.c.campaign_id == campaigns.c.id)
    .correlate(campaigns)
    .scalar_subquery()
)
_ADD = Prepared(
    insert(progress).from_select(
        [column.name for column in progress.columns],
        select(
            campaigns.c.id,
            _NEXT,
            bindparam("now", type_=progress.c.time.type),
            *(campaigns.c[name] for name in _COUNTS),
        ).where(campaigns.c.id == bindparam("campaign")),
    )
)
_POINTS = Prepared(
    select(progress.c.time, *(progress.c[name] for name in _COUNTS))
    .where(progress.c.campaign_id == bindparam("campaign"))
    .order_by(progress.c.number)
)
_PRESENT = Prepared(select(*(campaigns.c[name] for name in _COUNTS)).where(campaigns.c.id == bindparam("campaign")))


def keep(connection: Connection, campaign: Identity, before: State, after: State, now: float) -> None:
    """Write a point if the results between these states bring the campaign to one."""
    if _grid(after.results) > _grid(before.results):
        add_point(connection, campaign, now)


def add_point(connection: Connection, campaign: Identity, now: float) -> None:
    """Write where the campaign stands in this transaction, which holds its row."""
    _ADD.send(connection, now=now, campaign=campaign.id).ignore()


def progress_of(store: Store, campaign: Identity, clock: Clock) -> list[ProgressPoint]:
    """Return the points and where the campaign stands now; see Campaign.progress."""

    def read(connection: Connection) -> list[Row]:
        present = _PRESENT.rows(connection, campaign=campaign.id)
        if not present:
            raise campaign.gone()
        return [*_POINTS.rows(connection, campaign=campaign.id), (clock.now(connection), *present[0])]

    return [
        ProgressPoint(time, spent, observed, decided, doubt / DOUBT)
        for time, spent, observed, decided, doubt in store.read(read)
    ]


def _grid(results: int) -> int:
    """Return the largest count with a point that is not above so many results."""
    apart = max(results.bit_length() - _BITS - 1, 0)
    return results >> apart << apart
