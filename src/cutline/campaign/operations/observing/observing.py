"""Observing: results from elsewhere join a campaign, each once.

A result is known by its key, and by its worker and arm where workers answer an arm once: then it is the same answer
whether it was told, observed or imported. An answer whose pull is still in flight is that pull's reward.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection

from cutline.campaign.arithmetic import square, to_units
from cutline.campaign.checks import check_note, check_text
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.arms_and_pulls import Arm, lock_pulls_and_arms
from cutline.campaign.database.rows.learnt import State, arithmetic_of
from cutline.campaign.database.rows.pulls import observe_pulls, seen_pulls
from cutline.campaign.database.schema import OBSERVED
from cutline.campaign.database.store import Store
from cutline.campaign.operations.changing import roster
from cutline.campaign.operations.changing.naming import arm_numbers
from cutline.campaign.operations.observing.known import Pair, Seen, in_flight, known_of
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.results import Observation
from cutline.errors import InvalidInputError

Where: TypeAlias = Callable[[int], str]
"""Says where the n-th observation stands, as "l.csv, line 3: ", for messages."""


class Changed(NamedTuple):
    """A pull that an observation settles or corrects: its place among the observations, and both rewards."""

    number: int
    arm: int
    old: int
    new: int
    note: str | None
    place: int


@dataclass
class News:
    """What observations change: results that are new, pulls in flight that they settle, results that they correct.

    ``arms`` are theirs, locked, by number, and have taken the rewards; ``state`` is the campaign's.
    """

    arms: dict[int, Arm]
    state: State
    new: list[Seen] = field(default_factory=list)
    settled: list[Changed] = field(default_factory=list)
    corrected: list[Changed] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.new) + len(self.settled) + len(self.corrected)


def observe(
    store: Store, campaign: Identity, clock: Clock, observations: Iterable[tuple[Any, ...]], add_arms: bool = False
) -> int:
    """Record results from elsewhere and return how many are new; see Campaign.observe."""
    checked = [checked_observation(item) for item in observations]
    if not checked:
        return 0
    if add_arms:
        roster.add(store, campaign, clock, ((item.arm, None) for item in checked))
    new = store.write(lambda connection: record_observed(connection, campaign, clock, checked), pipelined=True)
    if new:
        learning.keep_up(store, campaign, clock)
    return new


def checked_observation(given: tuple[Any, ...]) -> Observation:
    """Return an observation, its reward in billionths; raise InvalidInputError for a bad one."""
    try:
        item = Observation(*given)
    except TypeError:
        raise InvalidInputError(
            f"observation {given!r}: it must be (arm, reward), and may add worker, key and note"
        ) from None
    check_text("arm", item.arm)
    for what, value in (("worker", item.worker), ("key", item.key)):
        if value is not None:
            check_text(what, value)
    return item._replace(reward=to_units(item.reward), note=check_note(item.note))


def record_observed(
    connection: Connection,
    campaign: Identity,
    clock: Clock,
    observations: list[Observation],
    where: Where = lambda number: "",
) -> int:
    """Record observations whose rewards are in billionths; return how many are new."""
    stamp = clock.stamp(connection)
    news = find_news(connection, campaign, observations, where)
    if not len(news):
        return 0
    changed = [arm for arm in news.arms.values() if arm.changed]
    settled = [(pull.number, pull.new, pull.note) for pull in news.settled]
    now = stamp()
    counted = observe_pulls(connection, campaign, news.state, changed, settled, len(news.new), now)[0].rows()
    if not counted:
        raise campaign.gone()
    insert_new(connection, campaign, news.new, OBSERVED, counted[0][0], now)
    return len(news)


def insert_new(
    connection: Connection, campaign: Identity, new: list[Seen], state: int, numbered: int, now: float
) -> None:
    """Insert results from elsewhere in this state, the last with the number ``numbered``."""
    rows: list[tuple[Any, ...]] = []
    for number, seen in enumerate(new, campaign.base + numbered - len(new) + 1):
        who, key = campaign.optional_digest(seen.worker), campaign.optional_digest(seen.key)
        known = (None, seen.reward, seen.worker, who, seen.key, key, seen.note, now)
        rows.append((number, campaign.id, seen.arm, state, *known))
    seen_pulls(connection, rows)


def find_news(
    connection: Connection,
    campaign: Identity,
    observations: list[Observation],
    where: Where,
    staging: bool = False,
    replace: bool = False,
) -> News:
    """Find what is new among observations; raise ConflictError for what is held in another way.

    ``staging``: they are those of the import that is under way. ``replace``: another reward of what was observed
    corrects it.
    """
    first = {item.arm: place for place, item in reversed(list(enumerate(observations)))}
    numbers = arm_numbers(connection, campaign, [item.arm for item in observations], lambda arm: where(first[arm]))
    pairs = _pairs(campaign, observations, numbers)
    wanted = {pair for pair in pairs if pair is not None}
    # before keys and answers are read: whoever came first has committed
    locked = lock_pulls_and_arms(connection, campaign, in_flight(connection, wanted), numbers.values())
    keys = {item.key for item in observations if item.key is not None}
    known = known_of(connection, campaign, keys, wanted, locked.pulls, staging)
    news = News(locked.arms, locked.state)
    arithmetic = arithmetic_of(connection, campaign, locked.state)
    for place, (item, pair) in enumerate(zip(observations, pairs, strict=True)):
        seen = Seen(numbers[item.arm], int(item.reward), item.worker, item.key, item.note)
        held = known.find(seen, pair)
        arm = news.arms[seen.arm]
        if held is None:
            who = campaign.optional_digest(seen.worker) if arithmetic.is_weighed else None
            evidence = arithmetic.weigh(who, seen.reward)
            if pair is not None and pair in known.flying:
                news.settled.append(Changed(known.flying.pop(pair), seen.arm, 0, seen.reward, seen.note, place))
                arm.change(1, seen.reward, square(seen.reward), -1, evidence)
            else:
                news.new.append(seen)
                arm.take(seen.reward, evidence)
        elif (held.arm, held.reward) == (seen.arm, seen.reward):
            continue
        elif replace and held.arm == seen.arm and held.observed is not None:
            news.corrected.append(Changed(held.observed, seen.arm, held.reward, seen.reward, seen.note, place))
            arm.change(0, seen.reward - held.reward, square(seen.reward) - square(held.reward), 0)
        else:
            raise known.conflict(held, seen, item.arm, where(place))
        known.note(seen, pair)
    return news


def _pairs(campaign: Identity, observations: list[Observation], numbers: dict[str, int]) -> list[Pair | None]:
    """Return the worker and arm of each, by which it is known; None without a worker, or where workers repeat."""
    if campaign.settings.repeat_workers:
        return [None] * len(observations)
    return [None if item.worker is None else (campaign.digest(item.worker), numbers[item.arm]) for item in observations]
