"""What comes many times a second does its work in turn, and waits for what takes long in company.

On SQLite one transaction writes at a time, so that one thread does the work of all: several would hand the interpreter
to one another at each statement, which takes longer than the work. What is still to be done before an answer is true,
learning and waiting for the disk, goes on beside it; one wait for the disk is enough for all who have come before it.
"""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from typing import NamedTuple, TypeVar

from starlette.concurrency import run_in_threadpool

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.learnt import State
from cutline.campaign.database.store import Store
from cutline.campaign.operations.upkeep import learning

T = TypeVar("T")

THREADS = 8
"""Requests that are worked on at once on PostgreSQL, where a transaction waits for the network most of the time."""


class _Done(NamedTuple):
    """What came of a piece of work, and what is left to be done before that is told."""

    answer: object
    learning: list[Callable[[], object]]
    owes_disk: bool


class Turns:
    """Does pieces of work on the campaigns of a store, for the requests of one event loop."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock
        self._threads = ThreadPoolExecutor(1 if store.is_sqlite else THREADS, thread_name_prefix="cutline")
        self._disk_thread = ThreadPoolExecutor(1, thread_name_prefix="cutline-disk")
        self._local = threading.local()
        self._disk = _Together(store.wait_for_disk, self._disk_thread)

    async def do(self, work: Callable[[], T]) -> T:
        """Return what ``work`` returns, when all that it wrote is safe and learnt from; raise what it raises."""
        done = await asyncio.get_running_loop().run_in_executor(self._threads, self._work, work)
        for each in done.learning:
            await run_in_threadpool(each)
        if done.owes_disk:
            await self._disk.wait()
        return done.answer  # type: ignore[return-value]  # it is what the work has returned

    def keep(self, campaign: Identity, state: State, told: bool) -> None:
        """Keep a campaign up to date after an ask or a tell: later, if it is part of a piece of work, else now."""
        work = partial(learning.keep_up, self._store, campaign, self._clock, state, told)
        later: list[Callable[[], object]] | None = getattr(self._local, "later", None)
        if later is None:
            work()
        elif learning.may_be_due(campaign, state, told):
            later.append(work)

    def close(self) -> None:
        """End the threads, once what they are at is done."""
        self._threads.shutdown(wait=False)
        self._disk_thread.shutdown(wait=False)

    def _work(self, work: Callable[[], object]) -> _Done:
        later: list[Callable[[], object]] = []
        self._local.later = later
        try:
            with self._store.owing_the_disk() as debt:
                answer = work()
        finally:
            del self._local.later
        return _Done(answer, later, debt.disk)


class _Together:
    """Does something, in a thread, that is done for all who wait for it when it begins: one time after the other."""

    def __init__(self, work: Callable[[], None], thread: Executor) -> None:
        self._work, self._thread = work, thread
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None

    async def wait(self) -> None:
        """Return when it was begun after this call and is done; raise what it raises."""
        if self._next is None:
            self._next = asyncio.create_task(self._do(self._running))
            self._next.add_done_callback(lambda done: done.cancelled() or done.exception())  # else asyncio logs it
        await asyncio.shield(self._next)

    async def _do(self, before: "asyncio.Task[None] | None") -> None:
        if before is not None and not before.done():
            await asyncio.wait([before])
        self._running, self._next = self._next, None
        await asyncio.get_running_loop().run_in_executor(self._thread, self._work)
