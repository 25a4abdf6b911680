"""What time it is for the leases of a database: one clock for all who use it, whatever their own clocks say.

On PostgreSQL it is the server's clock. An SQLite file is used on one machine, and its clock is the time since the
machine was started, which all processes share and nobody sets; it runs on while the machine sleeps. The table
cutline_clock says when the present start was, in seconds since 1970, so that times mean the same after a restart. The
wall clock is asked once a start: whatever it says then, time goes on from the latest time that a lease was given at.
"""

import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

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

_NEAR = 1.0
"""Seconds that processes may differ by in what they read of the uptime, and that the latest time may lag behind."""


class Moment(NamedTuple):
    """A time that has been asked for: ``now`` waits for it, ``remember`` writes it down where a lease depends on it."""

    now: Now
    remember: Callable[[], None]


class Clock:
    """Seconds since 1970 by the clock of a database, or by ``given``, a function of tests that returns them."""

    def __init__(self, given: Now | None = None) -> None:
        self._given = given
        self._ahead: float | None = None  # by how much it is ahead of the uptime of this machine

    def ask(self, connection: Connection) -> Moment:
        """Ask for the time in a transaction; in a pipeline the answer has not come yet."""
        if self._given is not None:
            return Moment(self._given, _nothing)
        if connection.dialect.name == "postgresql":
            answer = _ON_SERVER.send(connection)
            return Moment(lambda: float(answer.rows()[0][0]), _nothing)
        return _on_this_machine(connection)

    def stamp(self, connection: Connection) -> Now:
        """Ask for the time of something that is only written down, and on which no lease depends.

        It is that of ``ask``; on this machine the table need not be read for it again and again.
        """
        if self._given is not None or connection.dialect.name == "postgresql":
            return self.ask(connection).now
        if self._ahead is None:
            self._ahead = self.now(connection) - _uptime()
        ahead = self._ahead
        return lambda: ahead + _uptime()

    def now(self, connection: Connection) -> float:
        """Return the time in a transaction."""
        return self.ask(connection).now()


def _on_this_machine(connection: Connection) -> Moment:
    (stored, began, latest), boot, uptime = _STORED.rows(connection)[0], _boot(_PROC), _uptime()
    known = stored == boot and began + uptime > latest - _NEAR
    now = max(began + uptime if known else time.time(), latest)
    if known and now < latest + _NEAR:
        return Moment(lambda: now, _nothing)
    row = (boot, began if known else now - uptime, now)
    return Moment(lambda: now, lambda: _STORE.run(connection, [row]))


def _uptime() -> float:
    """Return the seconds since the machine was started."""
    return _ticks() + _before_ticks(_PROC)


def _ticks() -> float:
    """Return the seconds of a clock that nobody sets and that runs on while the machine sleeps."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if sys.platform == "linux" else time.monotonic()


@cache
def _before_ticks(proc: Path) -> float:
    """Return by how much the kernel's uptime is ahead of the ticks, which a container or a test may have shifted."""
    return float((proc / "uptime").read_text().split()[0]) - _ticks() if sys.platform == "linux" else 0.0


@cache
def _boot(proc: Path) -> str:
    """Return what is the same for all processes until the machine is started again."""
    return (proc / "sys/kernel/random/boot_id").read_text().strip() if sys.platform == "linux" else sys.platform


def _nothing() -> None:
    """Remember nothing."""
