"""cutline campaign workers: who works on a campaign."""

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._tables import as_json, format_option, table
from cutline.text import moment, number


@click.command()
@db_option
@name_option
@format_option
def command(db: str, name: str | None, form: str) -> None:
    """Show who works on a campaign.

    How many answers each gave, the share of them on the same side of the threshold as the decision of their arm, and
    when each was last seen. Nobody is left out of anything for it.

    \b
    Example:
      cutline campaign workers --db labels.db
    """
    from cutline.campaign.files.exporting import worker_row
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        rows = [worker_row(worker) for worker in campaign.workers()]
    if form == "json":
        click.echo(as_json(rows), nl=False)
        return
    header = ["worker", "answers", "agree", "in flight", "last seen"]
    lines = [
        [
            row["worker"],
            f"{row['answers']:,}",
            number(row["agreement"], 3),
            f"{row['in_flight']:,}",
            moment(row["last_seen"]),
        ]
        for row in rows
    ]
    click.echo(table(header, lines), nl=False)
