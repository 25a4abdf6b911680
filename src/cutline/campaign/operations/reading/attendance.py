"""Who works on a campaign: how many answers each gave, how often they agree with the decision, when last seen."""

from sqlalchemy import Connection, bindparam, case, func, select

from cutline.campaign.arithmetic import to_units
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, terms_of
from cutline.campaign.database.rows.imports import IS_DECIDED
from cutline.campaign.database.rows.learnt import read_state, require_decisions
from cutline.campaign.database.schema import ABOVE, BELOW, STAGED, arms, corrections, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.results import Worker

_AGREES = case(
    (pulls.c.reward >= bindparam("threshold"), arms.c.decision == ABOVE),
    (pulls.c.reward < bindparam("threshold"), arms.c.decision == BELOW),
    else_=False,
)
_OWN = pulls.c.number.between(bindparam("first"), bindparam("last"))

_WORKERS = (
    select(
        func.min(pulls.c.worker),
        func.count(pulls.c.reward).label("answers"),
        func.sum(case((_AGREES, 1), else_=0)),
        func.sum(case((pulls.c.expires > bindparam("now"), 1), else_=0)),
        func.max(pulls.c.time),
    )
    .join(arms, arms.c.number == pulls.c.arm)
    .where(_OWN, pulls.c.worker_digest.is_not(None), (pulls.c.state != STAGED) | IS_DECIDED)
    .group_by(pulls.c.worker_digest)
)

_CORRECTED = (
    select(corrections.c.worker, func.max(corrections.c.time))
    .where(corrections.c.pull.between(bindparam("first"), bindparam("last")))
    .group_by(corrections.c.worker)
)


def workers(store: Store, campaign: Identity, clock: Clock) -> list[Worker]:
    """Return the workers; see Campaign.workers."""
    first, last = campaign.numbers

    def read(connection: Connection) -> list[Worker]:
        require_decisions(connection, campaign)
        version = read_state(connection, campaign).version
        threshold = to_units(terms_of(connection, campaign, version).settings.threshold)
        values = {"campaign": campaign.id, "first": first, "last": last, "threshold": threshold}
        rows = connection.execute(_WORKERS, {**values, "now": clock.now(connection)})
        corrected = dict(map(tuple, connection.execute(_CORRECTED, values)))
        found = []
        for name, answers, agreeing, flying, seen in rows:
            times = [time for time in (seen, corrected.get(name)) if time is not None]
            found.append(Worker(name, answers, int(agreeing), int(flying), max(times, default=None)))
        return sorted(found, key=lambda worker: (-worker.answers, worker.name))

    return store.read(read)
