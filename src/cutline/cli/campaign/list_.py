"""cutline campaign list: the campaigns of a database."""

import click

from cutline.cli._campaigns import db_option
from cutline.cli._tables import as_json, format_option, table
from cutline.text import number


@click.command(name="list")
@db_option
@format_option
def command(db: str, form: str) -> None:
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
