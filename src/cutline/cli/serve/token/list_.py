"""cutline serve token list: who may use a server."""

from datetime import UTC, datetime

import click

from cutline.cli._campaigns import db_option
from cutline.cli._tables import as_json, format_option, table


@click.command(name="list")
@db_option
@format_option
def command(db: str, form: str) -> None:
    """List the tokens of a database, but for what is secret.

    Each has a name, a role, and maybe a campaign and an end.

    \b
    Example:
      cutline serve token list --db labels.db
    """
    from cutline.server.access.tokens import tokens_of

    with tokens_of(db) as tokens:
        rows = [row._asdict() for row in tokens.list()]
    if form == "json":
        click.echo(as_json(rows), nl=False)
        return
    lines = [
        [row["name"], row["role"], row["campaign"] or "all", _day(row["created"]), _day(row["ends"])] for row in rows
    ]
    click.echo(table(["token", "role", "campaign", "created", "ends"], lines), nl=False)


def _day(time: float | None) -> str:
    return "-" if time is None else datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M")
