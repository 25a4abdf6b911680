"""The roster of a campaign: arms are added, retired and brought back, payloads replaced, while others ask and tell.

All in short transactions, each for some arms: what has been done when a process dies stays, and the same again does the
rest. A change that takes several of them is one row of the history, which grows with it.
"""

import itertools
import random
from collections.abc import Iterable, Mapping
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, case, select, update

from cutline.campaign.arithmetic import NOTHING, Learnt
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, terms_of
from cutline.campaign.database.prepared import PreparedForEach
from cutline.campaign.database.rows import counters, history
from cutline.campaign.database.rows.arms_and_pulls import lock_pulls_and_arms, write_arms
from cutline.campaign.database.rows.history import Entry
from cutline.campaign.database.rows.learnt import State, arithmetic_of, read_learnt, read_state
from cutline.campaign.database.schema import arms, campaigns
from cutline.campaign.database.store import Store
from cutline.campaign.operations.changing.creation import MOST_ARMS, insert_arms, unseen
from cutline.campaign.operations.changing.knowing import set_known
from cutline.campaign.operations.changing.naming import arm_numbers, known_arms
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.operations.upkeep.pace import Pace
from cutline.errors import InvalidInputError

_SOME = 1_000
"""Arms that one transaction changes."""

_SHOWN = 10
"""Ids that the history has of a change of arms."""

_PAYLOADS = PreparedForEach(lambda numbers: select(arms.c.number, arms.c.payload).where(arms.c.number.in_(numbers)))


class Log(NamedTuple):
    """What the history has of a change of arms so far: its number (None: nothing yet), how many arms, the first ids."""

    what: str
    number: int | None = None
    arms: int = 0
    first: tuple[str, ...] = ()

    def grown(self, connection: Connection, campaign: Identity, clock: Clock, names: list[str]) -> "Log":
        """Return it with more arms, written down; it locks the campaign."""
        if not names:
            return self
        count, first = self.arms + len(names), (*self.first, *names)[:_SHOWN]
        after = {"count": count, "first": first}
        number = self.number
        if number is None:
            number, _ = history.write(connection, campaign, clock, [Entry(self.what, None, after)])
        else:
            history.amend(connection, campaign, number, after)
        return Log(self.what, number, count, first)


