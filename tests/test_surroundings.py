"""Tests may be started by anything: in the background, say, where SIGINT is ignored."""

import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from surroundings import PATIENCE, STOPPERS, default_signals, processes

pytestmark = pytest.mark.process


@pytest.fixture
def in_the_background() -> Iterator[None]:
    """Ignore what asks a program to stop, as shells do for what they start in the background."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in STOPPERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("in_the_background")
def test_a_process_started_by_a_test_can_be_stopped_by_every_signal() -> None:
    for number in STOPPERS:
        with processes() as start:
            command = [sys.executable, "-S", "-c", "import time; print(flush=True); time.sleep(60)"]
            process = start(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            assert process.stdout is not None
            assert process.stdout.readline() == b"\n"
            process.send_signal(number)
            assert process.wait(timeout=PATIENCE) == -number


@pytest.mark.usefixtures("in_the_background")
def test_signals_are_at_their_defaults_for_as_long_as_asked_and_then_as_before() -> None:
    with pytest.raises(KeyboardInterrupt), default_signals():
        signal.raise_signal(signal.SIGINT)
    assert [signal.getsignal(number) for number in STOPPERS] == [signal.SIG_IGN] * 3


def test_no_process_and_no_pipe_outlives_a_test_that_fails() -> None:
    def fail() -> None:
        with processes() as start:
            command = [sys.executable, "-S", "-c", "import time; time.sleep(60)"]
            left.append(start(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
            left[0].communicate(timeout=0.01)

    left: list[subprocess.Popen[bytes]] = []
    with pytest.raises(subprocess.TimeoutExpired):
        fail()
    assert left[0].returncode == -signal.SIGKILL
    assert [pipe.closed for pipe in (left[0].stdin, left[0].stdout, left[0].stderr) if pipe] == [True] * 3
