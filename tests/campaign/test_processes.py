"""Commands and what they have started, when their runner is killed or has done."""

import gc
import os
import signal
import subprocess
import sys
from pathlib import Path

from cutline.campaign import Command, Pull
from surroundings import is_running, wait_for


def pull(arm: str) -> Pull:
    return Pull("x-1", arm, None, None, 0.0)


RUNNER = """
import sys
from cutline.campaign import Command, Pull
Command(sys.argv[1:])(Pull("x-1", "a", None, None, 0.0))
"""

CHILDREN = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.fork()
print(os.getpid(), file=open(sys.argv[1], "a"), flush=True)
time.sleep(60)
"""


def test_the_children_of_a_killed_runner_end_with_all_that_they_have_started(tmp_path: Path) -> None:
    """Even if they do not care for SIGTERM, and the whole process group of the runner was killed."""
    started = tmp_path / "started"
    command = [sys.executable, "-S", "-E", "-c", CHILDREN, str(started), "{arm}"]
    runner = subprocess.Popen([sys.executable, "-c", RUNNER, *command], start_new_session=True)
    try:
        wait_for(lambda: started.exists() and started.read_text().count("\n") == 2)
    finally:
        os.killpg(runner.pid, signal.SIGKILL)
        runner.wait()
    children = [int(line) for line in started.read_text().split()]
    wait_for(lambda: not any(is_running(child) for child in children))


def test_no_process_is_left_where_commands_have_ended() -> None:
    command = Command(["true", "{arm}"])
    command(pull("a"))
    guard = command._processes._guard
    assert guard is not None
    assert guard.poll() is None
    del command
    gc.collect()
    assert guard.returncode == 0


def test_a_command_runs_without_the_guard_that_somebody_has_killed() -> None:
    command = Command(["true", "{arm}"])
    assert command(pull("a")) == 1.0
    guard = command._processes._guard
    assert guard is not None
    guard.kill()
    guard.wait()
    assert command(pull("a")) == 1.0
