"""A forked call comes to an end, whatever it waits for."""

import os
import signal
import sys

import pytest

from rough import forks

pytestmark = pytest.mark.process


WAITS = {
    "stopped": "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)",
    "lock": "import threading; lock = threading.Lock(); lock.acquire(); lock.acquire()",
    "not at all": "raise SystemExit(7)",
}


def started(wait: str) -> int:
    """Start a process that waits; return its id."""
    words = [sys.executable, "-c", WAITS[wait]]
    return os.posix_spawn(sys.executable, words, os.environ, setsigdef=[signal.SIGTERM])


@pytest.mark.parametrize("wait", ["stopped", "lock"])
def test_a_call_that_stands_still_is_ended(wait: str) -> None:
    assert forks.status_of(started(wait), (signal.SIGKILL, 0.2)) == -signal.SIGKILL


def test_a_call_is_sent_a_signal_at_its_moment_and_else_ends_by_itself() -> None:
    assert forks.status_of(started("lock"), (signal.SIGTERM, 0.1), (signal.SIGKILL, 60)) == -signal.SIGTERM
    assert forks.status_of(started("not at all"), (signal.SIGTERM, 60)) == 7
