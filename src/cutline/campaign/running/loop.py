"""The loop of a run: take pulls, have them measured, tell what comes back, until there is nothing more to do."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from queue import Empty, SimpleQueue

from cutline.campaign.results import Reason
from cutline.campaign.running.events import RunEvent, Watch
from cutline.campaign.running.in_flight import InFlight, RunReport
from cutline.campaign.running.outcomes import Handling
from cutline.campaign.running.places import Done, Places
from cutline.campaign.running.signals import first_signal_calls
from cutline.campaign.running.sources import Learns, Runnable, Source
from cutline.errors import MeasurementError, StoreError

_TICK = 0.5
"""Seconds after which the campaign is asked again when there was nothing to be had."""


class Loop:
    """One run. The campaign is asked and told from the thread alone that plays it."""

    def __init__(
        self,
        campaign: Runnable,
        source: Source,
        places: Places,
        handling: Handling,
        lease: float,
        ends: float,
    ) -> None:
        """``ends``: when the run is to end, as time.monotonic counts; nothing is started after it."""
        self._campaign = campaign
        self._source = source
        self._places = places
        self._lease = lease
        self._ends = ends
        self._pulls = InFlight(campaign, source, handling, lease)
        self._report = self._pulls.report
        self._arrivals: SimpleQueue[Done | RunEvent | None] = SimpleQueue()  # None: look whether to stop
        self._is_stopped = False
        self._stopped_by: tuple[signal.Signals, ...] = ()
        self._measuring = 0  # batches
        self._seconds = 0.0  # that the last measurement has taken
        self._turn = 0.0  # the seconds that the last turn has taken, without its wait
        self._waiting = False  # for others
        self._is_filling = False  # the places: more can be started at once

    def play(self, watch: Watch) -> RunReport:
        """Measure until the campaign has finished or the time is up, and return what was done.

        With several places the campaign learns when they are filled, so that none stands empty for it.
        """
        with first_signal_calls(self.stop), self._learning_later() as learn:
            began = time.monotonic()
            try:
                while self._start_measuring(watch):
                    self._pulls.extend_leases()
                    learn()
                    self._turn = max(time.monotonic() - began, 0.9 * self._turn)
                    arrived = list(self._arrived(0 if self._is_filling else _TICK))
                    began = time.monotonic()
                    self._take_in(arrived, watch)
            finally:
                self._give_back()
        return self._report

    def stop(self, *by: signal.Signals) -> None:
        """Have ``play`` tell what is finished, give back the rest and raise KeyboardInterrupt; from any thread.

        The signal that stops it, if one does, is the argument of the exception.
        """
        self._stopped_by = by
        self._is_stopped = True
        self._arrivals.put(None)

    def _learning_later(self) -> AbstractContextManager[Callable[[], None]]:
        if self._places.jobs > 1 and isinstance(self._campaign, Learns):
            return self._campaign.learning_later()
        return nullcontext(lambda: None)

    def _start_measuring(self, watch: Watch) -> bool:
        """Fill some of the free places; return whether there is anything to wait for."""
        free = self._places.jobs + self._ahead() - self._measuring
        self._is_filling = False
        if free <= 0:
            return True
        if time.monotonic() >= self._ends:
            self._report.time_is_up = self._measuring == 0
            return self._measuring > 0
        if self._pulls.again:
            self._places.start([self._pulls.again.pop()], self._arrivals.put)
            self._measuring += 1
            self._is_filling = free > 1
            return True
        taken = self._source.take(free, self._lease, [*self._report.set_aside, *self._report.skipped])
        self._is_filling = taken.more
        self._pulls.add(taken.batches)
        self._places.start(taken.batches, self._arrivals.put)
        self._measuring += len(taken.batches)
        if self._measuring:
            self._waiting = False
            return True
        if taken.reason is not None and taken.reason.finished:
            self._report.finished = taken.reason
            return False
        return self._wait_for_others(taken.reason, watch)

    def _wait_for_others(self, reason: Reason | None, watch: Watch) -> bool:
        """Return whether more may come of what others have in flight, or have told since this campaign was asked."""
        elsewhere = self._campaign.status().in_flight
        if elsewhere and not self._waiting:
            text = f"waiting for what others have in flight ({elsewhere:,}), until it is told or its leases end"
            watch(RunEvent("waiting", text=text))
        self._waiting = elsewhere > 0
        return self._waiting or reason is Reason.ALL_IN_FLIGHT

    def _ahead(self) -> int:
        """Return how many measurements are asked for before there is a place for them.

        Twice as many as end in one turn, since they end in clusters, so that no place stands empty while the campaign
        is told and asked: none where a turn is short against a measurement, and never more than there are places. A
        single place waits for each result, so that every pull is chosen with all results known.
        """
        jobs = self._places.jobs
        if jobs == 1 or not self._seconds or not self._source.asks_ahead:
            return 0
        return min(jobs, int(2 * jobs * self._turn / self._seconds))

    def _arrived(self, timeout: float) -> Iterator[Done | RunEvent | None]:
        """Yield what has arrived by now, or what arrives first within ``timeout`` seconds."""
        with suppress(Empty):
            yield self._arrivals.get(timeout=timeout)
            while True:
                yield self._arrivals.get_nowait()

    def _take_in(self, arrived: list[Done | RunEvent | None], watch: Watch) -> None:
        done = [one for one in arrived if isinstance(one, Done)]
        self._measuring -= len(done)
        if done:
            self._seconds = done[-1].seconds
        if self._is_stopped:
            self._pulls.tell(done)
            raise KeyboardInterrupt(*self._stopped_by)
        for event in arrived:
            if isinstance(event, RunEvent):
                watch(event)
        try:
            for event in self._pulls.take_in(done):
                watch(event)
        except MeasurementError:
            self._tell_finished()
            raise
        if not arrived:
            watch(RunEvent("waiting"))

    def _tell_finished(self) -> None:
        """Tell what has been measured by now, before the rest is given back."""
        self._pulls.tell([one for one in self._arrived(0) if isinstance(one, Done)])

    def _give_back(self) -> None:
        """Stop what is running and abandon its pulls; if the database fails, their leases will end all the same."""
        self._places.stop()
        with suppress(StoreError):
            if self._source.tells_when_stopped:
                self._tell_finished()
            self._pulls.give_back()
