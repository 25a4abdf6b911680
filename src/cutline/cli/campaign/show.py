"""cutline campaign show: one arm and its history."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._tables import as_json, format_option, table
from cutline.text import moment, number, shown

if TYPE_CHECKING:
    from cutline.campaign import ArmHistory


@click.command()
@db_option
@name_option
@click.argument("arm")
@click.option("--last", type=int, metavar="N", help="Only its N latest pulls.")
@format_option
def command(db: str, name: str | None, arm: str, last: int | None, form: str) -> None:
    """Show what is decided of an arm, and who gave which reward when.

    A line for each pull or result from elsewhere, also for those that were abandoned or whose lease has ended, and one
    for each reward that was corrected.

    \b
    Example:
      cutline campaign show --db labels.db "picture 17"
    """
    from cutline.campaign.files.exporting import history_row
    from cutline.campaign.results import in_words
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        found = campaign.arm(arm, last)
    if form == "json":
        click.echo(as_json(history_row(found)), nl=False)
        return
    decision = found.decision
    said = {
        "arm": shown(decision.arm),
        "pulls": f"{decision.pulls:,}",
        "in flight": f"{decision.in_flight:,}",
        "mean": number(decision.mean),
        "decision": in_words(decision),
        "wrong": number(decision.wrong),
        "interval": f"{number(decision.low)} to {number(decision.high)}",
        "payload": "-" if decision.payload is None else shown(str(decision.payload)),
    }
    click.echo("".join(f"{name:<18}{text}\n" for name, text in said.items()), nl=False)
    if found.pulls:
        click.echo("\n" + table(["time", "worker", "what", "note", "key", "reward"], _lines(found), left=5), nl=False)


def _lines(found: "ArmHistory") -> Iterator[list[str]]:
    for pull in found.pulls:
        if not pull.answers:
            yield [moment(pull.time), pull.worker or "-", str(pull.state), "-", pull.key, "-"]
        for place, answer in enumerate(pull.answers):
            what = str(pull.state) if place == 0 else "corrected"
            said = [moment(answer.time), answer.worker or "-", what, answer.note or "-", pull.key]
            yield [*said, f"{answer.reward:.9g}"]
