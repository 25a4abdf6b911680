"""What time it is for the leases of a database: one clock for all who use it, whatever their own clocks say.

On PostgreSQL it is the server's clock. An SQLite file is used on one machine, and its clock is the time since the
machine was started, which all processes share and nobody sets; it runs on while the machine sleeps. The table
cutline_clock says when the present start was, in seconds since 1970, so that times mean the same after a restart. The
wall clock is asked once a start: whatever it says then, time goes on from the latest time that a lease was given at.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from sqlalchemy import Connection, Double, bindparam, cast, func, select, update

from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.schema import clock

Now: TypeAlias = Callable[[], float]

_ON_SERVER = Prepared(select(cast(func.extract("epoch", func.clock_timestamp()), Double)))
_STORED = Prepared(select(clock.c.boot, clock.c.began, clock.c.latest))
_STORE = Prepared(
    update(clock).values(boot=bindparam("new_boot"), began=bindparam("new_began"), latest=bindparam("new_latest")),
    ("new_boot", "new_began", "new_latest"),
)

_PROC = Path("/proc")


class Clock:
    """Seconds since 1970 by the clock of a database, or by ``given``, a function of tests that returns them."""

    def __init__(self, given: Now | None = None) -> None:
        self._given = given

    def ask(self, connection: Connection) -> Now:
        """Ask for the time in a transaction, and return what waits for the answer, which in a pipeline comes later."""
        if self._given is not None:
            return self._given
        if connection.dialect.name == "postgresql":
            answer = _ON_SERVER.send(connection)
            return lambda: float(answer.rows()[0][0])
        _, _, now = _of_this_machine(connection)
        return lambda: now

    def now(self, connection: Connection) -> float:
        """Return the time in a transaction."""
        return self.ask(connection)()

    def remember(self, connection: Connection) -> None:
        """Have a transaction that gives leases take note of the time, so that it never goes back behind it."""
        if self._given is None and connection.dialect.name == "sqlite":
            _STORE.run(connection, [_of_this_machine(connection)])


def _of_this_machine(connection: Connection) -> tuple[str, float, float]:
    """Return which start of the machine this is, when that was, and the time."""
    (stored_boot, began, latest), boot, uptime = _STORED.rows(connection)[0], _boot(), _uptime()
    if boot == stored_boot and began + uptime >= latest:
        return boot, began, began + uptime
    now = max(time.time(), latest)
    return boot, now - uptime, now


def _uptime() -> float:
    """Return the seconds since the machine was started."""
    if sys.platform == "linux":
        return float((_PROC / "uptime").read_text().split()[0])
    return time.monotonic()


def _boot() -> str:
    """Return what is the same for all processes until the machine is started again."""
    if sys.platform == "linux":
        return (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    return sys.platform
