"""Correcting: the reward of a pull is replaced, and the old one is kept."""

from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from cutline.campaign.arithmetic import square, to_units
from cutline.campaign.checks import check_note, check_text
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, PullKey
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.arms_and_pulls import lock_pulls, write_arms
from cutline.campaign.database.rows.learnt import State, arithmetic_of
from cutline.campaign.database.schema import ABANDONED, EXPIRED, LEASED, TOLD, corrections, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.results import Pull
from cutline.errors import ConflictError

_NOTE = Prepared(select(pulls.c.note, pulls.c.worker).where(pulls.c.number == bindparam("pull")))

_KEEP = Prepared(
    insert(corrections).values(
        pull=bindparam("new_pull"),
        nth=select(func.count()).where(corrections.c.pull == bindparam("same_pull")).scalar_subquery(),
        time=bindparam("new_time"),
        worker=bindparam("new_worker"),
        reward=bindparam("old_reward"),
        note=bindparam("old_note"),
    ),
    ("new_pull", "same_pull", "new_time", "new_worker", "old_reward", "old_note"),
)

_REPLACE = Prepared(
    update(pulls)
    .where(pulls.c.number == bindparam("pull"))
    .values(reward=bindparam("new_reward"), note=bindparam("new_note")),
    ("new_reward", "new_note", "pull"),
)

_WITHOUT_REWARD = {
    LEASED: "has no reward yet; tell it",
    ABANDONED: "was abandoned and has no reward",
    EXPIRED: "has lost its lease and has no reward; tell it",
}


def correct(
    store: Store,
    campaign: Identity,
    clock: Clock,
    pull: Pull | str,
    reward: Any,
    note: str | None,
    worker: str | None,
) -> bool:
    """Replace the reward of a pull; see Campaign.correct."""
    key, units = campaign.pull_key(pull), to_units(reward)
    check_note(note)
    if worker is not None:
        check_text("worker", worker)

    def work(connection: Connection) -> State | None:
        return _correct(connection, campaign, clock, key, units, note, worker)

    state = store.write(work, pipelined=True)
    if state is not None:
        learning.keep_up(store, campaign, clock, state, told=True)
    return state is not None


def _correct(
    connection: Connection,
    campaign: Identity,
    clock: Clock,
    key: PullKey,
    reward: int,
    note: str | None,
    worker: str | None,
) -> State | None:
    """Replace a reward, and the note if one is given; return the state after that, None if nothing changed."""
    now = clock.stamp(connection)
    locked = lock_pulls(connection, campaign, [key])
    row = locked.pull(key[0])
    if row is None or row.arm != key[1]:
        counters.read(connection, campaign, "numbered")
        raise campaign.no_pull(campaign.pull_id(key))
    if row.state != TOLD or row.reward is None:
        raise ConflictError(f"pull {campaign.pull_id(key)} {_WITHOUT_REWARD.get(row.state, _FROM_ELSEWHERE)}")
    ((old_note, own_worker),) = _NOTE.rows(connection, pull=row.number)
    new_note = old_note if note is None else note or None
    if (reward, new_note) == (row.reward, old_note):
        return None
    _KEEP.run(connection, [(row.number, row.number, now(), worker or own_worker, row.reward, old_note)])
    _REPLACE.run(connection, [(reward, new_note, row.number)])
    arm, state = locked.arms[row.arm], locked.state
    weigh = arithmetic_of(connection, campaign, state).weigh
    evidence = weigh(row.worker, reward) - weigh(row.worker, row.reward)
    arm.change(0, reward - row.reward, square(reward) - square(row.reward), 0, evidence)
    growth = write_arms(connection, campaign, state, [arm])
    counters.add(connection, campaign, **growth).ignore()
    return state.after(growth["doubt"])


_FROM_ELSEWHERE = (
    "is a result from elsewhere; correct it where it comes from, and import that file again with --replace"
)
