"""Arms and pulls as transactions read, lock and write them.

Locks are taken in one order everywhere, pulls, then arms, then the campaign, and within each by number, so no two
transactions wait for each other. The exception is ask, which takes the campaign first: it passes over arms and
pulls that another transaction holds (SKIP LOCKED), and so never waits while it holds the campaign.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypedDict

from sqlalchemy import Connection, bindparam, select, update

from cutline.campaign.arithmetic import CLOSED, Arithmetic, square
from cutline.campaign.database.identity import Identity, PullKey
from cutline.campaign.database.prepared import Answer, Prepared, PreparedForEach, Row
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.evidence import sum_evidence, unheard
from cutline.campaign.database.rows.learnt import State, arithmetic_of, read_state, receive_state, send_state
from cutline.campaign.database.schema import ABOVE, BELOW, UNDECIDED, arms, pulls


@dataclass(slots=True)
class Arm:
    """An arm's record while a transaction changes it."""

    number: int
    pulls: int
    total: int
    squares: int
    in_flight: int
    doubt: int
    decision: int
    retired: bool
    generation: int
    evidence: int
    known: int | None
    changed: bool = False
    heard: bool = False

    def take(self, units: int, evidence: int) -> None:
        """Add a reward, and what it adds to the evidence, so that it is ``heard`` if it weighs anything."""
        self.heard = self.heard or evidence != 0
        self.pulls += 1
        self.total += units
        self.squares += square(units)
        self.evidence += evidence
        self.changed = True

    def change(self, pulls: int, total: int, squares: int, in_flight: int, evidence: int = 0) -> None:
        """Add to its counts."""
        self.evidence += evidence
        self.pulls += pulls
        self.total += total
        self.squares += squares
        self.in_flight += in_flight
        self.changed = True


Level: TypeAlias = tuple[int, float, int]
"""The pulls in flight, the index and the number of an arm."""


class PullRow(NamedTuple):
    """A pull as it is locked: what says whether it can still be told, abandoned or extended."""

    number: int
    arm: int
    state: int
    reward: int | None
    worker: bytes | None


_ARM = select(
    arms.c.number,
    arms.c.pulls,
    arms.c.total,
    arms.c.squares,
    arms.c.in_flight,
    arms.c.doubt,
    arms.c.decision,
    arms.c.retired,
    arms.c.generation,
    arms.c.evidence,
    arms.c.known,
)
_PULL = select(pulls.c.number, pulls.c.arm, pulls.c.state, pulls.c.reward, pulls.c.worker_digest)

_LOCK_ARMS = PreparedForEach(
    lambda numbers: _ARM.where(arms.c.number.in_(numbers)).order_by(arms.c.number).with_for_update(key_share=True)
)
_TRY_ARMS = PreparedForEach(
    lambda numbers: _ARM.where(arms.c.number.in_(numbers)).with_for_update(key_share=True, skip_locked=True)
)
_LOCK_RANGE = Prepared(
    _ARM.where(arms.c.number.between(bindparam("first"), bindparam("last")))
    .order_by(arms.c.number)
    .with_for_update(key_share=True)
)
_LOCK_PULLS = PreparedForEach(
    lambda numbers: _PULL.where(pulls.c.number.in_(numbers)).order_by(pulls.c.number).with_for_update(key_share=True)
)
_LOCK_PULLS_BETWEEN = Prepared(
    _PULL.where(pulls.c.number.between(bindparam("first"), bindparam("last")))
    .order_by(pulls.c.number)
    .with_for_update(key_share=True)
)

_WRITE_ARM = Prepared(
    update(arms)
    .where(arms.c.number == bindparam("which"))
    .values(
        pulls=bindparam("new_pulls"),
        total=bindparam("new_total"),
        squares=bindparam("new_squares"),
        in_flight=bindparam("new_in_flight"),
        index_value=bindparam("new_index"),
        doubt=bindparam("new_doubt"),
        generation=bindparam("new_generation"),
        decision=bindparam("new_decision"),
        evidence=bindparam("new_evidence"),
    ),
    (
        "new_pulls",
        "new_total",
        "new_squares",
        "new_in_flight",
        "new_index",
        "new_doubt",
        "new_generation",
        "new_decision",
        "new_evidence",
        "which",
    ),
)
_LEASE_ARM = Prepared(
    update(arms)
    .where(arms.c.number == bindparam("which"))
    .values(in_flight=bindparam("new_in_flight"), index_value=bindparam("new_index")),
    ("new_in_flight", "new_index", "which"),
)


class Locked(NamedTuple):
    """Pulls and arms that are locked, by number, and the state of the campaign, read after that.

    Of a pull it holds what a PullRow is made of: one for each of a large batch would cost more than all else with it.
    """

    pulls: dict[int, Row]
    arms: dict[int, Arm]
    state: State

    def pull(self, number: int) -> PullRow | None:
        """Return the pull of that number, None if there is none."""
        row = self.pulls.get(number)
        return None if row is None else PullRow._make(row)


def lock_range(connection: Connection, campaign: Identity, first: int, last: int) -> Locked:
    """Lock the arms from one place to another, counted from 0 in the order of the campaign, waiting for each."""
    rows = _LOCK_RANGE.rows(connection, first=campaign.base + first, last=campaign.base + last)
    found = {row[0]: Arm(*row) for row in rows}
    state = read_state(connection, campaign)
    _follow(connection, campaign, state, found)
    return Locked({}, found, state)


