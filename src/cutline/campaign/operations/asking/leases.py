"""Leases: a pull in flight is given back, or has more time."""

from sqlalchemy import Connection, bindparam, update

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, PullKey
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.arms_and_pulls import Arm, PullRow, lock_pulls
from cutline.campaign.database.rows.learnt import State
from cutline.campaign.database.rows.pulls import abandon_pull
from cutline.campaign.database.schema import ABANDONED, EXPIRED, LEASED, OBSERVED, TOLD, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.results import Pull
from cutline.checks import check_positive
from cutline.errors import ConflictError

_EXTEND = Prepared(
    update(pulls).where(pulls.c.number == bindparam("pull")).values(expires=bindparam("until")),
    ("until", "pull"),
)


def abandon(store: Store, campaign: Identity, clock: Clock, pull: Pull | str) -> None:
    """Give a pull back; see Campaign.abandon."""
    key = campaign.pull_key(pull)
    store.write(lambda connection: _abandon(connection, campaign, key, clock), pipelined=True)


def _abandon(connection: Connection, campaign: Identity, key: PullKey, clock: Clock) -> None:
    row, arm, state = _lock_one(connection, campaign, key)
    if row.state == TOLD:
        raise ConflictError(f"pull {campaign.pull_id(key)} has its reward already; it cannot be abandoned")
    if row.state == ABANDONED:
        return
    arm.in_flight -= row.state == LEASED
    abandon_pull(connection, campaign, state, row.number, arm, clock.now(connection))
    counters.add(connection, campaign, in_flight=-(row.state == LEASED)).ignore()


def extend(store: Store, campaign: Identity, clock: Clock, pull: Pull | str, lease: float) -> float:
    """Let a lease end later; see Campaign.extend."""
    key = campaign.pull_key(pull)
    seconds = check_positive("lease", lease)
    return store.write(lambda connection: _extend(connection, campaign, key, clock, seconds), pipelined=True)


def _extend(connection: Connection, campaign: Identity, key: PullKey, clock: Clock, lease: float) -> float:
    row, _, _ = _lock_one(connection, campaign, key)
    if row.state != LEASED:
        was = {TOLD: "has its reward", ABANDONED: "was abandoned", EXPIRED: "has lost its lease"}[row.state]
        raise ConflictError(f"pull {campaign.pull_id(key)} {was}; only a pull in flight can be extended")
    moment = clock.ask(connection)
    until = moment.now() + lease
    moment.remember()
    _EXTEND.run(connection, [(until, row.number)])
    return until


def _lock_one(connection: Connection, campaign: Identity, key: PullKey) -> tuple[PullRow, Arm, State]:
    """Return a pull and its arm, locked, and the state of the campaign."""
    locked = lock_pulls(connection, campaign, [key])
    row = locked.pull(key[0])
    if row is None or row.arm != key[1] or row.state == OBSERVED:
        counters.read(connection, campaign, "numbered")
        raise campaign.no_pull(campaign.pull_id(key))
    return row, locked.arms[row.arm], locked.state
