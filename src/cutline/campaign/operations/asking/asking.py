"""Asking: pulls are leased, and come back when their lease ends."""

import heapq
import json
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, select

from cutline.campaign.arithmetic import CLOSED, Index
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, terms_of
from cutline.campaign.database.prepared import Answer, Prepared, Row
from cutline.campaign.database.rows import counters, requests
from cutline.campaign.database.rows.arms_and_pulls import Level, try_arms
from cutline.campaign.database.rows.learnt import STATE, State, arithmetic_of
from cutline.campaign.database.rows.pulls import expire_pulls, lease_pulls
from cutline.campaign.database.schema import EXPIRED, LEASED, arms, campaigns, imports, pulls
from cutline.campaign.database.store import BusyError, Store
from cutline.campaign.operations.asking import mixing
from cutline.campaign.operations.asking.mixing import Chosen
from cutline.campaign.operations.asking.wanted import Wanted
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.operations.upkeep.finishing import DeadImportError, end_dead, is_dead
from cutline.campaign.results import Pull, Pulls, Reason
from cutline.campaign.settings import Settings

_LOCK_COUNTERS = Prepared(
    select(
        campaigns.c.numbered,
        campaigns.c.in_flight,
        *STATE,
        select(func.min(pulls.c.expires))
        .where(pulls.c.campaign_id == campaigns.c.id, pulls.c.expires.is_not(None))
        .scalar_subquery()
        .label("earliest"),
        select(imports.c.until).where(imports.c.campaign_id == campaigns.c.id).scalar_subquery().label("importing"),
    )
    .where(campaigns.c.id == bindparam("campaign"))
    .with_for_update(key_share=True, of=campaigns)
)
"""Locks a campaign: how many pulls have numbers and are in flight, its state, when the earliest lease ends, and until
when an import counts as alive."""

_ENDED = Prepared(
    select(pulls.c.number, pulls.c.arm)
    .where(pulls.c.campaign_id == bindparam("campaign"), pulls.c.expires <= bindparam("now"))
    .with_for_update(key_share=True, skip_locked=True)
)

_MINE = (
    select(pulls.c.number)
    .where(pulls.c.worker_digest == bindparam("worker"), pulls.c.arm == arms.c.number, pulls.c.state != EXPIRED)
    .correlate(arms)
    .offset(0)  # keeps PostgreSQL from reading all that the worker has done, instead of looking up arm by arm
    .exists()
)


def _queue(condition: Any) -> Select[Any]:
    return (
        select(
            arms.c.index_value,
            arms.c.position,
            arms.c.number,
            arms.c.pulls,
            arms.c.total,
            arms.c.in_flight,
            arms.c.evidence,
            arms.c.name,
            arms.c.payload,
        )
        .where(arms.c.campaign_id == bindparam("campaign"), arms.c.index_value < CLOSED, *condition)
        .order_by(arms.c.index_value, arms.c.position, arms.c.number)
        .limit(bindparam("n"))
    )


_PULLS, _IN_FLIGHT, _NAME = 3, 5, 7
"""Where these stand in a row of the queue; between the first and the last is what an index takes."""

_CANDIDATES = 200
"""Arms, more than are asked for, among which the one is looked for where the label of a worker is worth most."""

_FOR_ANYBODY = _queue([])
_FOR_WORKER = _queue([~_MINE])
_QUEUE = Prepared(_FOR_ANYBODY)
_WORKER_QUEUE = Prepared(_FOR_WORKER)
_TRY_QUEUE = Prepared(_FOR_ANYBODY.with_for_update(key_share=True, skip_locked=True))
_TRY_WORKER_QUEUE = Prepared(_FOR_WORKER.with_for_update(key_share=True, skip_locked=True, of=arms))


def ask(store: Store, campaign: Identity, clock: Clock, given: Wanted) -> Pulls:
    """Lease up to n pulls; see Campaign.ask."""
    wanted = given.checked()
    while True:
        try:
            pulls, state = store.write(
                lambda connection: _ask(connection, campaign, clock, wanted), pipelined=True, safe=False
            )
        except DeadImportError:
            end_dead(store, campaign)
        else:
            learning.after(store, campaign, clock, state)
            return pulls


