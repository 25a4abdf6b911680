"""How commands show decisions, and the exit status that these are worth."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cutline.cli._tables import rows_as_json, table
from cutline.errors import InvalidInputError
from cutline.files import require_writable, whole_file
from cutline.text import aligned, number, printable

if TYPE_CHECKING:
    from cutline.campaign import Decision

Command = TypeVar("Command", bound=Callable[..., Any])

FAILED = 5
"""The exit status if there are arms of which --fail-on says that there must be none."""

safe_csv_option = click.option(
    "--safe-csv",
    is_flag=True,
    help="Put an apostrophe before texts that a spreadsheet would run as formulas; not to be imported again.",
)

_WORDS = ("below", "above", "undecided")

_OPTIONS = (
    click.option(
        "--format",
        "form",
        type=click.Choice(["table", "csv", "json", "markdown", "ids"]),
        default="table",
        show_default=True,
        help="How the decisions are written; ids: the ids alone, one a line.",
    ),
    safe_csv_option,
    click.option("--only", type=click.Choice(_WORDS), help="Write only the arms that this is decided of."),
    click.option(
        "--fail-on",
        type=click.Choice(["below", "undecided"]),
        multiple=True,
        help="Exit status 5 if there is such an arm; repeat it for both.",
    ),
    click.option("--junit", metavar="FILE", help="Write JUnit XML too: a case an arm, failed if it is below."),
)


@dataclass(frozen=True)
class Output:
    """What ``decision_options`` were given."""

    form: str
    only: str | None
    fail_on: tuple[str, ...]
    junit: str | None
    safe_csv: bool
    weighed: bool = False
    """Whether results were weighed by who gave them."""


def check_safe_csv(safe_csv: bool, form: str) -> None:
    """Raise InvalidInputError for ``--safe-csv`` without CSV."""
    if safe_csv and form != "csv":
        raise InvalidInputError(f"--safe-csv goes with --format csv; with {form} every text stays as it is")


def decision_options(command: Command) -> Command:
    """Add the options that say how decisions are shown."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def output_of(options: dict[str, Any]) -> Output:
    """Take what ``decision_options`` were given out of the options of a command, and return it.

    Raises InvalidInputError if the file for JUnit XML cannot be written, and what ``check_safe_csv`` raises.
    """
    output = Output(*(options.pop(name) for name in ("form", "only", "fail_on", "junit", "safe_csv")))
    check_safe_csv(output.safe_csv, output.form)
    if output.junit is not None:
        require_writable(output.junit)
    return output


def show_decisions(decisions: "Sequence[Decision]", output: Output, name: str, threshold: float) -> int:
    """Show the decisions of a campaign and return the exit status: 0, or 5 for what must not be.

    Raises what ``as_ids`` raises, before anything is written.
    """
    from cutline.campaign.files.verdicts import as_ids, as_markdown, write_junit
    from cutline.campaign.results import in_words

    shown = [item for item in decisions if output.only in (None, in_words(item))]
    ids = as_ids(shown) if output.form == "ids" else ""
    if output.junit is not None:
        with whole_file(output.junit, "wb") as file:
            write_junit(decisions, name, threshold, file)
    if output.form == "ids":
        click.echo(ids, nl=False)
    elif output.form == "markdown":
        click.echo(as_markdown(decisions, threshold, output.only), nl=False)
    else:
        _print(shown, output)
    return FAILED if any(in_words(item) in output.fail_on for item in decisions) else 0


def _print(decisions: "Sequence[Decision]", output: Output) -> None:
    from cutline.campaign.decisions import DECISION_COLUMNS, decision_rows
    from cutline.campaign.files.exporting import write_csv

    form = output.form
    if form == "csv":
        write_csv(decision_rows(decisions), DECISION_COLUMNS, sys.stdout, output.safe_csv)
    elif form == "json":
        for piece in rows_as_json(decision_rows(decisions)):
            click.echo(piece, nl=False)
    else:
        click.echo(_table(decisions, output.weighed), nl=False)


def _table(decisions: "Sequence[Decision]", weighed: bool) -> str:
    """Return a table; long ids are shortened on a terminal only. ``weighed``: with how probably each arm is above."""
    from cutline.campaign.results import in_words

    weighed_columns = ["probability"] * weighed
    header = ["arm", "pulls", "mean", *weighed_columns, "decision", "wrong", "low", "high"]
    rows = [
        [
            item.arm,
            f"{item.pulls:,}",
            number(item.mean),
            *(number(item.probability) for _ in weighed_columns),
            in_words(item),
            number(item.wrong),
            number(item.low),
            number(item.high),
        ]
        for item in decisions
    ]
    if sys.stdout is not None and sys.stdout.isatty():
        return table(header, rows)
    return "\n".join(aligned([header, *([printable(arm), *rest] for arm, *rest in rows)])) + "\n"
