"""cutline campaign progress: expected errors over pulls."""

import dataclasses

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._tables import as_json, format_option, table
from cutline.text import moment, number


@click.command()
@db_option
@name_option
@format_option
def command(db: str, name: str | None, form: str) -> None:
    """Show how many errors were to be expected after so many pulls.

    A line for each of the first 64 results, about 32 for each doubling of their number, and one for now.

    \b
    Example:
      cutline campaign progress --db labels.db
    """
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        points = campaign.progress()
    if form == "json":
        click.echo(as_json([dataclasses.asdict(point) for point in points]), nl=False)
        return
    header = ["time", "pulls told", "from elsewhere", "arms decided", "expected errors"]
    lines = [
        [
            moment(point.time),
            *(f"{count:,}" for count in (point.spent, point.observed, point.decided)),
            number(point.expected_errors, 2),
        ]
        for point in points
    ]
    click.echo(table(header, lines), nl=False)
