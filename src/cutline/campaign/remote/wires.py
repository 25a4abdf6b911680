"""Connections to a server by HTTP, kept for the next request; a request goes out in one piece."""

import http.client
import os
import ssl
import time
from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol
from urllib.parse import quote, urlsplit

_CONNECT, _READ = 10.0, 300.0
"""Seconds until a connection must stand, and until something must arrive."""

_FRESH = 4.0
"""Seconds for which a connection that nobody uses is good: servers end them, uvicorn after five."""


class Body(Protocol):
    """A file that is sent."""

    def read(self, size: int = -1, /) -> bytes:
        """Return the next bytes."""
        ...

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place."""
        ...


class Wire(http.client.HTTPConnection):
    """A connection, for one request after the other."""

    used = 0.0
    _held: list[bytes] | None = None

    def connect(self) -> None:
        """Connect, and then have more patience."""
        super().connect()
        self.sock.settimeout(_READ)

    def exchange(
        self, method: str, target: str, body: bytes | Body | None, headers: Mapping[str, str]
    ) -> http.client.HTTPResponse:
        """Send a request and return the answer, of which the head has come."""
        if body is None or isinstance(body, bytes):
            self._held = []
            self.request(method, target, body, headers)
            whole, self._held = b"".join(self._held), None
            self.send(whole)
        else:
            body.seek(0)
            self.request(method, target, body, headers)
        return self.getresponse()

    def send(self, data: Any) -> None:
        """Send a piece of a request, or keep it until there is all of it."""
        if self._held is None:
            super().send(data)
        else:
            self._held.append(data)


class SecureWire(Wire, http.client.HTTPSConnection):
    """The same with TLS."""


class Wires:
    """The connections to the server at an address, for any number of threads, and for a child after a fork."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.path = quote(parts.path, safe="/%:@!$&'()*+,;=~")
        where = str(parts.hostname), parts.port
        self._make: partial[Wire] = partial(Wire, *where, timeout=_CONNECT)
        if parts.scheme == "https":
            self._make = partial(SecureWire, *where, timeout=_CONNECT, context=ssl.create_default_context())
        self._idle: list[Wire] = []
        self._process = os.getpid()

    def take(self, new: bool = False) -> Wire:
        """Return a connection, ``new`` or one that was used before; it may have to be connected yet."""
        if self._process != os.getpid():
            self._idle, self._process = [], os.getpid()
        while self._idle and not new:
            wire = self._idle.pop()
            if time.monotonic() - wire.used < _FRESH:
                return wire
            wire.close()
        return self._make()

    def give(self, wire: Wire, response: http.client.HTTPResponse) -> None:
        """Take a connection back whose answer has been read."""
        if response.will_close or not response.isclosed():
            wire.close()
            return
        wire.used = time.monotonic()
        self._idle.append(wire)

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._process == os.getpid() and self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        self.close()
