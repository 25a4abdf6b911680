"""cutline serve token revoke: let somebody in no more."""

import click

from cutline.cli._campaigns import db_option, done_option, say_done


@click.command(name="revoke")
@db_option
@click.option("--name", required=True, metavar="NAME", help="The token's name.")
@done_option
def command(db: str, name: str, form: str) -> None:
    """Make a token worthless, with the logins that came of it.

    Servers that run follow within a second.

    \b
    Example:
      cutline serve token revoke --db labels.db --name ann
    """
    from cutline.server.access.tokens import tokens_of

    with tokens_of(db) as tokens:
        tokens.revoke(name)
    say_done(f"token {name!r} revoked", {"revoked": name}, form)
