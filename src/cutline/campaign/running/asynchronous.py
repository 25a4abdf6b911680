"""Driving a campaign with coroutines, which run on the event loop of whoever calls.

The rules of a run are those of ``loop``, which is played in a thread of its own, so that the database never holds the
event loop up: it takes pulls and hands them to the event loop to be measured, each as a task.
"""

import asyncio
import contextvars
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Unpack

from cutline.campaign.results import Pull
from cutline.campaign.running.events import RunEvent, Watch
from cutline.campaign.running.in_flight import RunReport
from cutline.campaign.running.loop import Loop
from cutline.campaign.running.measuring import AsyncMeasure, measure_awaited
from cutline.campaign.running.options import RunOptions, RunSettings, check_run
from cutline.campaign.running.outcomes import BatchResult, Trouble
from cutline.campaign.running.places import Deliver, Done
from cutline.campaign.running.retrying import Retrier, Retry
from cutline.campaign.running.signals import first_signal_calls
from cutline.campaign.running.sources import Runnable, Singles
from cutline.campaign.running.watching import watching
from cutline.errors import InvalidInputError


async def arun(campaign: Runnable, measure: AsyncMeasure, jobs: int = 1, **options: Unpack[RunOptions]) -> RunReport:
    """Measure with a coroutine function until the campaign has finished, ``jobs`` arms at a time.

    ``measure`` is called with a Pull and awaited on the event loop of the caller, each time in a task of its own.
    ``watch`` is called there, too; the database is asked and told from another thread. All else is as in ``run``.
    Whatever ends the run, a cancellation, a signal, MeasurementError, or what ``watch`` raises, first cancels the
    measurements, waits until they have ended, and gives their pulls back.
    """
    settings = RunSettings(**options)
    check_run(jobs, settings.lease)
    if not callable(measure):
        raise InvalidInputError(f"measure is {measure!r}; it must be a coroutine function that takes a Pull")
    places = _Tasks(measure, settings.retry, jobs)
    loop = Loop(campaign, Singles(campaign), places, settings.handling, settings.lease, math.inf)
    relay = None if settings.watch is None else _Relay(settings.watch, loop.stop)

    def play() -> RunReport:
        with watching(campaign, relay, settings.progress) as show:
            return loop.play(show)

    future = asyncio.wrap_future(_started(play))
    cancelled = None
    with first_signal_calls(loop.stop):
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError as error:
                cancelled = error
                loop.stop()
    ended_by = (relay and relay.error) or cancelled or future.exception()
    if ended_by is not None:
        future.exception()  # has been seen, or asyncio would report it
        raise ended_by
    return future.result()


class _Tasks:
    """Places of a run that are tasks of the event loop that runs where this is made."""

    def __init__(self, measure: AsyncMeasure, retry: Retry | None, jobs: int) -> None:
        self.jobs = jobs
        self._measure = measure
        self._retrier = Retrier(retry)
        self._event_loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: deque[tuple[Sequence[Pull], Deliver]] = deque()
        self._is_stopping = False

    def start(self, batches: Iterable[Sequence[Pull]], deliver: Deliver) -> None:
        """See Places."""
        self._event_loop.call_soon_threadsafe(self._add, [(batch, deliver) for batch in batches])

    def stop(self) -> None:
        """See Places."""
        if not self._event_loop.is_closed():
            asyncio.run_coroutine_threadsafe(self._cancel(), self._event_loop).result()

    def _add(self, batches: Iterable[tuple[Sequence[Pull], Deliver]]) -> None:
        self._waiting.extend(batches)
        self._fill()

    def _fill(self) -> None:
        """Begin with what waits, as far as there are places."""
        while self._waiting and len(self._tasks) < self.jobs:
            task = self._event_loop.create_task(self._measure_one(*self._waiting.popleft()))
            self._tasks.add(task)
            task.add_done_callback(self._end)

    def _end(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        self._fill()

    async def _measure_one(self, batch: Sequence[Pull], deliver: Deliver) -> None:
        began = time.monotonic()
        (pull,) = batch
        try:
            result = await measure_awaited(self._measure, self._retrier, pull, deliver)
        except asyncio.CancelledError:
            if not self._is_stopping:  # somebody else has cancelled it
                death = Trouble("crash", f"the measurement of {pull.arm!r} was cancelled")
                deliver(Done(batch, BatchResult(death=death), time.monotonic() - began))
            raise
        deliver(Done(batch, result, time.monotonic() - began))

    async def _cancel(self) -> None:
        self._is_stopping = True
        self._waiting.clear()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class _Relay:
    """Calls ``watch`` on the event loop that runs where this is made; what it raises stops the run."""

    def __init__(self, watch: Watch, stop: Callable[[], object]) -> None:
        self.error: BaseException | None = None
        self._watch = watch
        self._stop = stop
        self._event_loop = asyncio.get_running_loop()

    def __call__(self, event: RunEvent) -> None:
        self._event_loop.call_soon_threadsafe(self._tell, event)

    def _tell(self, event: RunEvent) -> None:
        if self.error is not None:
            return
        try:
            self._watch(event)
        except Exception as error:
            self.error = error
            self._stop()


def _started(play: Callable[[], RunReport]) -> "Future[RunReport]":
    """Call a function in a thread that nobody waits for at the end of the process, with the variables of the caller."""
    future: Future[RunReport] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            future.set_result(context.run(play))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future
