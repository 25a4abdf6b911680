"""Driving a campaign: ask, measure, tell, with several measurements at a time, until it has finished.

Every measurement runs in a thread of its own; the campaign is asked and told from the calling thread alone. Leases
are short and are extended while the measurement goes on, so what a killed run had in flight comes back soon.
"""

import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Literal, Protocol, TypeAlias, TypedDict, get_args

from cutline.campaign.checks import check_reward
from cutline.campaign.results import Pull, Pulls, Reason, Status
from cutline.campaign.running.command import Command
from cutline.campaign.running.processes import GRACE
from cutline.campaign.running.signals import first_signal_calls
from cutline.checks import check_positive, check_whole
from cutline.errors import ConflictError, InvalidInputError, MeasurementError, StoreError

Measure: TypeAlias = Callable[[Pull], float]
"""Measures ``pull.arm`` once and returns the reward: a number in [0, 1] or a boolean."""

OnCrash: TypeAlias = Literal["stop", "zero", "abandon"]


class RunOptions(TypedDict, total=False):
    """What ``run`` takes by name."""

    on_crash: OnCrash
    lease: float
    watch: Callable[[str | None], object] | None


class Runnable(Protocol):
    """What a run needs of a campaign; each method does what Campaign's does."""

    def ask(self, n: int = 1, *, lease: float, without: Collection[str]) -> Pulls:
        """Lease up to ``n`` pulls, of other arms than ``without``."""
        ...

    def tell(self, pull: Pull, reward: float) -> object:
        """Record the reward of a pull; raise ConflictError if its place has gone to another."""
        ...

    def abandon(self, pull: Pull) -> None:
        """Give a pull back without a reward; raise ConflictError if it has been told."""
        ...

    def extend(self, pull: Pull, lease: float) -> object:
        """Make a lease end ``lease`` seconds from now; raise ConflictError if it has ended."""
        ...

    def status(self) -> Status:
        """Return where the campaign stands."""
        ...


CRASHES_IN_A_ROW = 3
"""After so many crashes of an arm, with no reward between them, a run that abandons leaves it alone."""

_AT_A_TIME = 50
"""So many measurements are started at a time; in between, results are told and signals obeyed."""

_TICK = 0.5
"""Seconds after which the campaign is asked again when there was nothing to be had."""


@dataclass
class RunReport:
    """What a run did: ``told`` rewards; ``crashes``; ``late``, rewards refused because the lease had ended.

    ``set_aside``: the arms that were left alone because they could not be measured. ``finished``: why there is nothing
    more to do, or None if only such arms are left.
    """

    told: int = 0
    crashes: int = 0
    late: int = 0
    set_aside: list[str] = field(default_factory=list)
    finished: Reason | None = None


@dataclass(frozen=True)
class _Done:
    pull: Pull
    reward: float
    crash: MeasurementError | None


def run(
    campaign: Runnable,
    measure: Measure | Command,
    jobs: int = 1,
    *,
    on_crash: OnCrash = "stop",
    lease: float = 60.0,
    watch: Callable[[str | None], object] | None = None,
) -> RunReport:
    """Measure until the campaign has finished, ``jobs`` arms at a time, and return what was done.

    ``campaign`` is a Campaign, or anything else that can be asked and told like one. ``measure`` is called with a Pull,
    in threads. What it means when it raises or returns no reward: "stop" ends the run with MeasurementError; "zero" is
    a reward of 0; "abandon" gives the pull back, uncounted, and after three times in a row the run leaves that arm
    alone. A run that is killed leaves its pulls in flight for up to ``lease`` seconds.
    ``watch`` is called after every result, and at least twice a second, with news (what went wrong, that the run waits
    for others) or None.

    Ctrl-C (SIGINT, and SIGTERM and SIGHUP unless they are handled already) ends a Command with all that it has
    started, gives the pulls in flight back and raises KeyboardInterrupt; so does every other exception on its way
    out. A Python callable cannot be interrupted: it runs on in a daemon thread, and what it returns is not used.

    Other processes may work on the same campaign; the run ends when they have told their pulls or lost them.
    Raises InvalidInputError for a bad argument, and what ask and tell raise.
    """
    check_whole("jobs", jobs, 1)
    if on_crash not in get_args(OnCrash):
        raise InvalidInputError(f"on_crash is {on_crash!r}; it must be one of {', '.join(get_args(OnCrash))}")
    return _Run(campaign, measure, jobs, on_crash, check_positive("lease", lease), watch or _ignore).play()