def _ask(connection: Connection, campaign: Identity, clock: Clock, asked: Wanted) -> tuple[Pulls, State]:
    n, worker, lease, without, distinct, request = asked
    terms = campaign.terms
    once_a_worker = worker is not None and not terms.settings.repeat_workers
    queue = _Queue(campaign, _looked_at(terms.settings, asked), worker if once_a_worker else None)
    locked = _LOCK_COUNTERS.send(connection, campaign=campaign.id)
    moment = clock.ask(connection)  # once the campaign is locked
    candidates = queue.send(connection)
    rows = locked.rows()
    if not rows:
        raise campaign.gone()
    now = moment.now()
    moment.remember()
    numbered, in_flight, *values, earliest, importing = rows[0]
    if importing is not None and is_dead(connection, importing):
        raise DeadImportError
    state = State._make(values)
    if request is not None:
        known = requests.find(connection, campaign, request, n, worker)
        if known is not None:
            return known, state
    back = _sweep(connection, campaign, state, now) if earliest is not None and earliest <= now else 0
    if back or state.version != terms.version:
        terms = terms_of(connection, campaign, state.version)
        queue.n = _looked_at(terms.settings, asked)
        candidates = queue.send(connection)
    in_flight -= back
    finished = counters.why_finished(connection, campaign, terms.settings, state)
    room = terms.settings.budget - state.spent - in_flight
    if finished or room <= 0:
        counters.add(connection, campaign, in_flight=-back).ignore()
        return Pulls((), finished or Reason.ALL_IN_FLIGHT), state
    if worker in terms.settings.excluded:
        counters.add(connection, campaign, in_flight=-back).ignore()
        return Pulls((), Reason.NOTHING_FOR_WORKER), state
    wanted = min(n, room)
    found = queue.receive(connection, candidates, wanted + len(without))
    open_arms = [row for row in found if row[_NAME] not in without]
    if state.is_changing:  # then the index of an arm may not know how many pulls it may have
        open_arms = [row for row in open_arms if terms.settings.has_room(row[_PULLS], row[_IN_FLIGHT])]
    answered = mixing.known_among(connection, campaign, terms.settings, asked, numbered, wanted)
    index, index_for = arithmetic_of(connection, campaign, state).indices(campaign.optional_digest(worker))
    chosen, levels = _choose(index, index_for, open_arms, wanted - len(answered), once_a_worker or distinct)
    if answered:
        chosen, levels = mixing.mix(chosen, levels, answered)
    leased, made = _leases(campaign, chosen, numbered, worker, now, now + lease)
    lease_pulls(connection, campaign, made, levels, back)
    reason = None
    if len(chosen) < n:
        full = len(chosen) == wanted  # it is the budget that has no more
        reason = Reason.ALL_IN_FLIGHT if full else _why_short(connection, campaign, state, in_flight + len(chosen))
    if request is not None and leased:
        requests.keep(connection, campaign, request, n, Pulls(leased, reason), now)
    return Pulls(leased, reason), state


def _leases(
    campaign: Identity, chosen: list[Chosen], numbered: int, worker: str | None, now: float, until: float
) -> tuple[list[Pull], list[tuple[Any, ...]]]:
    """Return the pulls of chosen arms, and their rows, with the numbers after those that the campaign has had."""
    who = campaign.optional_digest(worker)
    leased: list[Pull] = []
    made: list[tuple[Any, ...]] = []
    for number, (arm, name, payload) in enumerate(chosen, campaign.base + numbered + 1):
        data = None if payload is None else json.loads(payload)
        leased.append(Pull(campaign.pull_id((number, arm)), name, data, worker, until))
        made.append((number, campaign.id, arm, LEASED, until, worker, who, now))
    return leased, made


