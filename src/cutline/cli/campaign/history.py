"""cutline campaign history: what was changed, and when."""

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._tables import as_json, format_option
from cutline.text import aligned, moment, shown


@click.command()
@db_option
@name_option
@format_option
def command(db: str, name: str | None, form: str) -> None:
    """Show what was changed of a campaign, and when.

    \b
    Example:
      cutline campaign history --db labels.db
    """
    from cutline.campaign.files.exporting import change_rows, value_in_words, what_in_words
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        rows = list(change_rows(campaign.history()))
    if form == "json":
        click.echo(as_json(rows), nl=False)
        return
    header = ["time", "what", "before", "after"]
    lines = [
        [
            moment(row["time"]),
            what_in_words(row["what"]),
            *(shown(value_in_words(row[at])) for at in ("before", "after")),
        ]
        for row in rows
    ]
    click.echo("\n".join(aligned([header, *lines], left=len(header))))
