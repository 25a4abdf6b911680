"""Observing: results from elsewhere join a campaign, each once."""

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from sqlalchemy import Connection, select

from cutline.campaign.arithmetic import to_units, written
from cutline.campaign.checks import check_text
from cutline.campaign.database import counters
from cutline.campaign.database.arms_and_pulls import lock_arms, observe_pulls, seen_pulls
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import PreparedForEach
from cutline.campaign.database.schema import OBSERVED, TOLD, arms, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.results import Observation
from cutline.errors import ConflictError, InvalidInputError, NotFoundError

_NAMED = PreparedForEach(
    lambda digests: select(arms.c.name_digest, arms.c.number).where(arms.c.name_digest.in_(digests))
)
_KEYED = PreparedForEach(
    lambda digests: select(pulls.c.key_digest, pulls.c.arm, pulls.c.reward).where(pulls.c.key_digest.in_(digests))
)
_OWN = PreparedForEach(
    lambda numbers: select(pulls.c.number, pulls.c.arm, pulls.c.reward).where(
        pulls.c.number.in_(numbers), (pulls.c.state == TOLD) | (pulls.c.state == OBSERVED)
    )
)


class _Seen(NamedTuple):
    """An observation as the tables hold it."""

    arm: int
    reward: int
    worker: str | None
    key: str | None


def observe(store: Store, campaign: Identity, observations: Iterable[tuple[Any, ...]]) -> int:
    """Record results from elsewhere and return how many are new; see Campaign.observe."""
    checked = [_check(item) for item in observations]
    return store.write(lambda connection: _observe(connection, campaign, checked), pipelined=True) if checked else 0


def _check(given: tuple[Any, ...]) -> Observation:
    try:
        item = Observation(*given)
    except TypeError:
        raise InvalidInputError(
            f"observation {given!r}: it must be (arm, reward), and may add worker and key"
        ) from None
    check_text("arm", item.arm)
    for what, value in (("worker", item.worker), ("key", item.key)):
        if value is not None:
            check_text(what, value)
    return item._replace(reward=to_units(item.reward))


def _observe(connection: Connection, campaign: Identity, observations: list[Observation]) -> int:
    numbers = _arm_numbers(connection, campaign, observations)
    locked = lock_arms(connection, numbers.values())  # before the keys are read: whoever came first has committed
    held = _held(connection, campaign, {item.key for item in observations if item.key is not None})
    new: list[_Seen] = []
    for item in observations:
        seen = _Seen(numbers[item.arm], int(item.reward), item.worker, item.key)
        if item.key is None:
            new.append(seen)
        elif item.key not in held:
            held[item.key] = (seen.arm, seen.reward)
            new.append(seen)
        elif held[item.key] != (seen.arm, seen.reward):
            raise _other_result(item, held[item.key], seen.arm)
    if not new:
        return 0
    for seen in new:
        locked[seen.arm].take(seen.reward)
    changed = {seen.arm for seen in new}
    taken = [arm for number, arm in locked.items() if number in changed]
    counted = observe_pulls(connection, campaign, taken, len(new)).rows()
    if not counted:
        raise campaign.gone()
    last = counted[0][0]
    rows: list[tuple[Any, ...]] = []
    for number, seen in enumerate(new, campaign.base + last - len(new) + 1):
        who, key = campaign.optional_digest(seen.worker), campaign.optional_digest(seen.key)
        rows.append((number, campaign.id, seen.arm, OBSERVED, None, seen.reward, seen.worker, who, seen.key, key))
    seen_pulls(connection, rows)
    return len(new)


def _arm_numbers(connection: Connection, campaign: Identity, observations: list[Observation]) -> dict[str, int]:
    names = {campaign.digest(item.arm): item.arm for item in observations}
    numbers = {names[found]: number for found, number in _NAMED.rows(connection, names)}
    for name in names.values():
        if name not in numbers:
            counters.read(connection, campaign, "observed")
            raise NotFoundError(f"campaign {campaign.name!r} has no arm {name!r}")
    return numbers


def _held(connection: Connection, campaign: Identity, keys: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return (arm, reward) of those keys that the campaign holds: the ids of pulls told, and keys observed."""
    own = {pull: key for key in keys if (pull := campaign.own_key(key)) is not None}
    told = _OWN.rows(connection, {number for number, _ in own})
    held = {own[number, arm]: (arm, reward) for number, arm, reward in told if (number, arm) in own}
    for key in own.values():
        if key not in held:
            raise ConflictError(f"{key!r} is a pull of campaign {campaign.name!r} that has no reward; tell it")
    others = {campaign.digest(key): key for key in keys if key not in held}
    found = _KEYED.rows(connection, others)
    return held | {others[key]: (arm, reward) for key, arm, reward in found}


def _other_result(item: Observation, held: tuple[int, int], arm: int) -> ConflictError:
    if held[0] != arm:
        return ConflictError(f"the result with key {item.key!r} is of another arm than {item.arm!r}")
    return ConflictError(
        f"the result with key {item.key!r} of arm {item.arm!r} was {written(held[1])} and is now "
        f"{written(int(item.reward))}; a key has one reward"
    )
