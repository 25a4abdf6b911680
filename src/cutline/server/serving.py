"""Runs the application until it is stopped."""

import multiprocessing
import os
import signal
import socket
import threading
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from cutline.checks import check_whole
from cutline.errors import InvalidInputError
from cutline.server.app import create_app
from cutline.server.settings import ServerSettings

GRACE = 5
"""Seconds that requests under way have when the server is stopped."""


SILENCE = 60
"""Seconds that a process may say nothing until another takes its place; on a busy machine it takes some to start."""


class Certificate(NamedTuple):
    """The files of a certificate and of its key."""

    certificate: str
    key: str


def serve(
    settings: ServerSettings,
    host: str,
    port: int,
    ready: Callable[[str], object],
    certificate: Certificate | None = None,
    processes: int = 1,
) -> None:
    """Serve until a signal stops it; ``ready`` is called with the address as soon as the server listens.

    Several ``processes`` listen at one socket, one that dies is replaced, and all end with the one that started them.

    The database is made where there is none. Raises InvalidInputError if the address cannot be listened at, if others
    reach it and there is no token, and if the certificate cannot be used; StoreError if the database fails.
    """
    check_whole("processes", processes, 1)
    app = create_app(settings)
    if not settings.only_here and not app.state.tokens.are_there():
        raise InvalidInputError(
            f"whoever reaches {host} could do everything, since there is no token; make one with cutline serve token "
            "create, or listen at 127.0.0.1"
        )
    listening = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    options: dict[str, Any] = {
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": GRACE,
        "ssl_certfile": None if certificate is None else certificate.certificate,
        "ssl_keyfile": None if certificate is None else certificate.key,
    }
    config = uvicorn.Config(app, **options)
    try:
        config.load()
    except OSError as error:
        raise InvalidInputError(f"the certificate or its key cannot be used: {error}") from None
    scheme = "http" if certificate is None else "https"
    ready(f"{scheme}://{shown}:{listening.getsockname()[1]}{settings.root_path}/")
    with listening:
        if processes == 1:
            uvicorn.Server(config).run(sockets=[listening])
            return
        app.state.campaigns.close()  # each process has connections of its own
        make = partial(_app_of_process, settings)
        each = uvicorn.Config(make, factory=True, workers=processes, timeout_worker_healthcheck=SILENCE, **options)
        Multiprocess(each, sockets=[listening]).run()


def _app_of_process(settings: ServerSettings) -> FastAPI:
    """Return the application of one of several processes."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    return create_app(settings)


def _end_with_parent() -> None:
    """Have this process stop as by a signal as soon as its parent is no more, whatever has ended it."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os.kill(os.getpid(), signal.SIGTERM)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise InvalidInputError if there can be none.

    An answer is sent in parts, and none of them waits until the one before has arrived.
    """
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"cannot listen at {host}, port {port}: {reason}") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
