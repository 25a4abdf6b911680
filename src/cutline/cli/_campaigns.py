"""What the commands about campaigns share: their options, and how they show decisions."""

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cutline.cli._options import numbers
from cutline.cli._streams import say
from cutline.cli._tables import as_json, number, table

if TYPE_CHECKING:
    from cutline.campaign import Decision

Command = TypeVar("Command", bound=Callable[..., Any])

db_option = click.option(
    "--db", required=True, metavar="URL", help="An SQLite file, or a url such as postgresql://host/name."
)
name_option = click.option(
    "--campaign", "name", metavar="NAME", help="Which campaign; not needed where there is only one."
)

done_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="What was done, said on standard error; json writes it to standard output, too.",
)


def settings_options(command: Command) -> Command:
    """Add the options for what a campaign is made with; None where one is not given."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


_SETTINGS = (
    click.option("--threshold", type=float, metavar="X", help="What the arms' means are held against."),
    click.option("--budget", type=int, metavar="T", help="Measurements in all."),
    click.option("--policy", metavar="NAME", help="What decides which arm is next; default: LSA."),
    click.option("--seed", type=int, metavar="S", help="Draws the order of arms that are level; default: 0."),
    click.option("--max-pulls-per-arm", type=int, metavar="N", help="No arm is asked for beyond that many results."),
    click.option(
        "--repeat-workers", is_flag=True, default=None, help="A worker may get an arm again that it has answered."
    ),
    click.option(
        "--prior",
        callback=numbers(float, "a number", "1,1"),
        metavar="A,B",
        help="Beta belief about a mean, for the expected errors; default: 1,1.",
    ),
    click.option(
        "--target-errors", type=float, metavar="E", help="Stop when the expected number of errors is at most this."
    ),
)


def settings(values: dict[str, Any]) -> dict[str, Any]:
    """Return what ``settings_options`` were given, as ``resume`` and ``Campaign.create`` take it."""
    prior = values["prior"]
    return values | {"prior": None if prior is None else tuple(prior)}


def say_done(text: str, done: dict[str, Any], form: str) -> None:
    """Say what was done on standard error, and with the format json write it to standard output."""
    say(text)
    if form == "json":
        click.echo(as_json(done), nl=False)


def show_decisions(decisions: "Sequence[Decision]", form: str) -> None:
    """Print decisions as table, csv or json."""
    from cutline.campaign.files.exporting import DECISION_COLUMNS, decision_rows, write_csv

    if form == "table":
        click.echo(_table(decisions), nl=False)
    elif form == "csv":
        write_csv(decision_rows(decisions), DECISION_COLUMNS, sys.stdout)
    else:
        click.echo(as_json(list(decision_rows(decisions))), nl=False)


def _table(decisions: "Sequence[Decision]") -> str:
    from cutline.campaign.files.exporting import in_words

    header = ["arm", "pulls", "mean", "decision", "wrong", "low", "high"]
    rows = [
        [
            item.arm,
            f"{item.pulls:,}",
            number(item.mean),
            in_words(item),
            number(item.wrong),
            number(item.low),
            number(item.high),
        ]
        for item in decisions
    ]
    return table(header, rows)
