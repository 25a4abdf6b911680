"""The places of a run: so many measurements go on at a time, each in a thread."""

import signal
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from cutline.campaign.results import Pull
from cutline.campaign.running.commands.processes import GRACE
from cutline.campaign.running.events import RunEvent
from cutline.campaign.running.measuring import Measurer
from cutline.campaign.running.outcomes import BatchResult
from cutline.errors import MeasurementError


@dataclass(frozen=True)
class Done:
    """A batch that has been measured, what came of it, and how long it took, with what was done ahead of it."""

    batch: Sequence[Pull]
    result: BatchResult
    seconds: float


Deliver: TypeAlias = Callable[[Done | RunEvent], object]
"""Takes a batch that has been measured, or what has happened meanwhile; called from any thread."""


class Places(Protocol):
    """What measures batches, at most ``jobs`` at a time; used by one thread."""

    jobs: int

    def start(self, batches: Iterable[Sequence[Pull]], deliver: Deliver) -> None:
        """Measure batches, in their order; those for which there is no place begin when one is free."""
        ...

    def stop(self) -> None:
        """End what is being measured, and wait for it, if it can be ended at all; what waits is not begun."""
        ...


class Threads:
    """A thread for each place; it ends when nothing waits to be measured."""

    def __init__(self, measurer: Measurer, jobs: int) -> None:
        self.jobs = jobs
        self._measurer = measurer
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()  # of what follows
        self._working = 0
        self._waiting: deque[Sequence[Pull]] = deque()

    def start(self, batches: Iterable[Sequence[Pull]], deliver: Deliver) -> None:
        """See Places; raise MeasurementError if the system has no threads left."""
        with self._lock:
            self._waiting.extend(batches)
            more = min(len(self._waiting), self.jobs - self._working)
            self._working += more
        started = [threading.Thread(target=self._work, args=(deliver,), daemon=True) for _ in range(more)]
        self._threads = [*filter(threading.Thread.is_alive, self._threads), *started]
        for thread in started:
            try:
                thread.start()
            except RuntimeError:
                raise MeasurementError(
                    f"the system cannot do {self.jobs:,} measurements at a time; give fewer jobs"
                ) from None

    def stop(self) -> None:
        """See Places; commands that are about to start are ended, too, hence the repetition."""
        with self._lock:
            self._waiting.clear()
        began = time.monotonic()
        self._measurer.stop(signal.SIGTERM)
        while self._measurer.can_be_stopped and any(thread.is_alive() for thread in self._threads):
            self._measurer.stop(signal.SIGTERM if time.monotonic() - began < GRACE else signal.SIGKILL)
            time.sleep(0.02)

    def _work(self, deliver: Deliver) -> None:
        while (batch := self._next()) is not None:
            began = time.monotonic()
            result = self._measurer.measure(batch, deliver)
            deliver(Done(batch, result, time.monotonic() - began + result.ahead))

    def _next(self) -> Sequence[Pull] | None:
        """Return what a thread measures next, None if that is nothing and the thread ends."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            self._working -= 1
            return None
