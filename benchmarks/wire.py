"""HTTP as bytes over a socket: a load that takes next to nothing of the machine that it is to measure."""

import asyncio
import json
from typing import Any
from urllib.parse import quote, urlsplit


class Wire:
    """One connection to the API of a server, which is kept; ``name`` is that of the campaign."""

    def __init__(self, address: str, name: str) -> None:
        self._host, self._port = urlsplit(address).hostname, urlsplit(address).port
        self._query = f"?campaign={quote(name)}"
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def post(self, path: str, body: Any) -> Any:
        """Send JSON and return what is answered."""
        if self._writer is None:
            self._reader, self._writer = await asyncio.open_connection(self._host, self._port)
        sent = json.dumps(body).encode()
        head = (
            f"POST /api/v1/{path}{self._query} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(sent)}\r\n\r\n"
        )
        self._writer.write(head.encode() + sent)
        assert self._reader is not None
        first, *lines = (await self._reader.readuntil(b"\r\n\r\n")).lower().split(b"\r\n")
        length = next(int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        answer = await self._reader.readexactly(length)
        assert first.startswith(b"http/1.1 2"), answer
        return json.loads(answer)

    async def ask(self, n: int, worker: str | None = None) -> list[str]:
        """Return the ids of pulls."""
        return [pull["id"] for pull in (await self.post("ask", {"n": n, "worker": worker}))["pulls"]]

    def close(self) -> None:
        """Close the connection."""
        if self._writer is not None:
            self._writer.close()
