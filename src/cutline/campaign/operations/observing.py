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
from cutline.campaign.database.arms_and_pulls import (
    Arm,
    correct_pulls,
    lock_pulls_and_arms,
    observe_pulls,
    seen_pulls,
    withdraw_pulls,
)
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
    lambda digests: select(pulls.c.key_digest, pulls.c.arm, pulls.c.reward, pulls.c.number).where(
        pulls.c.key_digest.in_(digests)
    )
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


class _Held(NamedTuple):
    """A result that the campaign holds: of which arm, its reward, and the number of its pull if it was observed."""

    arm: int
    reward: int
    observed: int | None


@dataclass
class _Known:
    """What the campaign holds of the observations: by key, by worker and arm, and pulls in flight of those."""

    keys: dict[str, _Held]
    answers: dict[Pair, list[_Held]] = field(default_factory=dict)
    flying: dict[Pair, int] = field(default_factory=dict)


@dataclass
class _News:
    """What observations change: results that are new, (number, reward) of pulls that they settle or correct.

    ``places`` are those of all these among the observations.
    """

    places: list[int] = field(default_factory=list)
    new: list[_Seen] = field(default_factory=list)
    settled: list[tuple[int, int]] = field(default_factory=list)
    corrected: list[tuple[int, int]] = field(default_factory=list)


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
    connection: Connection,
    campaign: Identity,
    observations: list[Observation],
    where: Where = lambda number: "",
    replace: bool = False,
) -> int:
    """Record observations whose rewards are in billionths; return how many are new or, with ``replace``, corrected."""
    news, locked = _find_news(connection, campaign, observations, where, replace)
    if not news.places:
        return 0
    changed = [arm for arm in locked.values() if arm.changed]
    counted = observe_pulls(connection, campaign, changed, news.settled, len(news.new)).rows()
    if not counted:
        raise campaign.gone()
    correct_pulls(connection, news.corrected)
    rows: list[tuple[Any, ...]] = []
    for number, seen in enumerate(news.new, campaign.base + counted[0][0] - len(news.new) + 1):
        who, key = campaign.optional_digest(seen.worker), campaign.optional_digest(seen.key)
        rows.append((number, campaign.id, seen.arm, OBSERVED, None, seen.reward, seen.worker, who, seen.key, key))
    seen_pulls(connection, rows)
    return len(news.places)


def places_of_news(
    connection: Connection, campaign: Identity, observations: list[Observation], where: Where, replace: bool
) -> list[int]:
    """Return the places of the observations that ``record_observed`` would record now; raise what it would raise."""
    return _find_news(connection, campaign, observations, where, replace)[0].places


def withdraw(connection: Connection, campaign: Identity, keys: Collection[str]) -> int:
    """Have results from elsewhere with these keys count no more; return how many there were."""
    held = _held(connection, campaign, keys)
    locked = lock_pulls_and_arms(connection, (), {item.arm for item in held.values()})[1]
    for item in held.values():
        locked[item.arm].give_back(item.reward)
    numbers = [item.observed for item in held.values() if item.observed is not None]
    withdraw_pulls(connection, campaign, locked.values(), numbers).ignore()
    return len(numbers)


def held_keys(connection: Connection, campaign: Identity, keys: Collection[str]) -> Collection[str]:
    """Return those of the keys that the campaign holds a result with."""
    return _held(connection, campaign, keys).keys()


def _find_news(
    connection: Connection, campaign: Identity, observations: list[Observation], where: Where, replace: bool
) -> tuple[_News, dict[int, Arm]]:
    """Find what is new among observations; return it with their arms, which are locked and have taken it."""
    numbers = _arm_numbers(connection, campaign, observations, where)
    pairs = _pairs(campaign, observations, numbers)
    wanted = {pair for pair in pairs if pair is not None}
    in_flight = {row[2] for row in _ANSWERS.rows(connection, wanted) if row[3] == LEASED}
    # before keys and answers are read: whoever came first has committed
    locked_pulls, locked = lock_pulls_and_arms(connection, in_flight, numbers.values())
    known = _known(connection, campaign, observations, wanted, locked_pulls)
    news = _News()
    for place, (item, pair) in enumerate(zip(observations, pairs, strict=True)):
        seen = _Seen(numbers[item.arm], int(item.reward), item.worker, item.key)
        held = _find(known, seen, pair)
        arm = locked[seen.arm]
        if held is None:
            if pair is not None and pair in known.flying:
                news.settled.append((known.flying.pop(pair), seen.reward))
                arm.in_flight -= 1
            else:
                news.new.append(seen)
        elif (held.arm, held.reward) == (seen.arm, seen.reward):
            continue
        elif replace and held.arm == seen.arm and held.observed is not None:
            news.corrected.append((held.observed, seen.reward))
            arm.give_back(held.reward)
        else:
            raise _conflict(known, held, seen, item.arm, where(place))
        arm.take(seen.reward)
        news.places.append(place)
        _note(known, seen, pair, None if held is None else held.observed)
    return news, locked


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
            known.answers.setdefault(pair, []).append(_Held(arm, reward, number if state == OBSERVED else None))
        elif number in locked_pulls:
            known.flying[pair] = number
        else:
            raise BusyError  # asked for since
    return known


def _held(connection: Connection, campaign: Identity, keys: Collection[str]) -> dict[str, _Held]:
    """Return what the campaign holds of those keys: the ids of pulls told, and keys observed."""
    own = {pull: key for key in keys if (pull := campaign.own_key(key)) is not None}
    told = _OWN.rows(connection, {number for number, _ in own})
    held = {own[number, arm]: _Held(arm, reward, None) for number, arm, reward in told if (number, arm) in own}
    for key in own.values():
        if key not in held:
            raise ConflictError(f"{key!r} is a pull of campaign {campaign.name!r} that has no reward; tell it")
    others = {campaign.digest(key): key for key in keys if key not in held}
    found = _KEYED.rows(connection, others)
    return held | {others[bytes(key)]: _Held(arm, reward, number) for key, arm, reward, number in found}


def _find(known: _Known, seen: _Seen, pair: Pair | None) -> _Held | None:
    """Return what is known of a result: what has its key, or the answer of its worker, an equal one if there is."""
    if seen.key is not None and seen.key in known.keys:
        return known.keys[seen.key]
    answers = [] if pair is None else known.answers.get(pair, [])
    equal = [held for held in answers if held.reward == seen.reward]
    return next(iter(equal or answers), None)


def _note(known: _Known, seen: _Seen, pair: Pair | None, observed: int | None) -> None:
    """Take note of a result that is recorded now, for those after it; ``observed``: the pull that it corrects."""
    held = _Held(seen.arm, seen.reward, observed)
    if seen.key is not None:
        known.keys[seen.key] = held
    if pair is not None:
        known.answers[pair] = [held]


def _conflict(known: _Known, held: _Held, seen: _Seen, arm: str, where: str) -> ConflictError:
    if seen.key is not None and seen.key in known.keys:
        if held.arm != seen.arm:
            return ConflictError(f"{where}the result with key {seen.key!r} is of another arm than {arm!r}")
        return ConflictError(
            f"{where}the result with key {seen.key!r} of arm {arm!r} was {written(held.reward)} and is now "
            f"{written(seen.reward)}; a key has one reward"
        )
    return ConflictError(
        f"{where}worker {quoted(seen.worker or '')} has answered arm {quoted(arm)} with {written(held.reward)} and now "
        f"{written(seen.reward)}; a worker answers an arm once, unless the campaign repeats workers"
    )
