"""Runs the application until it is stopped."""

import socket
from collections.abc import Callable

import uvicorn

from cutline.campaign.database.store import Store
from cutline.errors import InvalidInputError
from cutline.server.app import create_app
from cutline.server.settings import ServerSettings

GRACE = 5
"""Seconds that requests under way have when the server is stopped."""


def serve(settings: ServerSettings, host: str, port: int, ready: Callable[[str], object]) -> None:
    """Serve until a signal stops it; ``ready`` is called with the address as soon as the server listens.

    The database is made where there is none. Raises InvalidInputError if the address cannot be listened at, StoreError
    if the database fails.
    """
    with Store.connect(settings.db, create=True) as store:
        store.write(lambda connection: None)  # makes the tables
    listening = _listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        create_app(settings),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
    )
    ready(f"http://{shown}:{listening.getsockname()[1]}{settings.root_path}/")
    with listening:
        uvicorn.Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise InvalidInputError if there can be none."""
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"cannot listen at {host}, port {port}: {reason}") from None
