"""cutline campaign delete: remove a campaign."""

import sys

import click

from cutline.cli._campaigns import db_option, done_option, say_done
from cutline.errors import InvalidInputError


@click.command()
@db_option
@click.option("--campaign", "name", required=True, metavar="NAME", help="The campaign; even where there is only one.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@done_option
def command(db: str, name: str, yes: bool, form: str) -> None:
    """Delete a campaign with all its results.

    \b
    Example:
      cutline campaign delete --db labels.db --campaign main --yes
    """
    from cutline.campaign import delete as delete_campaign

    if not yes:
        if sys.stdin is None or not sys.stdin.isatty():
            raise InvalidInputError("deleting cannot be undone; give --yes to do it without being asked")
        click.confirm(f"Delete campaign {name!r} with all its results?", abort=True, err=True)
    delete_campaign(db, name)
    say_done(f"campaign {name!r} deleted", {"deleted": name}, form)
