"""cutline serve: campaigns over HTTP."""

import click

from cutline.cli._groups import Group
from cutline.cli._streams import require_output, say
from cutline.errors import InvalidInputError


@click.group(name="serve", cls=Group, invoke_without_command=True)
@click.option("--db", metavar="URL", help="The database; an SQLite file is made where there is none.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=int, default=8000, show_default=True, metavar="N", help="The port; 0: any that is free.")
@click.option("--root-path", default="", metavar="/PATH", help="What a proxy has put before the paths, as in /labels.")
def command(db: str | None, host: str, port: int, root_path: str) -> None:
    """Serve the campaigns of a database over HTTP, until Ctrl-C.

    The address goes to standard output as soon as the server listens.

    \b
    Example:
      cutline serve --db labels.db
    """
    from cutline.campaign.database.address import label
    from cutline.server.serving import serve
    from cutline.server.settings import ServerSettings, is_loopback

    if db is None:
        raise InvalidInputError("--db is missing: which campaigns are to be served")
    require_output("nothing is served, since nobody would see the address")
    say(f"serving the campaigns of {label(db)}; Ctrl-C stops it")
    serve(ServerSettings(db, is_loopback(host), root_path), host, port, click.echo)
