"""cutline campaign abandon: give a pull back."""

import click

from cutline.cli._campaigns import db_option, done_option, name_option, say_done


@click.command()
@db_option
@name_option
@click.argument("pull")
@done_option
def command(db: str, name: str | None, pull: str, form: str) -> None:
    """Give a pull back that cannot be answered.

    Its arm is free for others, and the budget has its place back.

    \b
    Example:
      cutline campaign abandon --db labels.db 5f2c81aa-17
    """
    from cutline.campaign.resume import open_one

    with open_one(db, name) as campaign:
        campaign.abandon(pull)
    say_done(f"pull {pull} abandoned", {"abandoned": pull}, form)
