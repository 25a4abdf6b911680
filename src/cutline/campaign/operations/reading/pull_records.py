"""What has become of a pull, and which a worker has in flight, and how many he has answered."""

import json

from sqlalchemy import Connection, bindparam, func, select

from cutline.campaign.arithmetic import UNIT
from cutline.campaign.checks import check_text
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows import counters
from cutline.campaign.database.schema import ABANDONED, EXPIRED, LEASED, TOLD, arms, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.results import Pull, PullRecord, PullState

_STATES = {
    LEASED: PullState.IN_FLIGHT,
    TOLD: PullState.TOLD,
    ABANDONED: PullState.ABANDONED,
    EXPIRED: PullState.LEASE_ENDED,
}

_PULL = (
    select(pulls.c.arm, pulls.c.state, pulls.c.expires, pulls.c.reward, pulls.c.worker, arms.c.name, arms.c.payload)
    .join(arms, arms.c.number == pulls.c.arm)
    .where(pulls.c.number == bindparam("pull"), pulls.c.state.in_(_STATES))
)
_IN_FLIGHT = (
    select(pulls.c.number, pulls.c.arm, arms.c.name, arms.c.payload, pulls.c.expires)
    .join(arms, arms.c.number == pulls.c.arm)
    .where(pulls.c.worker_digest == bindparam("worker"), pulls.c.expires > bindparam("now"))
    .order_by(pulls.c.number)
)
_ANSWERED = select(func.count()).where(pulls.c.worker_digest == bindparam("worker"), pulls.c.state == TOLD)


def record_of(store: Store, campaign: Identity, clock: Clock, pull: Pull | str) -> PullRecord:
    """Return what has become of a pull; see Campaign.pull."""
    number, arm = campaign.pull_key(pull)

    def work(connection: Connection) -> PullRecord:
        row = connection.execute(_PULL, {"pull": number}).first()
        if row is None or row.arm != arm:
            counters.read(connection, campaign, "numbered")  # raises if the campaign is gone
            raise campaign.no_pull(getattr(pull, "id", pull))
        state = _STATES[row.state]
        if state is PullState.IN_FLIGHT and row.expires <= clock.now(connection):
            state = PullState.LEASE_ENDED
        payload = None if row.payload is None else json.loads(row.payload)
        reward = None if row.reward is None else row.reward / UNIT
        return PullRecord(campaign.pull_id((number, arm)), row.name, payload, row.worker, state, reward)

    return store.read(work)


def answered(store: Store, campaign: Identity, worker: str) -> int:
    """Return how many pulls a worker has told; see Campaign.answered."""
    values = {"worker": campaign.digest(check_text("worker", worker))}

    def work(connection: Connection) -> int:
        counters.read(connection, campaign, "numbered")  # raises if the campaign is gone
        return int(connection.execute(_ANSWERED, values).scalar_one())

    return store.read(work)


def leased(store: Store, campaign: Identity, clock: Clock, worker: str) -> list[Pull]:
    """Return the pulls that a worker has in flight; see Campaign.leased."""
    who = campaign.digest(check_text("worker", worker))

    def work(connection: Connection) -> list[Pull]:
        counters.read(connection, campaign, "numbered")  # raises if the campaign is gone
        rows = connection.execute(_IN_FLIGHT, {"worker": who, "now": clock.now(connection)})
        return [
            Pull(
                campaign.pull_id((row.number, row.arm)),
                row.name,
                row.payload and json.loads(row.payload),
                worker,
                row.expires,
            )
            for row in rows
        ]

    return store.read(work)