class _Queue:
    """The arms that are next, for anybody or for one worker."""

    def __init__(self, campaign: Identity, n: int, worker: str | None) -> None:
        self._attempt, self._all = (_TRY_QUEUE, _QUEUE) if worker is None else (_TRY_WORKER_QUEUE, _WORKER_QUEUE)
        self._campaign, self._worker, self.n = campaign.id, campaign.optional_digest(worker), n

    def send(self, connection: Connection) -> Answer:
        """Ask for the first n and lock them, passing over those that another transaction holds."""
        return self._attempt.send(connection, campaign=self._campaign, worker=self._worker, n=self.n)

    def receive(self, connection: Connection, answer: Answer, wanted: int) -> list[Row]:
        """Return what was asked for; raise BusyError if an arm was passed over while ``wanted`` are needed."""
        found = answer.rows()
        if len(found) < wanted:
            there = self._all.rows(connection, campaign=self._campaign, worker=self._worker, n=self.n)
            if len(there) > len(found):
                raise BusyError
        return found


def _looked_at(settings: Settings, asked: Wanted) -> int:
    """Return how many of the first arms of the queue are looked at."""
    needed = min(asked.n, settings.budget) + len(asked.without)
    return needed if asked.worker is None or not settings.weighed else needed + _CANDIDATES


def _choose(
    index: Index, index_for: Index, candidates: list[Row], wanted: int, only_once: bool
) -> tuple[list[Chosen], list[Level]]:
    """Choose as if one pull after the other were asked for; return (number, name, payload) of each, and the new levels.

    ``candidates`` are the first arms of the queue, at least ``wanted`` of them where there are so many. No others are
    needed: a pull in flight changes the place of its own arm only, so the n-th choice is among the first n.
    ``index_for`` is the index that chooses among them, another one where workers differ.
    """
    differs = index_for is not index
    # the first three fields order it
    heap = [(index_for(*row[_PULLS:_NAME]), *row[1:]) for row in candidates] if differs else list(candidates)
    heapq.heapify(heap)
    chosen: list[Chosen] = []
    levels: dict[int, Level] = {}
    while heap and len(chosen) < wanted:
        _, position, number, told, total, in_flight, evidence, name, payload = heap[0]
        chosen.append((number, name, payload))
        in_flight += 1
        level = index(told, total, in_flight, evidence)
        levels[number] = (in_flight, level, number)
        if level < CLOSED and not only_once:
            again = index_for(told, total, in_flight, evidence) if differs else level
            heapq.heapreplace(heap, (again, position, number, told, total, in_flight, evidence, name, payload))
        else:
            heapq.heappop(heap)
    return chosen, list(levels.values())


def _why_short(connection: Connection, campaign: Identity, state: State, in_flight: int) -> Reason:
    """Say why there are not enough arms, the budget having room."""
    if state.is_changing:
        return Reason.ALL_IN_FLIGHT
    if _QUEUE.rows(connection, campaign=campaign.id, n=1):
        return Reason.NOTHING_FOR_WORKER
    return Reason.ALL_IN_FLIGHT if in_flight else Reason.ARMS_EXHAUSTED


def _sweep(connection: Connection, campaign: Identity, state: State, now: float) -> int:
    """Take back the pulls whose lease has ended, but for those that somebody is telling right now; return how many."""
    ended = _ENDED.rows(connection, campaign=campaign.id, now=now)
    free = try_arms(connection, {arm for _, arm in ended})
    back = [(number, arm) for number, arm in ended if arm in free]
    for _, arm in back:
        free[arm].in_flight -= 1
    expire_pulls(connection, campaign, state, [number for number, _ in back], free.values())
    return len(back)


def lock_and_sweep(connection: Connection, campaign: Identity, clock: Clock) -> tuple[State, int]:
    """Lock a campaign and take back the pulls whose lease has ended; return its state, and how many are in flight."""
    rows = _LOCK_COUNTERS.rows(connection, campaign=campaign.id)
    if not rows:
        raise campaign.gone()
    _, in_flight, *values, _, _ = rows[0]
    state = State._make(values)
    back = _sweep(connection, campaign, state, clock.now(connection))
    counters.add(connection, campaign, in_flight=-back).ignore()
    return state, in_flight - back
