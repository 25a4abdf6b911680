"""cutline pytest: a campaign whose arms are the tests that pytest finds."""

from functools import partial
from typing import Any

import click

from cutline.cli._decisions import decision_options, output_of
from cutline.cli._options import batch_size, campaign_option, lease_option
from cutline.cli._streams import say


@click.command(name="pytest", context_settings={"ignore_unknown_options": True, "help_option_names": ["--help"]})
@click.option(
    "--threshold", type=float, metavar="X", help="A test is good that passes in this share of its runs; default: 0.95."
)
@click.option(
    "--runs-per-test",
    type=int,
    metavar="N",
    help="How many runs a test gets on average; default: 20, without --minutes.",
)
@click.option("--budget", type=int, metavar="T", help="How many runs there may be in all, instead of --runs-per-test.")
@click.option("--minutes", type=float, metavar="M", help="Start nothing after so many minutes.")
@click.option(
    "--target-errors",
    type=float,
    metavar="E",
    help="Stop as soon as the expected number of wrong decisions is at most this.",
)
@click.option("--policy", metavar="NAME", help="What chooses the next tests, see cutline policies.")
@click.option(
    "--jobs",
    type=int,
    default=1,
    show_default=True,
    metavar="N",
    help="How many pytests run at a time; if it is more than one, as many more stand ready.",
)
@click.option(
    "--batch",
    default="auto",
    show_default=True,
    callback=batch_size,
    metavar="N|auto",
    help="How many tests one pytest runs at most; auto: as many as cost the least by what it has taken so far.",
)
@click.option("--same-order", is_flag=True, help="Run the tests of a batch as collected, not shuffled.")
@click.option(
    "--timeout",
    type=float,
    default=300.0,
    show_default=True,
    metavar="SECONDS",
    help="A test that takes longer is ended, with its pytest.",
)
@click.option(
    "--on-timeout",
    type=click.Choice(["zero", "stop", "abandon"]),
    default="zero",
    show_default=True,
    help="What that is: a failure; the end of all; or nothing, and after three times the test is left alone.",
)
@click.option(
    "--setup-errors",
    type=click.Choice(["fail", "abandon", "stop"]),
    default="fail",
    show_default=True,
    help="What an error before or after the test itself is, in a fixture: the same three.",
)
@click.option("--logs", metavar="DIR", help="Keep what the last failures of each test have written in this folder.")
@click.option(
    "--db", metavar="URL", help="Keep the results: an SQLite file, or an address such as postgresql://host/name."
)
@campaign_option
@click.option(
    "--change",
    is_flag=True,
    help="Change a campaign that is there to what is given; new tests join, and those that are gone are retired.",
)
@lease_option
@decision_options
@click.argument("words", nargs=-1, type=click.UNPROCESSED, metavar="[PYTEST ARGUMENTS]...")
def command(  # noqa: PLR0913 - one parameter an option
    runs_per_test: int | None,
    minutes: float | None,
    jobs: int,
    batch: Any,
    same_order: bool,
    timeout: float,
    on_timeout: Any,
    setup_errors: Any,
    logs: str | None,
    db: str | None,
    name: str | None,
    change: bool,
    lease: float,
    words: tuple[str, ...],
    **options: Any,
) -> int:
    """Find the tests of a suite that pass too rarely.

    pytest collects the tests once; then fresh processes of it run batches of them, each with another PYTHONHASHSEED
    and in another order, until the budget is spent. What is no option here is handed to pytest, and so is all after --.

    A test that fails, ends its process or takes too long has failed. Skipped and xfailed tests are not measured. The
    same command again goes on where it stopped, if --db keeps the results; what is given must be as it was then, and
    the tests, too, unless --change changes them. Exit status 1: some tests were left alone;
    5: there are tests that --fail-on names.

    \b
    Examples:
      cutline pytest
      cutline pytest --threshold 0.99 --minutes 30 --jobs 4 --db flaky.db --logs failures tests -m "not slow"
      cutline pytest --runs-per-test 40 --change --db flaky.db tests -m "not slow"
    """
    from cutline.campaign.running.options import check_run
    from cutline.campaign.running.runner import run_command_batches
    from cutline.cli._running import conduct
    from cutline.integrations.failure_logs import open_logs
    from cutline.integrations.pytest_suite import collect, handling, open_campaign, require_database

    output = output_of(options)
    seconds = None if minutes is None else 60 * minutes
    check_run(jobs, lease, seconds)
    kept = open_logs(logs)
    require_database(db, name)
    suite = collect(words)
    start = partial(
        run_command_batches,
        command=suite.command(timeout=timeout, same_order=same_order, logs=kept, jobs=jobs),
        batch=batch,
        jobs=jobs,
        handling=handling(on_timeout, setup_errors),
        lease=lease,
        seconds=seconds,
    )
    campaign, new = open_campaign(db, name, suite, options, runs_per_test=runs_per_test, minutes=minutes, change=change)
    status = conduct(db, campaign, new, start, output)
    if kept is not None and kept.wrong is not None:
        say(f"not all failures were kept: {kept.wrong}")
    return status
