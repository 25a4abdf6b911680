"""cutline campaign status: where a campaign stands."""

import click

from cutline.cli._campaigns import db_option, name_option
from cutline.cli._streams import say
from cutline.cli._tables import as_json, format_option
from cutline.text import number


@click.command()
@db_option
@name_option
@format_option
def command(db: str, name: str | None, form: str) -> None:
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
    row["excluded"] = ", ".join(row["excluded"]) or None
    for errors in ("expected_errors", "least_errors"):
        row[errors] = number(row[errors], 2)
    for key, value in row.items():
        text = "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
        click.echo(f"{key.replace('_', ' '):<18}{text}")
