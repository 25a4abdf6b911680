"""The connection to a server: requests that are tried again where that is safe, and errors as Cutline has them."""

import http.client
import json
import os
import random
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from cutline.campaign.database.connecting.address import Url, service_address
from cutline.campaign.remote.wires import Body, Wire, Wires
from cutline.errors import (
    AccessError,
    ConflictError,
    CutlineError,
    InvalidInputError,
    NotFoundError,
    StoreError,
)

TOKEN = "CUTLINE_TOKEN"
"""The environment variable that holds the token for a server, where none is given."""

PATIENCE = 16
"""How often a request is tried again, after waits that grow to five seconds: for about a minute in all."""

FIRST_PATIENCE = 5
"""The same of the first request of a connection: a wrong address should not take long."""

_LONGEST_WAIT = 5.0
_FIRST_WAIT = 0.1
LARGEST_BODY = 64 * 2**20
"""A server refuses a body of more bytes."""

_NOBODY = 401
"""What a server answers to somebody who has shown no token that is good."""

_JSON = {"Content-Type": "application/json"}

_AWAY = (502, 504)
"""What a proxy answers while the server behind it is away."""

_ERRORS: Mapping[str, Callable[[str], CutlineError]] = {
    kind.__name__: kind for kind in (ConflictError, InvalidInputError, NotFoundError, StoreError)
}
_BY_STATUS: Mapping[int, Callable[[str], CutlineError]] = {
    401: AccessError,
    403: AccessError,
    404: NotFoundError,
    413: InvalidInputError,
    422: InvalidInputError,
}


class _Answer(NamedTuple):
    """What a server answers by a connection; ``data`` is None while it is still to be read from ``response``."""

    response: http.client.HTTPResponse
    wire: Wire
    data: bytes | None


