"""cutline serve token link: a link that lets somebody in once."""

import click

from cutline.cli._campaigns import db_option
from cutline.cli._streams import require_output


@click.command(name="link")
@db_option
@click.option("--name", required=True, metavar="NAME", help="The name of the token whose owner the link is for.")
@click.option(
    "--address",
    default="http://127.0.0.1:8000",
    show_default=True,
    metavar="URL",
    help="Where people reach the server, with its root path.",
)
def command(db: str, name: str, address: str) -> None:
    """Make a link that logs in once, as whoever has the token.

    It waits for a week. What it opens stands behind the #, which browsers send to no server.

    \b
    Example:
      cutline serve token link --db labels.db --name ann --address https://example.org/labels
    """
    from cutline.campaign.database.connecting.address import service_address
    from cutline.server.access.tokens import tokens_of

    reached = service_address(address)
    require_output("no link was made, since nobody would see it")
    with tokens_of(db) as tokens:
        click.echo(f"{reached}/login#{tokens.link(name)}")
