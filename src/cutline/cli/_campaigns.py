"""What the commands about campaigns share: their options, and how they show decisions."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from cutline.cli._options import numbers, words
from cutline.cli._streams import say
from cutline.cli._tables import as_json
from cutline.defaults import POLICY

Command = TypeVar("Command", bound=Callable[..., Any])

db_option = click.option(
    "--db",
    required=True,
    metavar="URL",
    help="The database: an SQLite file, postgresql://host/name, or http://host:8000, a server (see serve).",
)
name_option = click.option(
    "--campaign", "name", metavar="NAME", help="The campaign; may be left out where there is only one."
)

done_option = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="With json, what was done goes to standard output, too.",
)


def settings_options(command: Command) -> Command:
    """Add the options for what a campaign is made with; None where one is not given."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return command


def wording_options(command: Command) -> Command:
    """Add the options for the words of the page to label on; None where one is not given."""
    for option in reversed(_WORDING):
        command = option(command)
    return command


_WORDING = (
    click.option("--question", metavar="TEXT", help="What the page to label on asks; see docs/service.md."),
    click.option(
        "--labels", callback=words, metavar="A,B", help="The words on its two buttons: of the reward 0, and of 1."
    ),
    click.option("--keys", callback=words, metavar="A,B", help="Their keys, next to the arrows; default: n,y."),
)
_SETTINGS = (
    click.option("--threshold", type=float, metavar="X", help="An arm is above with a mean of at least this."),
    click.option("--budget", type=int, metavar="T", help="How many measurements there may be in all."),
    click.option(
        "--policy", metavar="NAME", help=f"What chooses the next arm, see cutline policies; default: {POLICY}."
    ),
    click.option(
        "--seed",
        type=int,
        metavar="S",
        help="Seeds the order of arms between which the policy sees no difference; default: 0.",
    ),
    click.option(
        "--max-pulls-per-arm", type=int, metavar="N", help="The most results that an arm may have; default: no limit."
    ),
    click.option(
        "--repeat-workers", is_flag=True, default=None, help="Let a worker get an arm again that it has answered."
    ),
    click.option(
        "--prior",
        callback=numbers(float, "a number", "1,1"),
        metavar="A,B",
        help="What is believed of a mean beforehand, Beta(A, B); default: learnt from the results of all arms.",
    ),
    click.option(
        "--decide",
        metavar="RULE",
        help="What an arm is called: likelier, the side that its true mean is probably on, or mean, the side of the "
        "average of its results; default: likelier.",
    ),
    click.option(
        "--target-errors",
        type=float,
        metavar="E",
        help="Stop as soon as the expected number of wrong decisions is at most this; default: never.",
    ),
    click.option(
        "--workers",
        metavar="alike|weighed",
        help="Count all results alike, or weigh them by who gave them; see docs/workers.md; default: alike.",
    ),
    click.option(
        "--exclude",
        "excluded",
        multiple=True,
        metavar="WORKER",
        help="Weigh the results of this worker nothing; repeatable; with --workers weighed.",
    ),
    click.option(
        "--known-rate",
        type=float,
        metavar="P",
        help="The share of measurements that are of arms whose answer is known; default: 0.",
    ),
)


def settings(values: dict[str, Any]) -> dict[str, Any]:
    """Return what ``settings_options`` were given, as ``resume`` and ``Campaign.create`` take it."""
    prior = values["prior"]
    return values | {"prior": None if prior is None else tuple(prior), "excluded": values["excluded"] or None}


def say_done(text: str, done: dict[str, Any], form: str) -> None:
    """Say what was done on standard error, and with the format json write it to standard output."""
    say(text)
    if form == "json":
        click.echo(as_json(done), nl=False)


known_option = click.option(
    "--known",
    metavar="FILE",
    help="Answers that are known beforehand, to weigh workers by: columns task and label.",
)


def answers(known: str | None) -> dict[str, bool] | None:
    """Return what ``known_option`` names, by arm; None if it was not given."""
    from cutline.recorded.sources import read_answers

    return None if known is None else read_answers(known)


exclude_option = click.option(
    "--exclude", multiple=True, metavar="WORKER", help="Weigh the answers of this worker nothing; repeatable."
)
