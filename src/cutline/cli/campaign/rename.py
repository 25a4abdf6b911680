"""cutline campaign rename: another name for a campaign."""

import click

from cutline.cli._campaigns import db_option, done_option, name_option, say_done


@click.command()
@db_option
@name_option
@click.argument("new_name", metavar="NEW")
@done_option
def command(db: str, name: str | None, new_name: str, form: str) -> None:
    """Give a campaign another name, also while others work on it.

    \b
    Example:
      cutline campaign rename --db labels.db --campaign main fruit
    """
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        before = campaign.name
        campaign.rename(new_name)
    say_done(f"campaign {before!r} is called {new_name!r} now", {"name": new_name, "before": before}, form)
