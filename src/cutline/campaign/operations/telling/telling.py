"""Telling: a pull gets its reward, once."""

from collections.abc import Iterable
from typing import Any, TypeAlias

from sqlalchemy import Connection, bindparam, select

from cutline.campaign.arithmetic import to_units, written
from cutline.campaign.checks import check_note
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, PullKey, terms_of
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.arms_and_pulls import Arm, PullRow, lock_pulls
from cutline.campaign.database.rows.learnt import State, arithmetic_of
from cutline.campaign.database.rows.pulls import Given, tell_pulls
from cutline.campaign.database.schema import ABANDONED, EXPIRED, LEASED, OBSERVED, STAGED, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.operations.observing.known import require_decided
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.results import Pull
from cutline.errors import ConflictError, InvalidInputError

_HAS_AGAIN = Prepared(
    select(pulls.c.state, pulls.c.reward).where(
        pulls.c.worker_digest == bindparam("worker"),
        pulls.c.arm == bindparam("arm"),
        pulls.c.state != EXPIRED,
    )
)


_ARM, _STATE, _WORKER = map(PullRow._fields.index, ("arm", "state", "worker"))

_Told: TypeAlias = tuple[int, str | None]
"""A reward, in billionths, and the note that comes with it."""


def tell(store: Store, campaign: Identity, clock: Clock, answers: Iterable[tuple[Any, ...]]) -> int:
    """Record rewards and return how many are new; see Campaign.tell and Campaign.tell_many."""
    told: dict[PullKey, _Told] = {}
    for given in answers:
        pull, reward, note = checked_answer(given)
        key, answer = campaign.pull_key(pull), (to_units(reward), note)
        before, _ = told.setdefault(key, answer)
        if before != answer[0]:
            raise _other_reward(campaign, key, before, answer[0])
    if not told:
        return 0
    new, state = store.write(lambda connection: _record(connection, campaign, clock, told), pipelined=True)
    if new:
        learning.after(store, campaign, clock, state, told=True)
    return new


def checked_answer(given: Any) -> tuple[Pull | str, Any, str | None]:
    """Return pull, reward and note of an answer; raise InvalidInputError for a bad note, or something else."""
    try:
        pull, reward, *rest = given
        (note,) = rest or [None]
    except (TypeError, ValueError):
        raise InvalidInputError(f"answer {given!r}: it must be (pull, reward), and may add a note") from None
    return pull, reward, check_note(note)


def _record(connection: Connection, campaign: Identity, clock: Clock, told: dict[PullKey, _Told]) -> tuple[int, State]:
    """Record answers; return how many are new, and the state after that."""
    now = clock.stamp(connection)
    locked = lock_pulls(connection, campaign, told)
    rows, arms, state = locked
    new: list[Given] = []
    late: list[PullRow] = []
    weigh = arithmetic_of(connection, campaign, state).weigh
    changed: dict[int, Arm] = {}
    for key, (units, note) in told.items():
        number, of = key
        row = rows.get(number)
        if row is None or row[_ARM] != of or row[_STATE] != LEASED:
            pull = locked.pull(number)
            if not _is_new(connection, campaign, pull, key, units):
                continue
            assert row is not None
            assert pull is not None
            if _is_answered(connection, campaign, state, pull, arms[of], units, late):
                continue
            late.append(pull)
            arms[of].in_flight += 1
        arm = changed[of] = arms[of]
        arm.in_flight -= 1
        arm.take(units, weigh(row[_WORKER], units))
        new.append((number, units, note))
    if not new:
        return 0, state
    counted, state = tell_pulls(connection, campaign, state, new, changed.values(), len(late), now())
    if not late:
        counted.ignore()
    elif not counted.rows():
        raise _place_gone(campaign, late[0], "the rest of the budget is told or in flight")
    return len(new), state


def _is_new(connection: Connection, campaign: Identity, row: PullRow | None, key: PullKey, units: int) -> bool:
    """Say whether a pull that is not in flight takes the reward: late, or not at all as it has it."""
    if row is None or row.arm != key[1] or row.state == OBSERVED:
        counters.read(connection, campaign, "numbered")
        raise campaign.no_pull(campaign.pull_id(key))
    if row.state == ABANDONED:
        raise ConflictError(f"pull {campaign.pull_id(key)} was abandoned; ask for another")
    if row.reward is not None and row.reward != units:
        raise _other_reward(campaign, key, row.reward, units)
    return row.reward is None


def _is_answered(
    connection: Connection,
    campaign: Identity,
    state: State,
    row: PullRow,
    arm: Arm,
    units: int,
    late: list[PullRow],
) -> bool:
    """Say whether the answer of a pull whose lease has ended came in another way, as an import.

    Raise ConflictError if another answer did, or the arm or the worker has no room for it; ``late`` had such.
    """
    if row.worker is not None and not campaign.settings.repeat_workers:
        again = _HAS_AGAIN.rows(connection, worker=row.worker, arm=arm.number)
        if any(held == STAGED for held, _ in again):
            require_decided(connection, campaign)
        answers = {reward for _, reward in again if reward is not None}
        if units in answers:
            return True
        if again or any(row[1:] == other[1:] for other in late):  # the same arm, state and worker
            raise _place_gone(campaign, row, "its worker has had the arm again")
    if not terms_of(connection, campaign, state.version).settings.has_room(arm.pulls, arm.in_flight):
        raise _place_gone(campaign, row, "the arm has as many pulls as an arm may have")
    return False


def _other_reward(campaign: Identity, key: PullKey, told: int, units: int) -> ConflictError:
    return ConflictError(
        f"pull {campaign.pull_id(key)} was told {written(told)} and now {written(units)}; a pull has one reward, "
        "which only a correction changes"
    )


def _place_gone(campaign: Identity, row: PullRow, why: str) -> ConflictError:
    return ConflictError(f"the lease of pull {campaign.pull_id(row[:2])} has ended, and {why}; ask for another")