class _Positions:
    """The positions of the arms of a campaign among equals, as they are drawn one after the other."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._drawn = -1

    def of(self, first: int, count: int) -> list[int]:
        """Return those of so many arms from the first on, counted from 0."""
        if first != self._drawn:
            self._random = random.Random(self._seed)
            for _ in range(first):
                self._random.getrandbits(63)
        self._drawn = first + count
        return [self._random.getrandbits(63) for _ in range(count)]


def names(store: Store, campaign: Identity, retired: bool) -> list[str]:
    """Return the ids of the arms that are retired, or of those that are not, in their order."""
    own = arms.c.number.between(*campaign.numbers), arms.c.retired == retired
    query = select(arms.c.name).where(*own).order_by(arms.c.number)
    return store.read(lambda connection: list(connection.scalars(query)))


def require(store: Store, campaign: Identity, names: Iterable[str]) -> None:
    """Raise NotFoundError unless all of these ids are arms."""
    store.read(lambda connection: arm_numbers(connection, campaign, names))


def add(store: Store, campaign: Identity, clock: Clock, given: Iterable[tuple[str, str | None]]) -> tuple[Log, Log]:
    """Add those arms of which there is none of that id, and replace the payloads of those that have another.

    ``given``: ids, and payloads as JSON; None leaves that of an arm which is there as it is. Returns what the history
    has of both.
    """
    every, pace = iter(given), Pace()
    added, replaced, positions = Log("arms added"), Log("payloads replaced"), _Positions(campaign.settings.seed)
    while some := dict(itertools.islice(every, _SOME)):
        known = store.read(partial(known_arms, campaign=campaign, names=some))
        new = {name: payload for name, payload in some.items() if name not in known}
        other = {number: payload for name, number in known.items() if (payload := some[name]) is not None}
        if new:
            work = partial(_insert, campaign=campaign, clock=clock, new=new, positions=positions, log=added)
            added = store.write(work)
        if other:
            names = {number: name for name, number in known.items()}
            work = partial(_replace, campaign=campaign, clock=clock, payloads=other, names=names, log=replaced)
            replaced = store.write(work)
        pace.between()
    return added, replaced


def _insert(
    connection: Connection,
    campaign: Identity,
    clock: Clock,
    new: dict[str, str | None],
    positions: _Positions,
    log: Log,
) -> Log:
    counters.add(connection, campaign).ignore()  # locks the campaign: nobody else adds arms now
    there = known_arms(connection, campaign, new)
    names = [name for name in new if name not in there]
    state = read_state(connection, campaign)
    if state.arms + len(names) > MOST_ARMS:
        raise InvalidInputError(f"more than {MOST_ARMS:,} arms; a campaign has at most that many")
    arithmetic, first = arithmetic_of(connection, campaign, state), campaign.base + state.arms
    rest = unseen(arithmetic, state.generation)
    drawn = positions.of(state.arms, len(names))
    insert_arms(
        connection,
        [
            (number, campaign.id, name, campaign.digest(name), new[name], position, *rest)
            for number, (name, position) in enumerate(zip(names, drawn, strict=True), first)
        ],
    )
    grown = state._replace(arms=state.arms + len(names))
    columns = {
        "arms": grown.arms,
        "doubt": campaigns.c.doubt + len(names) * arithmetic.verdicts([NOTHING])[0].doubt,
        "up_to_date": case((campaigns.c.up_to_date == state.arms, grown.arms), else_=campaigns.c.up_to_date),
        "learn_at": _learn_at(connection, campaign, grown),
    }
    connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(columns))
    return log.grown(connection, campaign, clock, names)


def _replace(
    connection: Connection,
    campaign: Identity,
    clock: Clock,
    payloads: dict[int, str],
    names: dict[int, str],
    log: Log,
) -> Log:
    lock_pulls_and_arms(connection, campaign, (), payloads)
    held: dict[int, str | None] = dict(_PAYLOADS.rows(connection, payloads))
    changed = [number for number in payloads if held[number] != payloads[number]]
    if changed:
        one = update(arms).where(arms.c.number == bindparam("which")).values(payload=bindparam("new"))
        connection.execute(one, [{"which": number, "new": payloads[number]} for number in changed])
    return log.grown(connection, campaign, clock, [names[number] for number in changed])


def retire(store: Store, campaign: Identity, clock: Clock, names: Iterable[str]) -> Log:
    """Ask for these arms no more, and leave them out of what is decided and learnt; their results stay."""
    return _set(store, campaign, clock, names, retired=True, log=Log("arms retired"))


def bring_back(store: Store, campaign: Identity, clock: Clock, names: Iterable[str]) -> Log:
    """Have arms that are retired take part again."""
    return _set(store, campaign, clock, names, retired=False, log=Log("arms brought back"))


def know(store: Store, campaign: Identity, clock: Clock, answers: Mapping[str, bool]) -> Log:
    """Have the answers to these arms be known; what they teach is learnt as soon as there are enough results."""
    return _know(store, campaign, clock, answers, Log("answers known"))


def forget(store: Store, campaign: Identity, clock: Clock, names: Iterable[str]) -> Log:
    """Have the answers to these arms be known no more."""
    return _know(store, campaign, clock, dict.fromkeys(names), Log("answers known no more"))


def _know(store: Store, campaign: Identity, clock: Clock, answers: Mapping[str, bool | None], log: Log) -> Log:
    names, pace = iter(answers), Pace()
    while some := list(itertools.islice(names, _SOME)):
        given = {name: answers[name] for name in some}
        log = store.write(partial(_know_some, campaign=campaign, clock=clock, answers=given, log=log))
        pace.between()
    return log


def _know_some(
    connection: Connection, campaign: Identity, clock: Clock, answers: Mapping[str, bool | None], log: Log
) -> Log:
    numbers = arm_numbers(connection, campaign, answers)
    changed = set_known(connection, campaign, {number: answers[name] for name, number in numbers.items()})
    if changed:
        state = read_state(connection, campaign)
        settings = terms_of(connection, campaign, state.version).settings
        first = learning.next_time(settings, state.active, Learnt(), 0)
        columns = {"learnt_from": 0, "learn_at": first}
        connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(columns))
    return log.grown(connection, campaign, clock, [name for name, number in numbers.items() if number in changed])


def _set(store: Store, campaign: Identity, clock: Clock, names: Iterable[str], retired: bool, log: Log) -> Log:
    every, pace = iter(dict.fromkeys(names)), Pace()
    while some := list(itertools.islice(every, _SOME)):
        numbers = store.read(partial(arm_numbers, campaign=campaign, names=some))
        log = store.write(partial(_set_some, campaign=campaign, clock=clock, numbers=numbers, retired=retired, log=log))
        pace.between()
    return log


def _set_some(
    connection: Connection, campaign: Identity, clock: Clock, numbers: dict[str, int], retired: bool, log: Log
) -> Log:
    changed = set_retired(connection, campaign, numbers.values(), retired)
    return log.grown(connection, campaign, clock, [name for name, number in numbers.items() if number in changed])


def set_retired(connection: Connection, campaign: Identity, numbers: Iterable[int], retired: bool) -> set[int]:
    """Have arms be retired, or not; return the numbers of those that were not so before."""
    locked = lock_pulls_and_arms(connection, campaign, (), list(numbers))
    changed = [arm for arm in locked.arms.values() if bool(arm.retired) is not retired]
    if not changed:
        return set()
    for arm in changed:
        arm.retired = retired
    found = {arm.number for arm in changed}
    connection.execute(update(arms).where(arms.c.number.in_(found)).values(retired=retired))
    counters.add(connection, campaign, **write_arms(connection, campaign, locked.state, changed)).ignore()
    state = read_state(connection, campaign)  # of the campaign that is locked now
    after = state._replace(retired=state.retired + (len(changed) if retired else -len(changed)))
    columns = {"retired": after.retired, "learn_at": _learn_at(connection, campaign, after)}
    connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(columns))
    return found


def _learn_at(connection: Connection, campaign: Identity, state: State) -> int | None:
    """Return at how many results it is time to learn again, now that the arms are others."""
    known = read_learnt(connection, campaign, state.generation)
    settings = terms_of(connection, campaign, state.version).settings
    return learning.next_time(settings, state.active, known, state.learnt_from)
