"""Driving a campaign: ask, measure, tell, with several measurements at a time, until it has finished.

Every measurement runs in a thread of its own; the campaign is asked and told from the calling thread alone. Leases
are short and are extended while the measurement goes on, so what a killed run had in flight comes back soon.
"""

import math
import time
from typing import Unpack

from cutline.campaign.running.batch_sizes import BatchSize, sizes_of
from cutline.campaign.running.commands.batch_command import BatchCommand
from cutline.campaign.running.commands.command import Command
from cutline.campaign.running.in_flight import RunReport
from cutline.campaign.running.loop import Loop
from cutline.campaign.running.measuring import BatchMeasurer, Measure, MeasureBatch, SingleMeasurer
from cutline.campaign.running.options import RunOptions, RunSettings, check_run
from cutline.campaign.running.outcomes import Handling
from cutline.campaign.running.places import Threads
from cutline.campaign.running.sources import Batches, BatchRunnable, Runnable, Singles
from cutline.campaign.running.watching import watching


def run(campaign: Runnable, measure: Measure | Command, jobs: int = 1, **options: Unpack[RunOptions]) -> RunReport:
    """Measure until the campaign has finished, ``jobs`` arms at a time, and return what was done.

    ``campaign`` is a Campaign, or anything else that can be asked and told like one. ``measure`` is called with a Pull,
    in threads. For the options, such as what it means when it raises, see RunOptions.

    Ctrl-C (SIGINT, and SIGTERM and SIGHUP unless they are handled already) ends a Command with all that it has
    started, gives the pulls in flight back and raises KeyboardInterrupt, whose argument is the signal; so does every
    other exception on its way out. A Python callable cannot be interrupted: it runs on in a daemon thread, and what it
    returns is not used.

    Other processes may work on the same campaign; the run ends when they have told their pulls or lost them.
    Raises InvalidInputError for a bad argument, and what ask and tell raise.
    """
    settings = RunSettings(**options)
    check_run(jobs, settings.lease)
    source = Singles(campaign, measure.remark if isinstance(measure, Command) else None)
    places = Threads(SingleMeasurer(measure, settings.retry), jobs)
    loop = Loop(campaign, source, places, settings.handling, settings.lease, math.inf)
    with watching(campaign, settings.watch, settings.progress) as watch:
        return loop.play(watch)


def run_batches(
    campaign: BatchRunnable,
    measure: MeasureBatch | BatchCommand,
    batch: BatchSize = "auto",
    jobs: int = 1,
    **options: Unpack[RunOptions],
) -> RunReport:
    """Measure until the campaign has finished, in ``jobs`` batches of distinct arms at a time; return what was done.

    ``measure`` is called with a list of pulls, in threads, and returns their rewards in this order, None for an arm
    that could not be measured. If it raises, it is called again with each half of the batch, until the arm is found
    that makes it raise; but what is only for the moment, as ``retry`` says, is tried again with the whole batch, and in
    the end is a crash of each of its arms. ``batch`` is how many arms it gets at most, or "auto": by what starting and
    measuring have taken so far, and fewer towards the end. All else is as in ``run``.
    """
    settings = RunSettings(**options)
    return _play_batches(campaign, measure, batch, jobs, settings, settings.handling)


def run_command_batches(
    campaign: BatchRunnable,
    command: BatchCommand,
    batch: BatchSize,
    jobs: int,
    handling: Handling,
    *,
    seconds: float | None = None,
    **options: Unpack[RunOptions],
) -> RunReport:
    """As ``run_batches``, with what is done about each kind of trouble; no batch starts after so many ``seconds``."""
    return _play_batches(campaign, command, batch, jobs, RunSettings(**options), handling, seconds)


def _play_batches(
    campaign: BatchRunnable,
    measure: MeasureBatch | BatchCommand,
    batch: BatchSize,
    jobs: int,
    settings: RunSettings,
    handling: Handling,
    seconds: float | None = None,
) -> RunReport:
    check_run(jobs, settings.lease, seconds)
    ends = math.inf if seconds is None else time.monotonic() + seconds
    expect = measure.expect if isinstance(measure, BatchCommand) else None
    source = Batches(campaign, sizes_of(batch, campaign.status().arms, jobs), ends, expect)
    places = Threads(BatchMeasurer(measure, settings.retry), jobs)
    loop = Loop(campaign, source, places, handling, settings.lease, ends)
    with watching(campaign, settings.watch, settings.progress) as watch:
        return loop.play(watch)
