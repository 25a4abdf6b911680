"""cutline campaign backup: a copy of a whole database."""

import click

from cutline.cli._campaigns import db_option, done_option, say_done


@click.command()
@db_option
@click.option("--out", required=True, metavar="FILE", help="The file to write; one of that name is replaced.")
@done_option
def command(db: str, out: str, form: str) -> None:
    """Copy a whole SQLite database while it is in use.

    The copy has all campaigns as they are at one moment, and is a database as any other. A copy by other means may lack
    what was written last. Of PostgreSQL, pg_dump makes a backup. The owner of a server
    copies its database to here.

    \b
    Example:
      cutline campaign backup --db labels.db --out /backup/labels.db
    """
    from cutline.campaign import backup
    from cutline.campaign.database.connecting.address import label

    size = backup(db, out)
    say_done(f"{label(db)} copied to {out}: {size:,} bytes", {"file": out, "bytes": size}, form)