class Connection:
    """Requests to one server, for any number of threads, and for a child after a fork."""

    def __init__(self, url: Url, token: str | None) -> None:
        """Nothing is sent yet. Raises InvalidInputError for a bad address, or a token that no header can hold."""
        self.address = service_address(url)
        given = os.environ.get(TOKEN) or None if token is None else token
        if given is not None and not (given.isascii() and given.isprintable() and given):
            raise InvalidInputError(f"the token for {self.address} is none: it is letters, digits, _ and -")
        self._headers = {} if given is None else {"Authorization": f"Bearer {given}"}
        self._wires = Wires(self.address)
        self._patience = FIRST_PATIENCE

    def get(self, path: str, **query: Any) -> Any:
        """Return what the server answers, read from JSON; raise what is wrong as Cutline's errors."""
        return self._read(self._send("GET", path, query))

    def post(self, path: str, body: Any, *, again: bool = True, **query: Any) -> Any:
        """Send JSON, or bytes that are JSON, and return what the server answers; ``again``: it may be sent twice."""
        data = body if isinstance(body, bytes) else json.dumps(body, allow_nan=False).encode()
        return self._read(self._send("POST", path, query, data, again=again))

    def post_file(self, path: str, file: Body, **query: Any) -> Any:
        """Send what is in a file as it stands, and return what the server answers; it may be sent twice."""
        kind = {"Content-Type": "application/octet-stream", "Content-Length": str(_size_of(file))}
        return self._read(self._send("POST", path, query, file, headers=kind))

    def delete(self, path: str, **query: Any) -> None:
        """Send a DELETE."""
        self._read(self._send("DELETE", path, query, again=False))

    def lines(self, path: str, **query: Any) -> Iterator[Any]:
        """Yield the lines of an answer in JSON Lines; raise StoreError if it is cut off."""
        rest = b""
        for piece in self.pieces(path, **query):
            *whole, rest = (rest + piece).split(b"\n")
            yield from map(json.loads, whole)

    def pieces(self, path: str, **query: Any) -> Iterator[bytes]:
        """Yield the pieces of an answer that is long; raise StoreError if it is cut off."""
        response, wire, _ = self._send("GET", path, query, stream=True)
        try:
            while piece := response.read1(1 << 16):
                yield piece
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from None
        finally:
            self._wires.give(wire, response)

    def close(self) -> None:
        """Close the connections."""
        self._wires.close()

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: bytes | Body | None = None,
        again: bool = True,
        stream: bool = False,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> _Answer:
        """Send a request until there is an answer, and return it; raise what is wrong as Cutline's errors.

        What must not be sent twice goes by a connection of its own, which no server has ended meanwhile.
        """
        if body is not None and _size_of(body) > LARGEST_BODY:
            raise InvalidInputError(
                f"{self.address}: {_size_of(body):,} bytes were to be sent, and a server takes at most "
                f"{LARGEST_BODY:,} at once; send less at a time, or do it where the database is"
            )
        given = urlencode({key: value for key, value in query.items() if value is not None}, quote_via=quote)
        target = f"{self._wires.path}/api/v1/{path}?{given}"
        headers = {**self._headers, **({} if body is None else _JSON), **headers}
        pauses = _pauses(self._patience)
        while True:
            wire, is_sent = self._wires.take(new=not again), False
            try:
                if wire.sock is None:
                    wire.connect()
                is_sent = True
                response = wire.exchange(method, target, body, headers)
                answer = _Answer(response, wire, None if stream and response.status < 300 else response.read())
            except (OSError, http.client.HTTPException) as error:
                wire.close()
                self._wires.close()  # if this one has ended, so may the others have
                if (again or not is_sent) and not isinstance(error, ssl.SSLCertVerificationError) and _pause(pauses):
                    continue
                raise self._away(error) from None
            if answer.data is not None:
                self._wires.give(wire, response)
            if not (again and response.status in _AWAY and _pause(pauses)):
                break
        self._patience = PATIENCE
        if response.status >= 300:
            raise self._error(response.status, answer.data or b"")
        return answer

    def _read(self, answer: _Answer) -> Any:
        try:
            return json.loads(answer.data) if answer.data else None
        except ValueError:
            raise StoreError(f"{self.address}: what answers there is no Cutline server") from None

    def _error(self, status: int, data: bytes) -> CutlineError:
        """Return the error for an answer that says what is wrong."""
        try:
            return self.error_of(json.loads(data))
        except (ValueError, KeyError, TypeError, AttributeError):
            return StoreError(f"{self.address}: HTTP {status}; is this the address of a Cutline server?")

    def error_of(self, problem: Mapping[str, Any]) -> CutlineError:
        """Return the error for a problem that the server tells; raise KeyError and others if it is none."""
        detail, status = str(problem["detail"]), problem["status"]
        kind = _ERRORS.get(problem.get("error", "")) or _BY_STATUS.get(status, StoreError)
        if kind is not AccessError:
            return kind(detail)
        if status == _NOBODY and not self._headers:
            detail = f"a token is needed; give it in the environment, as {TOKEN}"
        return kind(f"{self.address}: {detail}")

    def _away(self, error: BaseException) -> StoreError:
        """Return the error for a server that cannot be reached, in one line."""
        text = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return StoreError(f"{self.address}: the server cannot be reached: {' '.join(text.split())}")


def _size_of(body: bytes | Body) -> int:
    return len(body) if isinstance(body, bytes) else body.seek(0, os.SEEK_END)


def _pauses(times: int) -> Iterator[float]:
    """Yield the seconds to wait before each of so many more attempts; they grow, and differ between clients."""
    for number in range(times):
        yield 0.0 if number == 0 else min(_FIRST_WAIT * 2**number, _LONGEST_WAIT) + random.uniform(0.0, _FIRST_WAIT)


def _pause(pauses: Iterator[float]) -> bool:
    """Wait, if there is to be another attempt; return whether there is."""
    pause = next(pauses, None)
    if pause:
        time.sleep(pause)
    return pause is not None
