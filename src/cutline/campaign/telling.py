"""Telling: a pull gets its reward, once."""

from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, bindparam, select

from cutline.campaign.books import Book, PullKey, add, counter
from cutline.campaign.records import Pull
from cutline.campaign.rows import Arm, PullRow, end_pulls, lock_pulls, write_arms
from cutline.campaign.rules import to_units, written
from cutline.campaign.schema import ABANDONED, EXPIRED, LEASED, OBSERVED, TOLD, pulls
from cutline.campaign.statements import Prepared
from cutline.campaign.store import Store
from cutline.errors import ConflictError

_HAS_AGAIN = Prepared(
    select(pulls.c.number).where(
        pulls.c.worker_digest == bindparam("worker"),
        pulls.c.arm == bindparam("arm"),
        pulls.c.state != EXPIRED,
    )
)


def tell(store: Store, book: Book, rewards: Iterable[tuple[Pull | str, Any]]) -> int:
    """Record rewards and return how many are new; see Campaign.tell and Campaign.tell_many."""
    told: dict[PullKey, int] = {}
    for pull, reward in rewards:
        key, units = book.pull_key(pull), to_units(reward)
        if told.setdefault(key, units) != units:
            raise _other_reward(book, key, told[key], units)
    return store.write(lambda connection: record(connection, book, told), pipelined=True) if told else 0


def record(connection: Connection, book: Book, told: dict[PullKey, int]) -> int:
    """Record rewards in billionths by pull; return how many are new."""
    rows, arms = lock_pulls(connection, told)
    new = [item for item in told.items() if _is_new(connection, book, rows.get(item[0]), *item)]
    if not new:
        return 0
    late: list[PullRow] = []
    for key, units in new:
        row = rows[key]
        arm = arms[row.arm]
        if row.state == LEASED:
            arm.in_flight -= 1
        else:
            _check_late(connection, book, row, arm, late)
            late.append(row)
        arm.take(units)
    end_pulls(connection, TOLD, [(number, units) for (number, _), units in new])
    changed = {arm for (_, arm), _ in new}
    doubt = write_arms(connection, book, [arm for number, arm in arms.items() if number in changed])
    counted = add(connection, book, told=len(new), leased=len(late) - len(new), doubt=doubt, late=len(late))
    if not late:
        counted.ignore()
    elif not counted.rows():
        raise _place_gone(book, late[0], "the rest of the budget is told or in flight")
    return len(new)


def _is_new(connection: Connection, book: Book, row: PullRow | None, key: PullKey, units: int) -> bool:
    if row is None or row.state == OBSERVED:
        counter(connection, book, "numbered")
        raise book.no_pull(book.pull_id(key))
    if row.state == ABANDONED:
        raise ConflictError(f"pull {book.pull_id(key)} was abandoned; ask for another")
    if row.reward is not None and row.reward != units:
        raise _other_reward(book, key, row.reward, units)
    return row.reward is None


def _check_late(connection: Connection, book: Book, row: PullRow, arm: Arm, late: list[PullRow]) -> None:
    """Raise ConflictError if the arm or the worker has no room for a pull whose lease has ended; ``late`` had such."""
    if not book.rules.has_room(arm.pulls, arm.in_flight):
        raise _place_gone(book, row, "the arm has as many pulls as an arm may have")
    if row.worker is not None and not book.settings.repeat_workers:
        again = _HAS_AGAIN.rows(connection, worker=row.worker, arm=arm.number)
        if again or any(row[1:] == other[1:] for other in late):  # the same arm, state and worker
            raise _place_gone(book, row, "its worker has had the arm again")


def _other_reward(book: Book, key: PullKey, told: int, units: int) -> ConflictError:
    return ConflictError(
        f"pull {book.pull_id(key)} was told {written(told)} and now {written(units)}; a pull has one reward"
    )


def _place_gone(book: Book, row: PullRow, why: str) -> ConflictError:
    return ConflictError(f"the lease of pull {book.pull_id(row[:2])} has ended, and {why}; ask for another")
