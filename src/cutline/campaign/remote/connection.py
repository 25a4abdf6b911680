"""The connection to a server: requests that are tried again where that is safe, and errors as Cutline has them."""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any
from urllib.parse import quote, urlencode

from cutline.campaign.database.connecting.address import Url, service_address
from cutline.errors import (
    AccessError,
    ConflictError,
    CutlineError,
    InvalidInputError,
    MissingDependencyError,
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
_CONNECT, _READ = 10.0, 300.0
"""Seconds until a connection must stand, and until something must arrive."""

_NOBODY = 401
"""What a server answers to somebody who has shown no token that is good."""

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


class Connection:
    """Requests to one server, for any number of threads, and for a child after a fork."""

    def __init__(self, url: Url, token: str | None) -> None:
        """Nothing is sent yet. Raises InvalidInputError for a bad address, or a token that no header can hold."""
        self.address = service_address(url)
        given = os.environ.get(TOKEN) or None if token is None else token
        if given is not None and not (given.isascii() and given.isprintable() and given):
            raise InvalidInputError(f"the token for {self.address} is none: it is letters, digits, _ and -")
        self._headers = {} if given is None else {"Authorization": f"Bearer {given}"}
        self._pool: Any = None
        self._process = 0
        self._patience = FIRST_PATIENCE

    def get(self, path: str, **query: Any) -> Any:
        """Return what the server answers, read from JSON; raise what is wrong as Cutline's errors."""
        return self._read(self._send("GET", path, query))

    def post(self, path: str, body: Any, *, again: bool = True, **query: Any) -> Any:
        """Send JSON, or bytes that are JSON, and return what the server answers; ``again``: it may be sent twice."""
        data = body if isinstance(body, bytes) else json.dumps(body, allow_nan=False).encode()
        return self._read(self._send("POST", path, query, data, again=again))

    def post_file(self, path: str, file: IO[bytes], **query: Any) -> Any:
        """Send what is in a file as it stands, and return what the server answers; it may be sent twice."""
        return self._read(self._send("POST", path, query, file, kind="application/octet-stream"))

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
        import urllib3

        response = self._send("GET", path, query, stream=True)
        is_whole = False
        try:
            yield from response.stream(1 << 16)
            is_whole = True
        except urllib3.exceptions.HTTPError as error:
            raise self._away(error) from None
        finally:
            response.release_conn() if is_whole else response.close()

    def close(self) -> None:
        """Close the connections."""
        if self._pool is not None and self._process == os.getpid():
            self._pool.clear()

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: bytes | IO[bytes] | None = None,
        again: bool = True,
        stream: bool = False,
        kind: str = "application/json",
    ) -> Any:
        import urllib3

        given = urlencode({key: value for key, value in query.items() if value is not None}, quote_via=quote)
        retries = urllib3.Retry(
            total=None,
            connect=self._patience,
            read=self._patience if again else 0,
            other=self._patience if again else 0,
            status=self._patience if again else 0,
            status_forcelist=_AWAY,
            allowed_methods=None,
            redirect=0,
            backoff_factor=_FIRST_WAIT,
            backoff_max=_LONGEST_WAIT,
            backoff_jitter=_FIRST_WAIT,
            respect_retry_after_header=False,
            raise_on_status=False,
            raise_on_redirect=False,
        )
        headers = self._headers | ({} if body is None else {"Content-Type": kind})
        try:
            response = self._connections().request(
                method,
                f"{self.address}/api/v1/{path}?{given}",
                body=body,
                headers=headers,
                retries=retries,
                preload_content=not stream,
            )
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise self._away(error) from None
        self._patience = PATIENCE
        if response.status >= 300:
            raise self._error(response)
        return response

    def _connections(self) -> Any:
        if self._pool is None or self._process != os.getpid():
            try:
                import urllib3
            except ModuleNotFoundError:
                raise MissingDependencyError(
                    "campaigns on a server need urllib3; install it with: pip install 'cutline[server]'"
                ) from None
            timeout = urllib3.Timeout(connect=_CONNECT, read=_READ)
            self._pool = urllib3.PoolManager(maxsize=64, timeout=timeout)
            self._process = os.getpid()
        return self._pool

    def _read(self, response: Any) -> Any:
        try:
            return json.loads(response.data) if response.data else None
        except ValueError:
            raise StoreError(f"{self.address}: what answers there is no Cutline server") from None

    def _error(self, response: Any) -> CutlineError:
        """Return the error for an answer that says what is wrong."""
        try:
            return self.error_of(json.loads(response.data))
        except (ValueError, KeyError, TypeError, AttributeError):
            return StoreError(f"{self.address}: HTTP {response.status}; is this the address of a Cutline server?")

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
        reason: Any = getattr(error, "reason", None) or error
        text = str(reason).rpartition("): ")[2] or type(reason).__name__
        return StoreError(f"{self.address}: the server cannot be reached: {' '.join(text.split())}")
