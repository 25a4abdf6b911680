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
from cutline.campaign.database.rows.pulls import Leases, expire_pulls, lease_pulls
from cutline.campaign.database.schema import EXPIRED, arms, campaigns, imports, pulls
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


_NUMBER, _PULLS, _IN_FLIGHT, _NAME = 2, 3, 5, 7
"""Where these stand in a row of the queue; between the pulls and the name is what an index takes."""

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
    queue = _Queue(campaign, terms.settings, asked, worker if once_a_worker else None)
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
        queue.follow(terms.settings, asked)
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
    open_arms = [row for row in found if row[_NAME] not in without] if without else found
    if state.is_changing:  # then the index of an arm may not know how many pulls it may have
        open_arms = [row for row in open_arms if terms.settings.has_room(row[_PULLS], row[_IN_FLIGHT])]
    answered = mixing.known_among(connection, campaign, terms.settings, asked, numbered, wanted)
    who = campaign.optional_digest(worker)
    indices = arithmetic_of(connection, campaign, state).indices(who)
    only_once = once_a_worker or distinct
    chosen, levels = _choose_and_lock(connection, queue, indices, open_arms, wanted - len(answered), only_once)
    if answered:
        chosen, levels = mixing.mix(chosen, levels, answered)
    leases = Leases(campaign.base + numbered + 1, [arm for arm, _, _ in chosen], now + lease, worker, who, now)
    lease_pulls(connection, campaign, leases, levels, back)
    leased = _pulls(campaign, chosen, leases)
    reason = None
    if len(chosen) < n:
        full = len(chosen) == wanted  # it is the budget that has no more
        reason = Reason.ALL_IN_FLIGHT if full else _why_short(connection, campaign, state, in_flight + len(chosen))
    if request is not None and leased:
        requests.keep(connection, campaign, request, n, Pulls(leased, reason), now)
    return Pulls(leased, reason), state


def _pulls(campaign: Identity, chosen: list[Chosen], leases: Leases) -> list[Pull]:
    """Return what is handed out of arms that are chosen and leased."""
    worker, until = leases.worker, leases.expires
    return [
        Pull(campaign.pull_id((number, arm)), name, None if payload is None else json.loads(payload), worker, until)
        for number, (arm, name, payload) in enumerate(chosen, leases.first)
    ]


class _Queue:
    """The arms that are next, for anybody or for one worker.

    Where the labels of workers differ, it ``only_looks`` at more arms than are asked for, and locks what is chosen.
    """

    def __init__(self, campaign: Identity, settings: Settings, asked: Wanted, worker: str | None) -> None:
        self._attempt, self._all = (_TRY_QUEUE, _QUEUE) if worker is None else (_TRY_WORKER_QUEUE, _WORKER_QUEUE)
        self._campaign, self._worker = campaign.id, campaign.optional_digest(worker)
        self.follow(settings, asked)

    def follow(self, settings: Settings, asked: Wanted) -> None:
        """Take as many arms as these settings ask for."""
        self.only_looks = settings.weighed and asked.worker is not None
        needed = min(asked.n, settings.budget) + len(asked.without)
        self._n = needed + _CANDIDATES if self.only_looks else needed

    def send(self, connection: Connection) -> Answer:
        """Ask for the first of them, and lock these, passing over those that another transaction holds."""
        statement = self._all if self.only_looks else self._attempt
        return statement.send(connection, campaign=self._campaign, worker=self._worker, n=self._n)

    def receive(self, connection: Connection, answer: Answer, wanted: int) -> list[Row]:
        """Return what was asked for; raise BusyError if an arm was passed over while ``wanted`` are needed."""
        found = answer.rows()
        if len(found) < wanted and not self.only_looks:
            there = self._all.rows(connection, campaign=self._campaign, worker=self._worker, n=self._n)
            if len(there) > len(found):
                raise BusyError
        return found

    def lock(self, connection: Connection, numbers: set[int]) -> set[int]:
        """Return those of these arms, which were received, that no other transaction holds; they are locked."""
        return set(try_arms(connection, numbers)) if self.only_looks else numbers


def _choose_and_lock(
    connection: Connection, queue: _Queue, indices: tuple[Index, Index], found: list[Row], wanted: int, only_once: bool
) -> tuple[list[Chosen], list[Level]]:
    """Choose as ``_choose`` does, and lock what is chosen; what another transaction holds is passed over.

    Raise BusyError if so much of it is held that there are fewer than ``wanted``. Whoever changes an arm locks the
    campaign before he commits, and it is locked here, so that what is free is as it was received.
    """
    locked: set[int] = set()
    while True:
        chosen, levels = _choose(indices, found, wanted, only_once)
        new = {number for number, _, _ in chosen} - locked
        mine = queue.lock(connection, new) if new else new
        if mine == new:
            return chosen, levels
        locked |= mine
        found = [row for row in found if row[_NUMBER] not in new - mine]
        if len(found) < wanted:
            raise BusyError


def _choose(
    indices: tuple[Index, Index], candidates: list[Row], wanted: int, only_once: bool
) -> tuple[list[Chosen], list[Level]]:
    """Choose as if one pull after the other were asked for; return (number, name, payload) of each, and the new levels.

    ``candidates`` are the first arms of the queue, at least ``wanted`` of them where there are so many. No others are
    needed: a pull in flight changes the place of its own arm only, so the n-th choice is among the first n.
    The second of the ``indices`` is what chooses among them, another one than the first where workers differ.
    """
    index, index_for = indices
    differs = index_for is not index
    # the first three fields order them
    queue = sorted((index_for(*row[_PULLS:_NAME]), *row[1:]) for row in candidates) if differs else candidates
    beyond = queue[wanted - 1] if 0 < wanted <= len(queue) else None  # what comes after that is not chosen again
    following, once_more = 0, list[Row]()
    chosen: list[Chosen] = []
    levels: dict[int, Level] = {}
    while len(chosen) < wanted and (once_more or following < len(queue)):
        if once_more and (following == len(queue) or once_more[0] < queue[following]):
            row = heapq.heappop(once_more)
        else:
            row, following = queue[following], following + 1
        _, position, number, told, total, in_flight, evidence, name, payload = row
        chosen.append((number, name, payload))
        in_flight += 1
        level = index(told, total, in_flight, evidence)
        levels[number] = (in_flight, level, number)
        if level < CLOSED and not only_once:
            again = index_for(told, total, in_flight, evidence) if differs else level
            row = (again, position, number, told, total, in_flight, evidence, name, payload)
            if beyond is None or row < beyond:
                heapq.heappush(once_more, row)
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
