"""Runs the application until it is stopped."""

import multiprocessing
import os
import signal
import socket
import ssl
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from cutline.campaign.database.connecting.address import Url
from cutline.checks import check_whole
from cutline.errors import InvalidInputError, NotFoundError, StoreError
from cutline.server.access.tokens import tokens_of
from cutline.server.app import create_app
from cutline.server.settings import ServerSettings
from cutline.text import quoted

GRACE = 5
"""Seconds that requests under way have when the server is stopped."""

MOST_PROCESSES = 1000
"""More of them than any machine has cores are a slip of the hand."""

SILENCE = 60
"""Seconds that a process may say nothing until another takes its place; on a busy machine it takes some to start."""


class Certificate(NamedTuple):
    """The files of a certificate and of its key."""

    certificate: str
    key: str

    def check(self) -> None:
        """Raise InvalidInputError unless a server can use them."""
        for file in self:
            try:
                Path(file).open("rb").close()
            except OSError as error:
                raise InvalidInputError(
                    f"{quoted(file)}: {error.strerror}; give the files of a certificate and its key"
                ) from None
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(self.certificate, self.key, self._ask_for_password)
        except OSError as error:
            raise InvalidInputError(
                f"{self.certificate} and {self.key} are no certificate and its key, as PEM: {error}"
            ) from None

    def _ask_for_password(self) -> NoReturn:
        raise InvalidInputError(f"{self.key} is encrypted; a server needs it plain: openssl pkey -in KEY -out PLAIN")


def serve(
    settings: ServerSettings,
    host: str,
    port: int,
    ready: Callable[[str], object],
    certificate: Certificate | None = None,
    processes: int = 1,
) -> None:
    """Serve until a signal stops it; ``ready`` is called with the address as soon as the server listens.

    Several ``processes`` listen at one socket, one that dies is replaced, and all end with the one that started them. A
    signal that stops them is raised once more when they have ended.

    The database is made where there is none. Raises InvalidInputError if the address cannot be listened at, if others
    reach it and there is no token, and if the certificate cannot be used; StoreError if the database fails.
    """
    check_whole("processes", processes, 1, MOST_PROCESSES)
    if certificate is not None:
        certificate.check()
    with listen(host, port) as listening:
        if not settings.only_here and not _has_tokens(settings.db):
            raise InvalidInputError(
                f"whoever reaches {host} could do everything, since there is no token; make one with cutline serve "
                "token create, or listen at 127.0.0.1"
            )
        app = create_app(settings)
        scheme = "http" if certificate is None else "https"
        shown = f"[{host}]" if ":" in host else host
        ready(f"{scheme}://{shown}:{listening.getsockname()[1]}{settings.root_path}/")
        _run(app, listening, certificate, processes)


def _has_tokens(db: Url) -> bool:
    """Tell whether any token lets somebody in; a database that is not there has none, and is not made."""
    try:
        with tokens_of(db) as tokens:
            return tokens.are_there()
    except NotFoundError:
        return False


def _run(app: FastAPI, listening: socket.socket, certificate: Certificate | None, processes: int) -> None:
    options: dict[str, Any] = {
        "log_level": "warning",
        "access_log": False,
        "server_header": False,
        "proxy_headers": False,
        "timeout_graceful_shutdown": GRACE,
        "ssl_certfile": None if certificate is None else certificate.certificate,
        "ssl_keyfile": None if certificate is None else certificate.key,
    }
    if processes == 1:
        uvicorn.Server(uvicorn.Config(app, **options)).run(sockets=[listening])
        return
    app.state.campaigns.close()  # each process has connections of its own
    make = partial(_app_of_process, app.state.settings)
    each = uvicorn.Config(make, factory=True, workers=processes, timeout_worker_healthcheck=SILENCE, **options)
    _Processes(each, sockets=[listening]).run()


class _Processes(Multiprocess):
    """Several processes, which SIGINT and SIGTERM end as they end a single one of uvicorn."""

    def __init__(self, config: uvicorn.Config, sockets: list[socket.socket]) -> None:
        self._before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
        self._stopped_by: signal.Signals | None = None
        super().__init__(config, sockets)

    def run(self) -> None:
        """Run until a signal comes, and raise it again; raise StoreError if a process cannot begin to serve."""
        super().run()
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._stopped_by is None:
            raise StoreError("a process ended before it could serve; it has said why")
        signal.raise_signal(self._stopped_by)

    def handle_int(self) -> None:
        """Stop after SIGINT."""
        self._stopped_by = signal.SIGINT
        super().handle_int()

    def handle_term(self) -> None:
        """Stop after SIGTERM."""
        self._stopped_by = signal.SIGTERM
        super().handle_term()


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

    Port 0 is any that is free.

    An answer is sent in parts, and none of them waits until the one before has arrived.
    """
    check_whole("port", port, 0, 65_535)
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except (OSError, UnicodeError) as error:
        reason = str(getattr(error, "strerror", None) or error).partition(" (while attempting")[0]
        raise InvalidInputError(f"cannot listen at {host}, port {port}: {reason}") from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
