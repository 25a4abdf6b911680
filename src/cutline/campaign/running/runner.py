"""Driving a campaign: ask, measure, tell, with several measurements at a time, until it has finished.

Every measurement runs in a thread of its own; the campaign is asked and told from the calling thread alone. Leases
are short and are extended while the measurement goes on, so what a killed run had in flight comes back soon.
"""

import math
import time
from collections.abc import Callable
from typing import TypeAlias, TypedDict, get_args

from cutline.campaign.running.batch_command import BatchCommand
from cutline.campaign.running.batch_sizes import BatchSize, sizes_of
from cutline.campaign.running.command import Command
from cutline.campaign.running.loop import Loop, RunReport
from cutline.campaign.running.outcomes import Handling, OnTrouble
from cutline.campaign.running.sources import Batches, BatchRunnable, Measure, MeasureBatch, Runnable, Singles, Source
from cutline.checks import check_positive, check_whole
from cutline.errors import InvalidInputError

OnCrash: TypeAlias = OnTrouble


class RunOptions(TypedDict, total=False):
    """What ``run`` and ``run_batches`` take by name."""

    on_crash: OnCrash
    on_timeout: OnCrash | None
    lease: float
    watch: Callable[[str | None], object] | None


def run(
    campaign: Runnable,
    measure: Measure | Command,
    jobs: int = 1,
    *,
    on_crash: OnCrash = "stop",
    on_timeout: OnCrash | None = None,
    lease: float = 60.0,
    watch: Callable[[str | None], object] | None = None,
) -> RunReport:
    """Measure until the campaign has finished, ``jobs`` arms at a time, and return what was done.

    ``campaign`` is a Campaign, or anything else that can be asked and told like one. ``measure`` is called with a Pull,
    in threads. What it means when it raises or returns no reward: "stop" ends the run with MeasurementError; "zero" is
    a reward of 0; "abandon" gives the pull back, uncounted, and after three times in a row the run leaves that arm
    alone. ``on_timeout``: the same for TimeoutError, if it is to mean something else. A run that is killed leaves its
    pulls in flight for up to ``lease`` seconds.
    ``watch`` is called after every result, and at least twice a second, with news (what went wrong, that the run waits
    for others) or None.

    Ctrl-C (SIGINT, and SIGTERM and SIGHUP unless they are handled already) ends a Command with all that it has
    started, gives the pulls in flight back and raises KeyboardInterrupt; so does every other exception on its way
    out. A Python callable cannot be interrupted: it runs on in a daemon thread, and what it returns is not used.

    Other processes may work on the same campaign; the run ends when they have told their pulls or lost them.
    Raises InvalidInputError for a bad argument, and what ask and tell raise.
    """
    check_run(jobs, lease)
    handling = handling_of(on_crash, on_timeout)
    return _play(campaign, Singles(campaign, measure), jobs, handling, lease, watch)


def run_batches(
    campaign: BatchRunnable,
    measure: MeasureBatch | BatchCommand,
    batch: BatchSize = "auto",
    jobs: int = 1,
    *,
    on_crash: OnCrash = "stop",
    on_timeout: OnCrash | None = None,
    lease: float = 60.0,
    watch: Callable[[str | None], object] | None = None,
) -> RunReport:
    """Measure until the campaign has finished, in ``jobs`` batches of distinct arms at a time; return what was done.

    ``measure`` is called with a list of pulls, in threads, and returns their rewards in this order, None for an arm
    that could not be measured. If it raises, it is called again with each half of the batch, until the arm is found
    that makes it raise. ``batch`` is how many arms it gets at most, or "auto": by what starting and measuring have
    taken so far, and fewer towards the end. All else is as in ``run``.
    """
    check_run(jobs, lease)
    sizes = sizes_of(batch, campaign.status().arms, jobs)
    source = Batches(campaign, measure, sizes, math.inf)
    return _play(campaign, source, jobs, handling_of(on_crash, on_timeout), lease, watch)


def run_command_batches(
    campaign: BatchRunnable,
    command: BatchCommand,
    batch: BatchSize,
    jobs: int,
    handling: Handling,
    *,
    lease: float = 60.0,
    seconds: float | None = None,
    watch: Callable[[str | None], object] | None = None,
) -> RunReport:
    """As ``run_batches``, with what is done about each kind of trouble; no batch starts after so many ``seconds``."""
    check_run(jobs, lease, seconds)
    ends = math.inf if seconds is None else time.monotonic() + seconds
    source = Batches(campaign, command, sizes_of(batch, campaign.status().arms, jobs), ends)
    return _play(campaign, source, jobs, handling, lease, watch, ends)


def check_run(jobs: int, lease: float, seconds: float | None = None) -> None:
    """Raise InvalidInputError for a number that is out of range, before there is a campaign to run."""
    check_whole("jobs", jobs, 1)
    check_positive("lease", lease)
    if seconds is not None:
        check_positive("seconds", seconds)


def handling_of(on_crash: OnCrash, on_timeout: OnCrash | None) -> Handling:
    """Return what is done about each kind of trouble; raise InvalidInputError for a word that is none."""
    for name, value in (("on_crash", on_crash), ("on_timeout", on_timeout)):
        if value not in get_args(OnTrouble) and (name == "on_crash" or value is not None):
            raise InvalidInputError(f"{name} is {value!r}; it must be one of {', '.join(get_args(OnTrouble))}")
    return {"crash": on_crash, "timeout": on_timeout or on_crash, "missing": on_crash, "error": on_crash}


def _play(
    campaign: Runnable,
    source: Source,
    jobs: int,
    handling: Handling,
    lease: float,
    watch: Callable[[str | None], object] | None,
    ends: float = math.inf,
) -> RunReport:
    return Loop(campaign, source, jobs, handling, lease, watch or _ignore, ends).play()


def _ignore(news: str | None) -> None:
    """Watch nothing."""
