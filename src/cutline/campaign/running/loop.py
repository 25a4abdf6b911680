"""The loop of a run: take pulls, measure them in threads, tell what comes back, until there is nothing more to do."""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from cutline.campaign.results import Pull, Reason
from cutline.campaign.running.outcomes import BatchResult, Handling, Trouble, halves
from cutline.campaign.running.processes import GRACE
from cutline.campaign.running.signals import first_signal_calls
from cutline.campaign.running.sources import Runnable, Source
from cutline.errors import ConflictError, MeasurementError, StoreError

Watch = Callable[[str | None], object]

CRASHES_IN_A_ROW = 3
"""After so many crashes of an arm, with no reward between them, a run that abandons leaves it alone."""

_TICK = 0.5
"""Seconds after which the campaign is asked again when there was nothing to be had."""


@dataclass
class RunReport:
    """What a run did: ``told`` rewards; ``crashes``; ``late``, rewards refused because the lease had ended.

    ``set_aside``: the arms that were left alone because they could not be measured; ``skipped``: those that said that
    they are not to be. ``finished``: why there is nothing more to do, or None if only such arms are left, or
    ``time_is_up``.
    """

    told: int = 0
    crashes: int = 0
    late: int = 0
    set_aside: list[str] = field(default_factory=list)
    finished: Reason | None = None
    skipped: list[str] = field(default_factory=list)
    time_is_up: bool = False


@dataclass(frozen=True)
class _Done:
    batch: Sequence[Pull]
    result: BatchResult
    seconds: float


