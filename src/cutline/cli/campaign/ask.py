"""cutline campaign ask: which arms to measure next."""

from typing import TYPE_CHECKING

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._streams import require_output, say
from cutline.cli._tables import as_json, format_option
from cutline.errors import InvalidInputError
from cutline.text import quoted

if TYPE_CHECKING:
    from cutline.campaign.results import Pulls

FINISHED, NOTHING_NOW = 3, 4
"""Exit statuses of an ask that got nothing."""

_AT_ONCE = 0.001
"""Seconds until a lease ends that nobody can use."""


@click.command()
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
def command(db: str, name: str | None, count: int, worker: str | None, lease: float, form: str) -> int:
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
