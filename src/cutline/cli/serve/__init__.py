"""cutline serve: campaigns over HTTP."""

from typing import Any

import click

from cutline.cli._campaigns import wording_options
from cutline.cli._groups import Folder
from cutline.cli._streams import require_output, say
from cutline.errors import InvalidInputError


@click.group(name="serve", cls=Folder, package=__name__, invoke_without_command=True)
@click.option("--db", metavar="URL", help="The database; an SQLite file is made where there is none.")
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS", help="Where to listen.")
@click.option("--port", type=int, default=8000, show_default=True, metavar="N", help="The port; 0: any that is free.")
@click.option("--root-path", default="", metavar="/PATH", help="What a proxy has put before the paths, as in /labels.")
@click.option(
    "--forwarded-allow-ips",
    "trusted",
    default="127.0.0.1,::1",
    show_default=True,
    metavar="IPS",
    help="The addresses of proxies whose X-Forwarded-Proto and --worker-header are believed.",
)
@click.option("--worker-header", metavar="NAME", help="The header with the name of whom the proxy has logged in.")
@wording_options
@click.option("--media", metavar="FOLDER", help="Show pictures and sounds of this folder, and of nowhere else here.")
@click.option("--processes", type=int, default=1, show_default=True, metavar="N", help="How many processes serve.")
@click.option("--ssl-certfile", metavar="FILE", help="Serve by https, with this certificate.")
@click.option("--ssl-keyfile", metavar="FILE", help="The key of the certificate.")
@click.pass_context
def command(  # noqa: PLR0913 - one parameter an option
    context: click.Context,
    /,
    db: str | None,
    host: str,
    port: int,
    root_path: str,
    trusted: str,
    worker_header: str | None,
    processes: int,
    ssl_certfile: str | None,
    ssl_keyfile: str | None,
    **labelling: Any,
) -> None:
    """Serve the campaigns of a database over HTTP, until Ctrl-C.

    The address goes to standard output as soon as the server listens. On this machine no token is needed as long as
    there is none; to listen at another address, make one first: see cutline serve token. The words of the page to label
    on are for campaigns that have none of their own: see cutline campaign change.

    \b
    Examples:
      cutline serve --db labels.db
      cutline serve --db labels.db --question "Is it a bird?" --labels "not a bird,bird" --media pictures
      cutline serve --db labels.db --host 0.0.0.0 --ssl-certfile cert.pem --ssl-keyfile key.pem
    """
    from cutline.campaign.database.connecting.address import label
    from cutline.server.labelling import labelling_of
    from cutline.server.serving import Certificate, serve
    from cutline.server.settings import ServerSettings, is_loopback, parse_networks

    if context.invoked_subcommand is not None:
        return
    if db is None:
        raise InvalidInputError("--db is missing: which campaigns are to be served")
    if (ssl_certfile is None) != (ssl_keyfile is None):
        raise InvalidInputError("--ssl-certfile and --ssl-keyfile go together; give both, or none")
    require_output("nothing is served, since nobody would see the address")
    settings = ServerSettings(
        db, is_loopback(host), root_path, worker_header, parse_networks(trusted), labelling=labelling_of(**labelling)
    )
    certificate = (
        Certificate(ssl_certfile, ssl_keyfile) if ssl_certfile is not None and ssl_keyfile is not None else None
    )

    def tell(address: str) -> None:
        say(f"serving the campaigns of {label(db)}; Ctrl-C stops it")
        click.echo(address)

    serve(settings, host, port, tell, certificate, processes)
