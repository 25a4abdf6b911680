"""cutline serve token create: let somebody in."""

import click

from cutline.cli._campaigns import db_option
from cutline.cli._streams import require_output


@click.command(name="create")
@db_option
@click.option("--name", required=True, metavar="NAME", help="What the token is called; a labeller's name as worker.")
@click.option(
    "--role",
    type=click.Choice(["owner", "labeller", "viewer"]),
    required=True,
    help="owner: everything. labeller: asks and tells on one campaign. viewer: reads.",
)
@click.option("--campaign", metavar="NAME", help="The campaign that it is for; needed for a labeller.")
@click.option("--days", type=float, metavar="N", help="It ends after so many days; default: never.")
def command(db: str, name: str, role: str, campaign: str | None, days: float | None) -> None:
    """Make a token and print it; it cannot be shown again.

    \b
    Examples:
      cutline serve token create --db labels.db --name me --role owner
      cutline serve token create --db labels.db --name ann --role labeller --campaign birds --days 30
    """
    from cutline.server.access.tokens import tokens_of

    require_output("no token was made, since nobody would see it")
    with tokens_of(db) as tokens:
        click.echo(tokens.create(name, role, campaign, days))