class _Run:
    def __init__(
        self,
        campaign: Runnable,
        measure: Measure,
        jobs: int,
        on_crash: OnCrash,
        lease: float,
        watch: Callable[[str | None], object],
    ) -> None:
        self._campaign = campaign
        self._measure = measure
        self._jobs = jobs
        self._on_crash = on_crash
        self._lease = lease
        self._watch = watch
        self._report = RunReport()
        self._events: SimpleQueue[_Done | None] = SimpleQueue()  # None: look whether to stop
        self._is_stopped = False  # by a signal
        self._threads: list[threading.Thread] = []
        self._running: dict[str, Pull] = {}
        self._crashes: Counter[str] = Counter()  # of each arm, since its last reward
        self._extended = time.monotonic()
        self._waiting = False  # for others
        self._is_filling = False  # the places: more can be started at once

    def play(self) -> RunReport:
        with first_signal_calls(self._stop):
            try:
                while self._start_measuring():
                    self._extend_leases()
                    self._watch(self._wait())
            finally:
                self._give_back()
        return self._report

    def _stop(self) -> None:
        self._is_stopped = True
        self._events.put(None)

    def _start_measuring(self) -> bool:
        """Fill some of the free places; return whether there is anything to wait for."""
        free = self._jobs - len(self._running)
        self._is_filling = False
        if free == 0:
            return True
        pulls = self._campaign.ask(min(free, _AT_A_TIME), lease=self._lease, without=self._report.set_aside)
        self._is_filling = len(pulls) == _AT_A_TIME < free
        self._running |= {pull.id: pull for pull in pulls}
        started = [threading.Thread(target=self._measure_one, args=(pull,), daemon=True) for pull in pulls]
        self._threads = [*filter(threading.Thread.is_alive, self._threads), *started]
        for thread in started:
            _start(thread, self._jobs)
        if self._running:
            self._waiting = False
            return True
        if pulls.reason is not None and pulls.reason.finished:
            self._report.finished = pulls.reason
            return False
        elsewhere = self._campaign.status().in_flight
        if elsewhere and not self._waiting:
            self._watch(f"waiting for what others have in flight ({elsewhere:,}), until it is told or its leases end")
        self._waiting = elsewhere > 0
        return self._waiting

    def _measure_one(self, pull: Pull) -> None:
        reward, crash = 0.0, None
        try:
            reward = self._measure(pull)
            check_reward(reward)
        except Exception as error:
            text = str(error) if isinstance(error, (MeasurementError, InvalidInputError)) else _described(error)
            crash = MeasurementError(f"arm {pull.arm!r}: {text}")
            crash.__cause__ = error
        self._events.put(_Done(pull, reward, crash))

    def _wait(self) -> str | None:
        """Take in one result, if one comes soon; return what went wrong."""
        try:
            done = self._events.get(timeout=0 if self._is_filling else _TICK)
        except Empty:
            return None
        if self._is_stopped or done is None:
            self._events.put(done)
            self._tell_finished()
            raise KeyboardInterrupt
        if done.crash is None:
            remark = self._measure.remark() if isinstance(self._measure, Command) else None
            return self._tell(done.pull, done.reward) or remark
        self._report.crashes += 1
        if self._on_crash == "stop":
            self._tell_finished()
            raise done.crash
        if self._on_crash == "abandon":
            return self._abandon(done.pull, done.crash)
        return self._tell(done.pull, 0.0) or f"{done.crash}; counts as 0"

    def _abandon(self, pull: Pull, crash: MeasurementError) -> str:
        del self._running[pull.id]
        with suppress(ConflictError):  # the lease has ended, and others have told it
            self._campaign.abandon(pull)
        self._crashes[pull.arm] += 1
        if self._crashes[pull.arm] < CRASHES_IN_A_ROW:
            return f"{crash}; does not count"
        if pull.arm not in self._report.set_aside:
            self._report.set_aside.append(pull.arm)
        return f"{crash}; left alone from now on"

    def _tell_finished(self) -> None:
        """Tell what has been measured by now, before the rest is given back."""
        with suppress(Empty):
            while True:
                done = self._events.get_nowait()
                if done is not None and done.crash is None:
                    self._tell(done.pull, done.reward)

    def _tell(self, pull: Pull, reward: float) -> str | None:
        try:
            self._campaign.tell(pull, reward)
        except ConflictError as error:
            self._report.late += 1
            return str(error)
        finally:
            del self._running[pull.id]
        self._report.told += 1
        del self._crashes[pull.arm]
        return None

    def _extend_leases(self) -> None:
        if time.monotonic() - self._extended < self._lease / 3:
            return
        self._extended = time.monotonic()
        for pull in self._running.values():
            with suppress(ConflictError):  # the lease has ended all the same: telling will show whether it matters
                self._campaign.extend(pull, self._lease)

    def _give_back(self) -> None:
        """Stop what is running and abandon its pulls; if the database fails, their leases will end all the same."""
        if isinstance(self._measure, Command):
            self._stop_commands(self._measure)
        with suppress(StoreError):
            for pull in self._running.values():
                with suppress(ConflictError):
                    self._campaign.abandon(pull)

    def _stop_commands(self, command: Command) -> None:
        """End the commands; those about to start, too, hence the repetition."""
        started = time.monotonic()
        while any(thread.is_alive() for thread in self._threads):
            command.stop(signal.SIGTERM if time.monotonic() - started < GRACE else signal.SIGKILL)
            time.sleep(0.02)


def _start(thread: threading.Thread, jobs: int) -> None:
    try:
        thread.start()
    except RuntimeError:
        raise MeasurementError(f"the system cannot do {jobs:,} measurements at a time; give fewer jobs") from None


def _described(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _ignore(news: str | None) -> None:
    """Watch nothing."""
