"""Pulls as transactions write them, with their arms: leased, told, given back, or seen elsewhere."""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import BigInteger, Connection, Integer, bindparam, cast, insert, literal_column, null, select, update

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.listed import as_list, listed
from cutline.campaign.database.prepared import Answer, Prepared
from cutline.campaign.database.rows import counters, progress
from cutline.campaign.database.rows.arms_and_pulls import Arm, Level, levels_of, write_arms, write_levels
from cutline.campaign.database.rows.learnt import State
from cutline.campaign.database.schema import ABANDONED, EXPIRED, LEASED, TOLD, pulls

_TELL = (
    update(pulls)
    .where(pulls.c.number == bindparam("pull"))
    .values(state=literal_column(str(TOLD)), expires=null(), reward=bindparam("new_reward"), time=bindparam("new_time"))
)
# a parameter that is None takes Python's SQLite longer than all the others, so who has no note does not write one
_TELL_PULL = Prepared(_TELL.values(note=null()), ("new_reward", "new_time", "pull"))
_TELL_PULL_WITH_NOTE = Prepared(
    _TELL.values(note=bindparam("new_note")), ("new_reward", "new_note", "new_time", "pull")
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
_LEASED = listed("leased_arms")
_SAME = ("expires", "worker", "worker_digest", "time")
_NEW_PULLS = Prepared(
    insert(pulls).from_select(
        ["number", "campaign_id", "arm", "state", *_SAME],
        select(
            cast(bindparam("first"), BigInteger) + _LEASED.c.key,
            cast(bindparam("campaign"), Integer),
            _LEASED.c.value,
            literal_column(str(LEASED)),
            *(cast(bindparam(name), pulls.c[name].type) for name in _SAME),
        ),
    )
)
_SEEN_PULL = Prepared(insert(pulls), tuple(column.name for column in pulls.columns))


class Leases(NamedTuple):
    """Pulls that are leased together, of these ``arms`` in turn: the ``first`` has this number, the others follow."""

    first: int
    arms: list[int]
    expires: float
    worker: str | None
    worker_digest: bytes | None
    time: float


Given: TypeAlias = tuple[int, int, str | None]
"""The number of a pull, the reward that it is given, in billionths, and the note that comes with it."""


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
    _give(connection, told, now)
    growth = write_arms(connection, campaign, state, changed)
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
    _give(connection, settled, now)
    growth = write_arms(connection, campaign, state, changed)
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
    _TELL_PULL.run(connection, [(reward, now, number) for number, reward, note in told if note is None])
    _TELL_PULL_WITH_NOTE.run(
        connection, [(reward, note, now, number) for number, reward, note in told if note is not None]
    )


def lease_pulls(connection: Connection, campaign: Identity, leases: Leases, levels: list[Level], back: int) -> None:
    """Insert pulls that are leased, and write the arms that they are of; ``back`` pulls have come back."""
    first, arms, *same = leases
    if not arms:
        counters.add(connection, campaign, in_flight=-back).ignore()
        return
    values = dict(zip(_SAME, same, strict=True))
    _NEW_PULLS.send(connection, first=first, campaign=campaign.id, leased_arms=as_list(arms), **values).ignore()
    write_levels(connection, levels)
    counters.add(connection, campaign, numbered=len(arms), in_flight=len(arms) - back).ignore()


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
