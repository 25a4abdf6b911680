"""cutline run: a campaign whose measurement is a command."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from cutline.cli._campaigns import answers, known_option, settings, settings_options
from cutline.cli._decisions import decision_options, output_of
from cutline.cli._options import batch_size, campaign_option, lease_option, numbers
from cutline.cli._streams import require_output
from cutline.errors import InvalidInputError

if TYPE_CHECKING:
    from cutline.campaign import RunReport


@click.command(name="run", context_settings={"ignore_unknown_options": True})
@click.option(
    "--arms",
    "arms_file",
    metavar="FILE",
    help="The arms, one id a line, or JSON Lines with payloads; - for standard input.",
)
@settings_options
@known_option
@click.option(
    "--db",
    metavar="URL",
    help="The database: an SQLite file, postgresql://host/name, or http://host:8000, a server (see serve).",
)
@campaign_option
@click.option(
    "--change",
    is_flag=True,
    help="Change a campaign that is there to what is given; of --arms, new ones join and others are retired.",
)
@click.option("--jobs", type=int, default=1, show_default=True, metavar="N", help="How many commands run at a time.")
@click.option(
    "--reward",
    type=click.Choice(["exit", "stdout"]),
    default="exit",
    show_default=True,
    help="What the reward is: 1 for exit status 0 and else 0; or the last line on standard output, a number in [0, 1], "
    "and maybe a tab and a note.",
)
@click.option(
    "--batch",
    callback=batch_size,
    metavar="N|auto",
    help="Measure up to N arms with one command, or auto: as many as cost the least by what it has taken so far.",
)
@click.option(
    "--report",
    type=click.Choice(["junit", "jsonl"]),
    help='What the command of a batch writes to {report}: JUnit XML, or lines such as {"arm": "a", "reward": 1}.',
)
@click.option(
    "--timeout",
    type=float,
    metavar="SECONDS",
    help="A command that takes longer is ended; that of a batch has so long for each of its arms.",
)
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
    "--retry-exits",
    callback=numbers(int, "a whole number", "75,69"),
    metavar="75,...",
    help="Exit statuses that are only for the moment: the command is tried again after a while, longer each time.",
)
@click.option(
    "--attempts", type=int, metavar="N", help="How often it is tried before that is a crash; default: 8 times."
)
@click.option(
    "--on-crash",
    type=click.Choice(["stop", "zero", "abandon"]),
    default="stop",
    show_default=True,
    help="After a crash: stop; count a reward of 0; or count nothing, and after three leave the arm alone.",
)
@click.option(
    "--on-timeout",
    type=click.Choice(["stop", "zero", "abandon"]),
    help="The same after --timeout; default: what --on-crash says.",
)
@lease_option
@decision_options
@click.argument("words", nargs=-1, required=True, metavar="-- COMMAND {arm} ...")
def command(
    arms_file: str | None,
    known: str | None,
    db: str | None,
    name: str | None,
    change: bool,
    words: tuple[str, ...],
    **options: Any,
) -> int:
    """Measure arms by a command until the budget is spent.

    At the end it prints which arms are above the threshold.

    {arm} in the command stands for the arm's id; it is passed as one argument, never through a shell. A crash is a
    command that cannot be started (behind env, sh -c, timeout or nice, too), is killed by a signal, takes too long,
    ends with one of --crash-exits, or prints no reward where it should. The same command again goes on where it
    stopped, after Ctrl-C too; a campaign that is there already needs neither --arms nor --threshold nor --budget,
    and what is given must be as it was, unless --change changes it. Exit status 1: some arms were left alone; 5:
    there are arms that --fail-on names.

    With --batch one command measures many arms: an argument {arms} stands for their ids, as many arguments, {arms_file}
    for a file with an id a line, {report} for the file that the command writes what came of them to. An arm that the
    report does not name has crashed, alone; a batch whose command is killed or leaves no report is measured again in
    halves, until the arm is found that it dies of.

    \b
    Examples:
      cutline run --arms tests.txt --threshold 0.99 --budget 2000 --jobs 8 --db flaky.db -- pytest -q {arm}
      cutline run --arms prompts.txt --threshold 0.8 --budget 500 --db prompts.db --reward stdout \\
          --timeout 60 --on-crash abandon -- ./ask-model.sh {arm}
      cutline run --arms tests.txt --threshold 0.99 --budget 2000 --db flaky.db --batch auto --report junit \\
          -- pytest -q --junitxml={report} {arms}
    """
    from cutline.campaign.files.arms_file import ArmsFile, read_arms
    from cutline.campaign.resume import resume
    from cutline.cli._running import conduct

    require_output()
    output = output_of(options)
    start = _start_of(words, options)
    arms = ArmsFile({}, {}) if arms_file is None else read_arms(arms_file)
    campaign, new = resume(db, name, arms.payloads or None, settings(options), change, arms.answers(answers(known)))
    return conduct(db, campaign, new, start, output)


def _start_of(words: tuple[str, ...], options: dict[str, Any]) -> "Callable[..., RunReport]":
    """Take what says how arms are measured out of the options of the command; return what runs a campaign by it."""
    from cutline.campaign import BatchCommand, Command, run, run_batches
    from cutline.campaign.running.options import check_run
    from cutline.cli._running import retry_of

    how = {name: options.pop(name) for name in ("jobs", "lease", "on_crash", "on_timeout")}
    reward, batch, report = (options.pop(name) for name in ("reward", "batch", "report"))
    crash_exits, fail_exits, retry_exits = (options.pop(f"{name}_exits") or [] for name in ("crash", "fail", "retry"))
    check_run(how["jobs"], how["lease"])
    _refuse_what_does_not_go_together(batch, report, reward, fail_exits)
    how["retry"] = retry_of(retry_exits, options.pop("attempts"))
    shared: Any = {"timeout": options.pop("timeout"), "crash_exits": crash_exits, "retry_exits": retry_exits}
    if batch is None:
        single = Command(words, stdout=reward == "stdout", fail_exits=fail_exits, **shared)
        return partial(run, measure=single, **how)
    many = BatchCommand(words, report=report, **shared)
    return partial(run_batches, measure=many, batch=batch, **how)


def _refuse_what_does_not_go_together(
    batch: int | str | None, report: str | None, reward: str, fail_exits: list[int]
) -> None:
    if (batch is None) != (report is None):
        raise InvalidInputError("--batch N and --report junit|jsonl go together; give both, or none")
    if batch is not None and (reward != "exit" or fail_exits):
        raise InvalidInputError("with --batch the rewards come from the report; leave out --reward and --fail-exits")
