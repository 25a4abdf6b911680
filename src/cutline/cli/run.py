"""cutline run: a campaign whose measurement is a command."""

from contextlib import suppress
from typing import Any

import click

from cutline.cli._campaigns import settings, settings_options, show_decisions
from cutline.cli._options import numbers, rows_format_option
from cutline.cli._streams import say
from cutline.cli._tables import counted
from cutline.errors import CutlineError
from cutline.text import shown


@click.command(name="run", context_settings={"ignore_unknown_options": True})
@click.option("--arms", "arms_file", metavar="FILE", help="The arms, one id a line; - for standard input.")
@settings_options
@click.option("--db", metavar="URL", help="The database: an SQLite file, or an address such as postgresql://host/name.")
@click.option("--campaign", "name", metavar="NAME", help="The campaign; default: the only one there is, or main.")
@click.option("--jobs", type=int, default=1, show_default=True, metavar="N", help="How many commands run at a time.")
@click.option(
    "--reward",
    type=click.Choice(["exit", "stdout"]),
    default="exit",
    show_default=True,
    help="What the reward is: 1 for exit status 0 and else 0; or the last line on standard output, a number in [0, 1].",
)
@click.option("--timeout", type=float, metavar="SECONDS", help="A command that takes longer has crashed.")
@click.option(
    "--crash-exits",
    callback=numbers(int, "a whole number", "2,3"),
    metavar="2,3,...",
    help="Exit statuses that are a crash of the measurement itself.",
)
@click.option(
    "--fail-exits",
    callback=numbers(int, "a whole number", "126,127"),
    metavar="126,127,...",
    help="Exit statuses that count as 0, though 125 to 127, and 128 plus a signal, are a crash unless given here.",
)
@click.option(
    "--on-crash",
    type=click.Choice(["stop", "zero", "abandon"]),
    default="stop",
    show_default=True,
    help="After a crash: stop; count a reward of 0; or count nothing, and after three leave the arm alone.",
)
@click.option(
    "--lease",
    type=float,
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How soon what was in flight comes back after the run was killed.",
)
@rows_format_option
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND {arm} ...")
def command(  # noqa: PLR0913 - one parameter an option
    arms_file: str | None,
    db: str | None,
    name: str | None,
    jobs: int,
    reward: str,
    timeout: float | None,
    crash_exits: list[int] | None,
    fail_exits: list[int] | None,
    on_crash: Any,
    lease: float,
    form: str,
    words: tuple[str, ...],
    **options: Any,
) -> int:
    """Measure arms by a command until the budget is spent.

    At the end it prints which arms are above the threshold.

    {arm} in the command stands for the arm's id; it is passed as one argument, never through a shell. A crash is a
    command that cannot be started (behind env, sh -c, timeout or nice, too), is killed by a signal, takes too long,
    ends with one of --crash-exits, or prints no reward where it should. The same command again goes on where it
    stopped, after Ctrl-C too; a campaign that is there already needs neither --arms nor --threshold nor --budget. Exit
    status 1: some arms were left alone.

    \b
    Examples:
      cutline run --arms tests.txt --threshold 0.99 --budget 2000 --jobs 8 --db flaky.db -- pytest -q {arm}
      cutline run --arms prompts.txt --threshold 0.8 --budget 500 --db prompts.db --reward stdout \\
          --timeout 60 --on-crash abandon -- ./ask-model.sh {arm}
    """
    from cutline.campaign import Command, run
    from cutline.campaign.database.address import label
    from cutline.campaign.files.arms_file import read_arms
    from cutline.campaign.resume import resume
    from cutline.cli._watching import progress_line, watching

    measure = Command(
        words,
        stdout=reward == "stdout",
        timeout=timeout,
        crash_exits=crash_exits or (),
        fail_exits=fail_exits or (),
    )
    arms = None if arms_file is None else read_arms(arms_file)
    campaign, new = resume(db, name, arms, settings(options))
    with campaign:
        status = campaign.status()
        say(
            f"campaign {status.name!r} in {label(db) if db else 'memory'}{'' if new else ', going on'}: "
            f"{counted(status.arms, 'arm')}, threshold {status.settings.threshold:g}, {status.settings.policy}; "
            f"{progress_line(status)}"
        )
        try:
            with watching(campaign) as watch:
                report = run(campaign, measure, jobs, on_crash=on_crash, lease=lease, watch=watch)
        except BaseException:
            again = "the same command goes on from here" if db else "it is gone, for want of --db"
            with suppress(CutlineError):  # it was ended by something else, which is what counts
                say(f"{progress_line(campaign.status())}; {again}")
            raise
        status, decisions = campaign.status(), campaign.decisions()
    decisions.sort(key=lambda item: (item.above is None, item.above or False, item.mean or 0.0))
    show_decisions(decisions, form)
    below = sum(item.above is False for item in decisions)
    above = sum(item.above is True for item in decisions)
    say(f"{report.finished or 'nothing more to measure'}: {progress_line(status)}")
    say(f"{below:,} below, {above:,} above, {len(decisions) - below - above:,} undecided")
    if report.late:
        say(f"{counted(report.late, 'result')} came too late to count: a lease had ended")
    if report.set_aside:
        listed = ", ".join(map(shown, report.set_aside[:10])) + (", ..." if len(report.set_aside) > 10 else "")
        say(f"left alone after three crashes in a row: {listed}")
    return 0 if report.finished else 1
