"""Observing: results from elsewhere join a campaign, each once.

A result is known by its key, and by its worker and arm where workers answer an arm once: then it is the same answer
whether it was told, observed or imported. An answer whose pull is still in flight is that pull's reward.
"""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import BigInteger, Connection, LargeBinary, column, select, values

from cutline.campaign.arithmetic import to_units, written
from cutline.campaign.checks import check_text
from cutline.campaign.database import counters
from cutline.campaign.database.arms_and_pulls import lock_pulls_and_arms, observe_pulls, seen_pulls
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import PreparedForEach
from cutline.campaign.database.schema import ABANDONED, EXPIRED, LEASED, OBSERVED, TOLD, arms, pulls
from cutline.campaign.database.store import BusyError, Store
from cutline.campaign.results import Observation
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from cutline.text import quoted

Where: TypeAlias = Callable[[int], str]
"""Says where the n-th observation stands, as "l.csv, line 3: ", for messages."""

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


def _answers_of(pairs: list[tuple[Any, ...]]) -> Any:
    wanted = values(column("worker", LargeBinary), column("arm", BigInteger), name="wanted").data(pairs).cte()
    return (
        select(pulls.c.worker_digest, pulls.c.arm, pulls.c.number, pulls.c.state, pulls.c.reward)
        .join(wanted, (pulls.c.worker_digest == wanted.c.worker) & (pulls.c.arm == wanted.c.arm))
        .where(pulls.c.state != ABANDONED, pulls.c.state != EXPIRED)
    )


_ANSWERS = PreparedForEach(_answers_of, width=2)

Pair: TypeAlias = tuple[bytes, int]
"""The digest of a worker and the number of an arm."""


class _Seen(NamedTuple):
    """An observation as the tables hold it."""

    arm: int
    reward: int
    worker: str | None
    key: str | None


@dataclass
class _Known:
    """What the campaign holds of the observations: by key, by worker and arm, and pulls in flight of those."""

    keys: dict[str, tuple[int, int]]
    answers: dict[Pair, set[int]] = field(default_factory=dict)
    flying: dict[Pair, int] = field(default_factory=dict)


def observe(store: Store, campaign: Identity, observations: Iterable[tuple[Any, ...]]) -> int:
    """Record results from elsewhere and return how many are new; see Campaign.observe."""
    checked = [checked_observation(item) for item in observations]
    if not checked:
        return 0
    return store.write(lambda connection: record_observed(connection, campaign, checked), pipelined=True)


def checked_observation(given: tuple[Any, ...]) -> Observation:
    """Return an observation, its reward in billionths; raise InvalidInputError for a bad one."""
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


def record_observed(
    connection: Connection, campaign: Identity, observations: list[Observation], where: Where = lambda number: ""
) -> int:
    """Record observations whose rewards are in billionths; return how many are new."""
    numbers = _arm_numbers(connection, campaign, observations, where)
    pairs = _pairs(campaign, observations, numbers)
    wanted = {pair for pair in pairs if pair is not None}
    in_flight = {row[2] for row in _ANSWERS.rows(connection, wanted) if row[3] == LEASED}
    # before keys and answers are read: whoever came first has committed
    locked_pulls, locked = lock_pulls_and_arms(connection, in_flight, numbers.values())
    known = _known(connection, campaign, observations, wanted, locked_pulls)
    new: list[_Seen] = []
    settled: list[tuple[int, int]] = []
    changed: set[int] = set()
    for number, (item, pair) in enumerate(zip(observations, pairs, strict=True)):
        seen = _Seen(numbers[item.arm], int(item.reward), item.worker, item.key)
        if _is_known(known, seen, pair, item.arm, where(number)):
            continue
        arm = locked[seen.arm]
        if pair in known.flying:
            settled.append((known.flying.pop(pair), seen.reward))
            arm.in_flight -= 1
        else:
            new.append(seen)
        arm.take(seen.reward)
        changed.add(seen.arm)
    if not changed:
        return 0
    taken = [arm for number, arm in locked.items() if number in changed]
    counted = observe_pulls(connection, campaign, taken, settled, len(new)).rows()
    if not counted:
        raise campaign.gone()
    rows: list[tuple[Any, ...]] = []
    for number, seen in enumerate(new, campaign.base + counted[0][0] - len(new) + 1):
        who, key = campaign.optional_digest(seen.worker), campaign.optional_digest(seen.key)
        rows.append((number, campaign.id, seen.arm, OBSERVED, None, seen.reward, seen.worker, who, seen.key, key))
    seen_pulls(connection, rows)
    return len(new) + len(settled)


def _arm_numbers(
    connection: Connection, campaign: Identity, observations: list[Observation], where: Where
) -> dict[str, int]:
    first = {item.arm: number for number, item in reversed(list(enumerate(observations)))}
    names = {campaign.digest(arm): arm for arm in first}
    numbers = {names[found]: number for found, number in _NAMED.rows(connection, names)}
    for arm in dict.fromkeys(item.arm for item in observations):
        if arm not in numbers:
            counters.read(connection, campaign, "observed")
            raise NotFoundError(f"{where(first[arm])}campaign {campaign.name!r} has no arm {quoted(arm)}")
    return numbers


def _pairs(
    campaign: Identity, observations: list[Observation], numbers: dict[str, int]
) -> list[tuple[bytes, int] | None]:
    """Return the worker and arm of each, by which it is known; None without a worker, or where workers repeat."""
    if campaign.settings.repeat_workers:
        return [None] * len(observations)
    return [None if item.worker is None else (campaign.digest(item.worker), numbers[item.arm]) for item in observations]


def _known(
    connection: Connection,
    campaign: Identity,
    observations: list[Observation],
    wanted: Collection[Pair],
    locked_pulls: Collection[int],
) -> _Known:
    known = _Known(_held(connection, campaign, {item.key for item in observations if item.key is not None}))
    for worker, arm, number, state, reward in _ANSWERS.rows(connection, wanted):
        pair = bytes(worker), arm
        if state != LEASED:
            known.answers.setdefault(pair, set()).add(reward)
        elif number in locked_pulls:
            known.flying[pair] = number
        else:
            raise BusyError  # asked for since
    return known


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


def _is_known(known: _Known, seen: _Seen, pair: Pair | None, arm: str, where: str) -> bool:
    """Say whether the campaign holds a result, and take note of it; raise ConflictError if it holds another one."""
    if seen.key is not None and seen.key in known.keys:
        if known.keys[seen.key] != (seen.arm, seen.reward):
            raise _other_result(known.keys[seen.key], seen, arm, where)
        return True
    if seen.key is not None:
        known.keys[seen.key] = (seen.arm, seen.reward)
    if pair is None:
        return False
    answers = known.answers.setdefault(pair, set())
    if answers and seen.reward not in answers:
        raise ConflictError(
            f"{where}worker {quoted(seen.worker or '')} has answered arm {quoted(arm)} with {written(min(answers))} "
            f"and now {written(seen.reward)}; a worker answers an arm once, unless the campaign repeats workers"
        )
    is_known = bool(answers)
    answers.add(seen.reward)
    return is_known


def _other_result(held: tuple[int, int], seen: _Seen, arm: str, where: str) -> ConflictError:
    if held[0] != seen.arm:
        return ConflictError(f"{where}the result with key {seen.key!r} is of another arm than {arm!r}")
    return ConflictError(
        f"{where}the result with key {seen.key!r} of arm {arm!r} was {written(held[1])} and is now "
        f"{written(seen.reward)}; a key has one reward"
    )
