"""Pulls as transactions write them, with their arms: leased, told, given back, or seen elsewhere."""

from collections.abc import Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, insert, null, update

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Answer, Prepared
from cutline.campaign.database.rows import counters, progress
from cutline.campaign.database.rows.arms_and_pulls import Arm, Level, levels_of, write_arms, write_levels
from cutline.campaign.database.rows.learnt import State
from cutline.campaign.database.schema import ABANDONED, EXPIRED, TOLD, pulls

_TELL_PULL = Prepared(
    update(pulls)
    .where(pulls.c.number == bindparam("pull"))
    .values(
        state=bindparam("new_state"),
        expires=null(),
        reward=bindparam("new_reward"),
        note=bindparam("new_note"),
        time=bindparam("new_time"),
    ),
    ("new_state", "new_reward", "new_note", "new_time", "pull"),
)
_EXPIRE_PULL = Prepared(
    update(pulls).where(pulls.c.number == bindparam("pull")).values(state=bindparam("new_state"), expires=null()),
    ("new_state", "pull"),
)
_ABANDON_PULL = Prepared(
    update(pulls)
    .where(pulls.c.number == bindparam("pull"))
    .values(state=bindparam("new_state"), expires=null(), time=bindparam("new_time")),
    ("new_state", "new_time", "pull"),
)
_NEW_PULL_COLUMNS = ("number", "campaign_id", "arm", "state", "expires", "worker", "worker_digest", "time")
_NEW_PULL = Prepared(
    insert(pulls).values({name: bindparam(f"new_{name}") for name in _NEW_PULL_COLUMNS}),
    tuple(f"new_{name}" for name in _NEW_PULL_COLUMNS),
)
_SEEN_PULL = Prepared(insert(pulls), tuple(column.name for column in pulls.columns))


class Given(NamedTuple):
    """The reward that a pull is given, in billionths, and the note that comes with it."""

    number: int
    reward: int
    note: str | None


def tell_pulls(
    connection: Connection,
    campaign: Identity,
    state: State,
    told: list[Given],
    changed: Iterable[Arm],
    late: int,
    now: float,
) -> tuple[Answer, State]:
    """Write rewards of pulls, ``late`` of which had ended, and the arms that took them.

    Return the answer of ``counters.add`` and the state after that.
    """
    growth = write_arms(connection, campaign, state, changed)
    _give(connection, told, now)
    answer = counters.add(connection, campaign, late, spent=len(told), in_flight=late - len(told), **growth)
    after = state.after(growth["doubt"], spent=len(told))
    progress.keep(connection, campaign, state, after, now)
    return answer, after


def observe_pulls(
    connection: Connection,
    campaign: Identity,
    state: State,
    changed: Iterable[Arm],
    settled: list[Given],
    seen: int,
    now: float,
) -> tuple[Answer, State]:
    """Write the arms that took rewards from elsewhere, and the rewards of pulls in flight that were settled by it.

    ``seen`` rewards are no pull's. Return the answer of ``counters.add`` and the state after that.
    """
    growth = write_arms(connection, campaign, state, changed)
    _give(connection, settled, now)
    answer = counters.add(
        connection,
        campaign,
        numbered=seen,
        observed=seen,
        spent=len(settled),
        in_flight=-len(settled),
        **growth,
    )
    after = state.after(growth["doubt"], spent=len(settled), observed=seen)
    progress.keep(connection, campaign, state, after, now)
    return answer, after


def _give(connection: Connection, told: list[Given], now: float) -> None:
    _TELL_PULL.run(connection, [(TOLD, reward, note, now, number) for number, reward, note in told])


def lease_pulls(
    connection: Connection, campaign: Identity, made: list[tuple[Any, ...]], levels: list[Level], back: int
) -> None:
    """Insert pulls that are leased, and write the arms that they are of; ``back`` pulls have come back.

    ``made`` holds their number, campaign, arm, state, end of the lease, worker, the digest of that, and the time.
    """
    _NEW_PULL.run(connection, made)
    write_levels(connection, levels)
    counters.add(connection, campaign, numbered=len(made), in_flight=len(made) - back).ignore()


def expire_pulls(
    connection: Connection, campaign: Identity, state: State, numbers: list[int], changed: Iterable[Arm]
) -> None:
    """Write pulls whose lease has ended and the arms that they were of; ``state`` is that of the campaign."""
    _EXPIRE_PULL.run(connection, [(EXPIRED, number) for number in numbers])
    write_levels(connection, levels_of(connection, campaign, state, changed))


def abandon_pull(connection: Connection, campaign: Identity, state: State, number: int, arm: Arm, now: float) -> None:
    """Write a pull that has been abandoned, and its arm; see ``expire_pulls``."""
    _ABANDON_PULL.run(connection, [(ABANDONED, now, number)])
    write_levels(connection, levels_of(connection, campaign, state, [arm]))


def seen_pulls(connection: Connection, rows: list[tuple[Any, ...]]) -> None:
    """Insert results from elsewhere: every column of the table, in its order."""
    _SEEN_PULL.run(connection, rows)
