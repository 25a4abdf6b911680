"""cutline campaign: create campaigns, ask, tell, and see where they stand."""

import sys
from typing import TYPE_CHECKING, Any

import click

from cutline.cli._campaigns import db_option, done_option, name_option, say_done, settings, settings_options
from cutline.cli._decisions import decision_options, output_of, show_decisions
from cutline.cli._groups import Group
from cutline.cli._streams import require_output, say
from cutline.cli._tables import as_json, counted, format_option, number, table
from cutline.errors import InvalidInputError
from cutline.text import quoted

if TYPE_CHECKING:
    from cutline.campaign.results import Pulls

FINISHED, NOTHING_NOW = 3, 4
"""Exit statuses of an ask that got nothing."""

_AT_ONCE = 0.001
"""Seconds until a lease ends that nobody can use."""


@click.group(name="campaign", cls=Group)
def command() -> None:
    """Create campaigns, ask, tell, and see what is decided."""


@command.command()
@db_option
@click.option("--campaign", "name", default="main", show_default=True, metavar="NAME", help="The campaign's name.")
@click.option(
    "--arms", "arms_file", required=True, metavar="FILE", help="The arms, one id a line; - for standard input."
)
@settings_options
@done_option
def create(db: str, name: str, arms_file: str, form: str, **options: Any) -> None:
    """Create a campaign, and the database where there is none.

    --threshold and --budget are needed.

    \b
    Example:
      cutline campaign create --db labels.db --arms tasks.txt --threshold 0.5 --budget 4000
    """
    from cutline.campaign import Campaign
    from cutline.campaign.database.address import label
    from cutline.campaign.files.arms_file import read_arms
    from cutline.campaign.files.exporting import status_row

    given = {key: value for key, value in settings(options).items() if value is not None}
    for needed in ("threshold", "budget"):
        if needed not in given:
            raise InvalidInputError(f"--{needed} is missing")
    arms = read_arms(arms_file)
    with Campaign.create(db, name, arms, **{"policy": "LSA"} | given) as campaign:
        status = campaign.status()
    say_done(f"campaign {name!r} in {label(db)}: {counted(len(arms), 'arm')}", status_row(status), form)
    if status.warning:
        say(status.warning)


@command.command(name="list")
@db_option
@format_option
def list_(db: str, form: str) -> None:
    """List the campaigns in a database and where each stands.

    \b
    Example:
      cutline campaign list --db labels.db
    """
    from cutline.campaign import campaigns
    from cutline.campaign.files.exporting import status_row

    rows = [status_row(status) for status in campaigns(db)]
    if form == "json":
        click.echo(as_json(rows), nl=False)
        return
    header = ["campaign", "arms", "threshold", "budget", "spent", "in flight", "left", "expected errors", "finished"]
    click.echo(
        table(
            header,
            [
                [
                    row["name"],
                    f"{row['arms']:,}",
                    f"{row['threshold']:g}",
                    *(f"{row[key]:,}" for key in ("budget", "spent", "in_flight", "left")),
                    number(row["expected_errors"], 2),
                    row["finished"] or "-",
                ]
                for row in rows
            ],
        ),
        nl=False,
    )


@command.command()
@db_option
@name_option
@format_option
def status(db: str, name: str | None, form: str) -> None:
    """Show where a campaign stands.

    How many pulls are spent, in flight and left, and how many wrong decisions are to be expected.

    \b
    Examples:
      cutline campaign status --db labels.db
      cutline campaign status --db labels.db --format json
    """
    from cutline.campaign.files.exporting import status_row
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        found = campaign.status()
    row = status_row(found)
    if found.warning:
        say(found.warning)
    if form == "json":
        click.echo(as_json(row), nl=False)
        return
    row["prior"] = "Beta({:g}, {:g})".format(*row["prior"]) if row["prior"] else "learnt"
    row["repeat_workers"] = "yes" if row["repeat_workers"] else "no"
    row["expected_errors"] = number(row["expected_errors"], 2)
    for key, value in row.items():
        text = "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
        click.echo(f"{key.replace('_', ' '):<18}{text}")


