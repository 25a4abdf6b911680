"""What the commands that measure share: they say where the campaign stands, run it, and show the decisions."""

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cutline.cli._decisions import Output, show_decisions
from cutline.cli._streams import say
from cutline.cli._tables import counted
from cutline.errors import AccessError, CutlineError, InvalidInputError
from cutline.text import printable

if TYPE_CHECKING:
    from cutline.campaign import Campaign, Decisions, Retry, RunReport


def retry_of(exits: Collection[int], attempts: int | None) -> "Retry | None":
    """Return how commands are tried again that end with one of some exit statuses; None if there are none."""
    from cutline.campaign import Retry

    if not exits:
        if attempts is not None:
            raise InvalidInputError("--attempts is for the exit statuses of --retry-exits; give them, too")
        return None
    return Retry() if attempts is None else Retry(attempts=attempts)


def conduct(db: str | None, campaign: "Campaign", new: bool, start: "Callable[..., RunReport]", output: Output) -> int:
    """Run a campaign by ``start``, given it and ``progress``; show the decisions and return the exit status."""
    from cutline.campaign.database.connecting.address import label
    from cutline.campaign.running.watching import progress_line

    with campaign:
        status = campaign.status()
        say(
            f"campaign {status.name!r} in {label(db) if db else 'memory'}{'' if new else ', going on'}: "
            f"{counted(status.arms, 'arm')}, threshold {status.settings.threshold:g}, {status.settings.policy}; "
            f"{progress_line(status)}"
        )
        if status.warning:
            say(status.warning)
        try:
            report = start(campaign, progress=True)
        except BaseException:
            again = "the same command goes on from here" if db else "it is gone, for want of --db"
            with suppress(CutlineError):  # it was ended by something else, which is what counts
                say(f"{progress_line(campaign.status())}; {again}")
            raise
        status = campaign.status()
        decisions = _decisions(campaign, output)
    verdict = 0
    if decisions is not None:
        decisions.sort(key=lambda item: (item.above is None, item.above or False, item.mean or 0.0))
        output = replace(output, weighed=status.settings.weighed)
        verdict = show_decisions(decisions, output, status.name, status.settings.threshold)
    ended = "time is up" if report.time_is_up else report.finished or "nothing more to measure"
    say(f"{ended}: {progress_line(status)}")
    if decisions is None:
        say("what is decided is not for this token to see")
    else:
        below = sum(item.above is False for item in decisions)
        above = sum(item.above is True for item in decisions)
        say(f"{below:,} below, {above:,} above, {len(decisions) - below - above:,} undecided")
    if report.late:
        say(f"{counted(report.late, 'result')} came too late to count: a lease had ended")
    if report.skipped:
        say(f"skipped: {_listed(report.skipped)}")
    if report.set_aside:
        say(f"left alone after three crashes in a row: {_listed(report.set_aside)}")
    return verdict or (0 if report.finished or report.time_is_up else 1)


def _decisions(campaign: "Campaign", output: Output) -> "Decisions | None":
    """Return what is decided; None if a server lets this token measure alone, and nothing but the table wants it."""
    try:
        return campaign.decisions()
    except AccessError:
        if output.fail_on or output.junit:
            raise
        return None


def _listed(arms: list[str]) -> str:
    return ", ".join(map(printable, arms[:10])) + (", ..." if len(arms) > 10 else "")