class Loop:
    """One run. The campaign is asked and told from the calling thread alone."""

    def __init__(
        self,
        campaign: Runnable,
        source: Source,
        jobs: int,
        handling: Handling,
        lease: float,
        watch: Watch,
        ends: float,
    ) -> None:
        """``ends``: when the run is to end, as time.monotonic counts; nothing is started after it."""
        self._campaign = campaign
        self._source = source
        self._jobs = jobs
        self._handling = handling
        self._lease = lease
        self._watch = watch
        self._ends = ends
        self._report = RunReport()
        self._events: SimpleQueue[_Done | None] = SimpleQueue()  # None: look whether to stop
        self._is_stopped = False  # by a signal
        self._threads: list[threading.Thread] = []
        self._measuring = 0  # batches
        self._again: list[Sequence[Pull]] = []  # halves of batches that have died
        self._running: dict[str, Pull] = {}
        self._crashes: Counter[str] = Counter()  # of each arm, since its last reward
        self._deaths = 0  # of batches that have measured nothing and can blame nobody, in a row
        self._extended = time.monotonic()
        self._waiting = False  # for others
        self._is_filling = False  # the places: more can be started at once

    def play(self) -> RunReport:
        """Measure until the campaign has finished or the time is up, and return what was done."""
        with first_signal_calls(self._stop):
            try:
                while self._start_measuring():
                    self._extend_leases()
                    self._say(self._wait())
            finally:
                self._give_back()
        return self._report

    def _say(self, news: list[str]) -> None:
        for text in news:
            self._watch(text)
        if not news:
            self._watch(None)

    def _stop(self) -> None:
        self._is_stopped = True
        self._events.put(None)

    def _start_measuring(self) -> bool:
        """Fill some of the free places; return whether there is anything to wait for."""
        free = self._jobs - self._measuring
        self._is_filling = False
        if free == 0:
            return True
        if time.monotonic() >= self._ends:
            self._report.time_is_up = self._measuring == 0
            return self._measuring > 0
        if self._again:
            self._start([self._again.pop()])
            self._is_filling = free > 1
            return True
        taken = self._source.take(free, self._lease, [*self._report.set_aside, *self._report.skipped])
        self._is_filling = taken.more
        self._running |= {pull.id: pull for batch in taken.batches for pull in batch}
        self._start(taken.batches)
        if self._measuring:
            self._waiting = False
            return True
        if taken.reason is not None and taken.reason.finished:
            self._report.finished = taken.reason
            return False
        return self._wait_for_others()

    def _start(self, batches: Iterable[Sequence[Pull]]) -> None:
        started = [threading.Thread(target=self._measure_one, args=(batch,), daemon=True) for batch in batches]
        self._threads = [*filter(threading.Thread.is_alive, self._threads), *started]
        for thread in started:
            try:
                thread.start()
            except RuntimeError:
                raise MeasurementError(
                    f"the system cannot do {self._jobs:,} measurements at a time; give fewer jobs"
                ) from None
            self._measuring += 1

    def _wait_for_others(self) -> bool:
        elsewhere = self._campaign.status().in_flight
        if elsewhere and not self._waiting:
            self._watch(f"waiting for what others have in flight ({elsewhere:,}), until it is told or its leases end")
        self._waiting = elsewhere > 0
        return self._waiting

    def _measure_one(self, batch: Sequence[Pull]) -> None:
        began = time.monotonic()
        result = self._source.measure(batch)
        self._events.put(_Done(batch, result, time.monotonic() - began))

    def _wait(self) -> list[str]:
        """Take in one result, if one comes soon; return what is to be said."""
        try:
            done = self._events.get(timeout=0 if self._is_filling else _TICK)
        except Empty:
            return []
        if self._is_stopped or done is None:
            self._events.put(done)
            self._tell_finished()
            raise KeyboardInterrupt
        self._measuring -= 1
        return self._take_in(done)

    def _take_in(self, done: _Done) -> list[str]:
        result, pulls = done.result, {pull.arm: pull for pull in done.batch}
        news = self._tell([(pulls[arm], reward) for arm, reward in result.rewards.items()])
        if result.death is None:  # how long it takes to die is not how long batches take
            remark = self._source.note(done.batch, done.seconds)
            news += [remark] if remark else []
        for arm, reason in result.skipped.items():
            news += self._skip(pulls[arm], reason)
        for arm, trouble in result.troubles.items():
            news.append(self._handle(pulls[arm], trouble))
        if result.death is not None:
            news.append(self._bury(result, [pulls[arm] for arm in result.suspects]))
        again = {pull.id for batch in self._again for pull in batch}
        for pull in done.batch:
            if pull.id in self._running and pull.id not in again:
                self._abandon(pull)  # it was not reached
        return news

    def _bury(self, result: BatchResult, suspects: list[Pull]) -> str:
        """Find out whose fault it is that a batch has died, or try again in halves."""
        assert result.death is not None
        if len(suspects) == 1:
            return self._handle(suspects[0], result.death)
        if suspects:
            self._again += halves(suspects)
            return f"a batch has died: {result.death.text}; {len(suspects)} of its arms are measured again in halves"
        self._deaths = 0 if result.rewards else self._deaths + 1
        if self._deaths == CRASHES_IN_A_ROW:
            raise MeasurementError(f"{CRASHES_IN_A_ROW} batches in a row have measured nothing: {result.death.text}")
        return f"a batch has died: {result.death.text}"

    def _handle(self, pull: Pull, trouble: Trouble) -> str:
        """Do what is to be done about the trouble with one arm, and return what is to be said of it."""
        self._report.crashes += 1
        text = f"arm {pull.arm!r}: {trouble.text}"
        how = self._handling[trouble.kind]
        if how == "stop":
            self._tell_finished()
            raise MeasurementError(text) from trouble.cause
        if how == "zero":
            return "; ".join(self._tell([(pull, 0.0)])) or f"{text}; counts as 0"
        self._abandon(pull)
        self._crashes[pull.arm] += 1
        if self._crashes[pull.arm] < CRASHES_IN_A_ROW:
            return f"{text}; does not count"
        if pull.arm not in self._report.set_aside:
            self._report.set_aside.append(pull.arm)
        return f"{text}; left alone from now on"

    def _skip(self, pull: Pull, reason: str) -> list[str]:
        self._abandon(pull)
        if pull.arm in self._report.skipped:
            return []
        self._report.skipped.append(pull.arm)
        return [f"arm {pull.arm!r} is skipped" + (f": {reason}" if reason else "")]

    def _abandon(self, pull: Pull) -> None:
        del self._running[pull.id]
        with suppress(ConflictError):  # the lease has ended, and others have told it
            self._campaign.abandon(pull)

    def _tell_finished(self) -> None:
        """Tell what has been measured by now, before the rest is given back."""
        with suppress(Empty):
            while True:
                done = self._events.get_nowait()
                if done is not None:
                    pulls = {pull.arm: pull for pull in done.batch}
                    self._tell([(pulls[arm], reward) for arm, reward in done.result.rewards.items()])

    def _tell(self, rewards: list[tuple[Pull, float]]) -> list[str]:
        """Tell rewards; return what is to be said of those that came too late."""
        if not rewards:
            return []
        try:
            late = self._source.tell(rewards)
        finally:
            for pull, _ in rewards:
                del self._running[pull.id]
        self._report.late += len(late)
        self._report.told += len(rewards) - len(late)
        for pull, _ in rewards:
            del self._crashes[pull.arm]
        return late

    def _extend_leases(self) -> None:
        if time.monotonic() - self._extended < self._lease / 3:
            return
        self._extended = time.monotonic()
        for pull in self._running.values():
            with suppress(ConflictError):  # the lease has ended all the same: telling will show whether it matters
                self._campaign.extend(pull, self._lease)

    def _give_back(self) -> None:
        """Stop what is running and abandon its pulls; if the database fails, their leases will end all the same."""
        if self._source.can_be_stopped:
            self._stop_commands()
        with suppress(StoreError):
            if self._source.tells_when_stopped:
                self._tell_finished()
            for pull in self._running.values():
                with suppress(ConflictError):
                    self._campaign.abandon(pull)

    def _stop_commands(self) -> None:
        """End the commands; those about to start, too, hence the repetition."""
        started = time.monotonic()
        while any(thread.is_alive() for thread in self._threads):
            self._source.stop(signal.SIGTERM if time.monotonic() - started < GRACE else signal.SIGKILL)
            time.sleep(0.02)