@command.command()
@db_option
@name_option
@click.option("-n", "count", type=int, default=1, show_default=True, metavar="N", help="How many arms, at most.")
@click.option("--worker", metavar="NAME", help="Who measures; a worker gets no arm twice, unless workers repeat.")
@click.option(
    "--lease",
    type=float,
    default=600.0,
    show_default=True,
    metavar="SECONDS",
    help="After so long without an answer others may have them.",
)
@format_option
def ask(db: str, name: str | None, count: int, worker: str | None, lease: float, form: str) -> int:
    """Ask which arms to measure next.

    Each line has the id of a pull, which tell needs, a tab, and the arm. Exit status 3: none, the campaign has
    finished. Exit status 4: none now, since others have what is left or the worker has had it.

    \b
    Examples:
      cutline campaign ask --db labels.db
      cutline campaign ask --db labels.db -n 5 --worker ann --format json
    """
    from cutline.campaign.resume import open_one

    require_output("nothing was asked for, since nobody would know of it")
    with open_one(db, name) as campaign:
        pulls = campaign.ask(count, worker=worker, lease=lease)
        try:
            _print_pulls(pulls, form)
        except (OSError, InvalidInputError):
            for pull in pulls:
                campaign.extend(pull, _AT_ONCE)  # nobody knows of them, so they go back
            raise
    if pulls.reason is not None:
        say(f"{len(pulls)} of {count}: {pulls.reason}")
    return 0 if pulls or pulls.reason is None else FINISHED if pulls.reason.finished else NOTHING_NOW


def _print_pulls(pulls: "Pulls", form: str) -> None:
    if form == "json":
        rows = [
            {"pull": pull.id, "arm": pull.arm, "payload": pull.payload, "worker": pull.worker, "expires": pull.expires}
            for pull in pulls
        ]
        reason = None if pulls.reason is None else str(pulls.reason)
        click.echo(as_json({"pulls": rows, "reason": reason}), nl=False)
    else:
        for pull in pulls:
            if any(letter in pull.arm for letter in "\t\n\r"):
                raise InvalidInputError(
                    f"the id {quoted(pull.arm)} has a tab or a line end, so that its line could be misread; give "
                    "--format json (nothing was asked for)"
                )
        click.echo("".join(f"{pull.id}\t{pull.arm}\n" for pull in pulls), nl=False)


@command.command()
@db_option
@name_option
@click.argument("words", nargs=-1, required=True, metavar="PULL REWARD [PULL REWARD]...")
@done_option
def tell(db: str, name: str | None, words: tuple[str, ...], form: str) -> None:
    """Tell what came back of one pull or more.

    A reward is a number in [0, 1]. All are recorded, or none.

    \b
    Example:
      cutline campaign tell --db labels.db 5f2c81aa-17 1
    """
    from cutline.campaign.checks import read_reward
    from cutline.campaign.resume import open_one

    if len(words) % 2:
        raise InvalidInputError(f"pull {words[-1]!r} has no reward; give pairs of pull and reward")
    rewards = [(pull, read_reward(text)) for pull, text in zip(words[::2], words[1::2], strict=True)]
    with open_one(db, name) as campaign:
        new = campaign.tell_many(rewards)
    known = len(rewards) - new
    say_done(f"{new} told" + (f", {known} had been told already" if known else ""), {"new": new, "known": known}, form)


@command.command()
@db_option
@name_option
@click.argument("pull")
@done_option
def abandon(db: str, name: str | None, pull: str, form: str) -> None:
    """Give a pull back that cannot be answered.

    Its arm is free for others, and the budget has its place back.

    \b
    Example:
      cutline campaign abandon --db labels.db 5f2c81aa-17
    """
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        campaign.abandon(pull)
    say_done(f"pull {pull} abandoned", {"abandoned": pull}, form)


@command.command()
@db_option
@name_option
@click.option("--nearest", type=int, metavar="N", help="Only the N arms that are most likely to be wrong, these first.")
@click.option(
    "--confidence",
    type=float,
    default=0.95,
    show_default=True,
    metavar="P",
    help="The confidence of the interval from low to high.",
)
@decision_options
def decisions(db: str, name: str | None, nearest: int | None, confidence: float, **options: Any) -> int:
    """Show which arms are above the threshold, and how sure that is.

    Exit status 5: there are arms that --fail-on names.

    \b
    Examples:
      cutline campaign decisions --db labels.db
      cutline campaign decisions --db labels.db --nearest 20 --format csv
      cutline campaign decisions --db flaky.db --only below --format ids
    """
    from cutline.campaign.resume import open_one

    output = output_of(options)
    if nearest is not None and (output.fail_on or output.junit):
        raise InvalidInputError("--fail-on and --junit look at all arms; leave out --nearest")
    with open_one(db, name) as campaign:
        found = campaign.decisions(nearest, confidence)
        return show_decisions(found, output, campaign.name, campaign.settings.threshold)


@command.command()
@db_option
@click.option("--campaign", "name", required=True, metavar="NAME", help="The campaign; even where there is only one.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@done_option
def delete(db: str, name: str, yes: bool, form: str) -> None:
    """Delete a campaign with all its results.

    \b
    Example:
      cutline campaign delete --db labels.db --campaign main --yes
    """
    from cutline.campaign import delete as delete_campaign

    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise InvalidInputError("deleting cannot be undone; give --yes to do it without being asked")
        click.confirm(f"Delete campaign {name!r} with all its results?", abort=True, err=True)
    delete_campaign(db, name)
    say_done(f"campaign {name!r} deleted", {"deleted": name}, form)