def lock_arms(connection: Connection, numbers: Iterable[int]) -> dict[int, Arm]:
    """Return the arms of these numbers, locked, waiting for each."""
    rows = _LOCK_ARMS.rows(connection, sorted(set(numbers)))
    return {row[0]: Arm(*row) for row in rows}


def try_arms(connection: Connection, numbers: Iterable[int]) -> dict[int, Arm]:
    """Return those arms of these numbers that nobody has locked, locked."""
    rows = _TRY_ARMS.rows(connection, sorted(set(numbers)))
    return {row[0]: Arm(*row) for row in rows}


def lock_pulls(connection: Connection, campaign: Identity, keys: Collection[PullKey]) -> Locked:
    """Lock the pulls and the arms of these numbers, waiting for each."""
    return lock_pulls_and_arms(connection, campaign, {number for number, _ in keys}, {arm for _, arm in keys})


def lock_pulls_and_arms(
    connection: Connection, campaign: Identity, pull_numbers: Collection[int], arm_numbers: Collection[int]
) -> Locked:
    """Lock these pulls and these arms, waiting for each."""
    pulls_answer = _send_for_pulls(connection, sorted(pull_numbers))
    arms_answer = _LOCK_ARMS.send(connection, sorted(arm_numbers))
    state_answer = send_state(connection, campaign)
    rows = {row[0]: row for row in pulls_answer.rows()}
    found = {row[0]: Arm(*row) for row in arms_answer.rows()}
    state = receive_state(campaign, state_answer)
    _follow(connection, campaign, state, found)
    return Locked(rows, found, state)


def _send_for_pulls(connection: Connection, numbers: list[int]) -> Answer:
    """Ask for the pulls of these numbers, in order, and lock them; those of one ask follow each other."""
    if len(numbers) > 1 and numbers[-1] - numbers[0] == len(numbers) - 1:
        return _LOCK_PULLS_BETWEEN.send(connection, first=numbers[0], last=numbers[-1])
    return _LOCK_PULLS.send(connection, numbers)


def _follow(connection: Connection, campaign: Identity, state: State, found: dict[int, Arm]) -> None:
    """Have the evidence on arms that are locked be of the generation of a state, before any of their pulls changes."""
    arithmetic = arithmetic_of(connection, campaign, state)
    if arithmetic.is_weighed:
        stale = [number for number, arm in found.items() if arm.generation != state.generation]
        for number, evidence in sum_evidence(connection, campaign, arithmetic, stale).items():
            found[number].evidence = evidence


def levels_of(connection: Connection, campaign: Identity, state: State, changed: Iterable[Arm]) -> list[Level]:
    """Return what ``write_levels`` writes of arms; ``state`` is that of the campaign."""
    arithmetic = arithmetic_of(connection, campaign, state)
    return [(arm.in_flight, _index(arithmetic, arm), arm.number) for arm in changed]


def _index(arithmetic: Arithmetic, arm: Arm) -> float:
    if arm.retired or arm.known is not None:
        return CLOSED
    return arithmetic.index(arm.pulls, arm.total, arm.in_flight, arm.evidence)


def write_levels(connection: Connection, levels: list[Level]) -> None:
    """Write the pulls in flight of arms, and the index that follows."""
    _LEASE_ARM.run(connection, levels)


def change_arms(connection: Connection, campaign: Identity, changed: list[Arm]) -> Answer:
    """Write arms that are locked and whose counts have changed as their pulls have; return what ``counters.add`` does.

    The evidence on them is summed anew from the pulls.
    """
    state = read_state(connection, campaign)
    arithmetic = arithmetic_of(connection, campaign, state)
    if arithmetic.is_weighed:
        sums = sum_evidence(connection, campaign, arithmetic, [arm.number for arm in changed])
        for arm in changed:
            arm.evidence = sums[arm.number]
    growth = write_arms(connection, campaign, state, changed)
    return counters.add(connection, campaign, **growth)


class ArmsGrowth(TypedDict):
    """By how much the counters grow that are sums over arms."""

    doubt: int
    decided: int


def write_arms(connection: Connection, campaign: Identity, state: State, changed: Iterable[Arm]) -> ArmsGrowth:
    """Write arms as they are now, with index, doubt and decision; return by how much the sums over arms have grown.

    An arm that is retired has no part in them, one whose answer is known is decided by it, and one with results of
    excluded workers alone is undecided.
    """
    arithmetic = arithmetic_of(connection, campaign, state)
    doubts = decided = 0
    rows = []
    every = list(changed)
    verdicts = arithmetic.verdicts([(arm.pulls, arm.total, arm.squares, arm.evidence) for arm in every])
    silent = (arm.number for arm in every if arm.pulls and arm.evidence == 0 and not arm.heard)
    undecided = unheard(connection, campaign, arithmetic, silent)
    for arm, (above, doubt) in zip(every, verdicts, strict=True):
        decision = UNDECIDED if arm.pulls == 0 or arm.number in undecided else ABOVE if above else BELOW
        if arm.known is not None:
            doubt, decision = 0, ABOVE if arm.known else BELOW
        if arm.retired:
            doubt, decision = 0, UNDECIDED
        doubts += doubt - arm.doubt
        decided += (decision != UNDECIDED) - (arm.decision != UNDECIDED)
        record = (arm.pulls, arm.total, arm.squares, arm.in_flight)
        index = _index(arithmetic, arm)
        rows.append((*record, index, doubt, state.generation, decision, arm.evidence, arm.number))
    _WRITE_ARM.run(connection, rows)
    return ArmsGrowth(doubt=doubts, decided=decided)
