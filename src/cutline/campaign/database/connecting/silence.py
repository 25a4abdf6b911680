"""Connections to PostgreSQL that give up a server that says nothing, as one that is frozen while its machine is not."""

import time
from collections.abc import Generator
from typing import Any

import psycopg

MOST = 300.0
"""Seconds for which a server may be silent while it is waited for."""


class SilentServerError(psycopg.OperationalError, TimeoutError):
    """The server has been silent for too long; what fails after it fails because of it."""


class Connection(psycopg.Connection[Any]):
    """A connection that is closed when the server has been silent for too long."""

    def wait(self, gen: Generator[Any, Any, Any], *interval: Any, **options: Any) -> Any:
        """Wait for what psycopg waits for; raise SilentServerError after so much silence."""
        return super().wait(self._limited(gen), *interval, **options)

    def _limited(self, gen: Generator[Any, Any, Any]) -> Generator[Any, Any, Any]:
        """Pass on what psycopg asks to wait for, and what comes: now and then it is told that nothing has."""
        heard = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                came = yield wanted
                now = time.monotonic()
                if came:
                    heard = now
                elif now - heard > MOST:
                    self.pgconn.finish()
                    raise SilentServerError(f"the server has said nothing for {MOST:.0f} s")
                wanted = gen.send(came)
        except StopIteration as end:
            return end.value
