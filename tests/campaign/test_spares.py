"""Commands that are started before there is a batch for them."""

import os
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from cutline.campaign import BatchCommand, Pull
from cutline.campaign.running.outcomes import BatchResult
from surroundings import wait_for

pytestmark = pytest.mark.process

PROGRAM = """
import os, pathlib, sys
folder = pathlib.Path(os.environ["TRIAL_FOLDER"])
(folder / "ready").touch()
with open(int(os.environ["TRIAL_GATE"]), "rb") as gate:
    if not gate.read(1):
        open(os.environ["TRIAL_ENDED"], "a").write("ended")
        sys.exit()
report, *arms = (folder / "told").read_text().split()
with open(report, "a") as file:
    for arm in arms:
        print('{"arm": "%s", "reward": 1, "note": "%d"}' % (arm, os.getpid()), file=file)
"""


class Told:
    """Instructions by a file of words; ``ended`` is written to by commands that end without any."""

    def __init__(self, ahead: int, ended: Path) -> None:
        self.ahead = ahead
        self._ended = ended

    def environment(self, folder: Path, gate: int) -> Mapping[str, str]:
        return {"TRIAL_FOLDER": str(folder), "TRIAL_GATE": str(gate), "TRIAL_ENDED": str(self._ended)}

    def write(self, arms: Sequence[str], folder: Path, report: Path) -> None:
        (folder / "told").write_text(" ".join([str(report), *arms]))


Make = Callable[..., BatchCommand]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Make a command that keeps some of its like ready; what it writes is in a folder ``places``."""
    (tmp_path / "places").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "places"))

    def make(ahead: int, program: str = PROGRAM) -> BatchCommand:
        words = [sys.executable, "-S", "-E", "-c", program]
        return BatchCommand(words, report="jsonl", instructions=Told(ahead, tmp_path / "ended"))

    return make


def measured(command: BatchCommand, arms: str = "ab") -> BatchResult:
    return command([Pull(f"x-{place}", arm, None, None, 0.0) for place, arm in enumerate(arms)])


def started(command: BatchCommand) -> int:
    return len(command._processes._started)


def await_ready(command: BatchCommand) -> None:
    """Wait until what was started ahead is at its gate."""
    assert command._spares is not None
    folder = command._spares._spares[0].place.folder
    wait_for((folder / "ready").exists)


def test_every_batch_has_a_process_of_its_own_and_the_next_are_started_ahead_of_theirs(make: Make) -> None:
    command = make(2)
    results, ready = [], []
    for _ in range(4):
        results.append(measured(command))
        ready.append(started(command))
    command.stop()
    assert [result.rewards for result in results] == [{"a": 1.0, "b": 1.0}] * 4
    assert len({note for result in results for note in result.notes.values()}) == 4
    assert ready == [1, 1, 1, 1]  # one is taken, one is started


def test_the_time_that_a_command_took_to_be_ready_is_told(make: Make) -> None:
    command = make(1, PROGRAM.replace("import os", "import time; time.sleep(0.3); import os", 1))
    measured(command)
    await_ready(command)
    time.sleep(0.3)  # what it waits at its gate does not count
    assert 0.3 <= measured(command).ahead < 10.0
    command.stop()


def test_what_was_started_ahead_ends_by_itself_when_all_is_stopped_and_leaves_no_file(
    make: Make, tmp_path: Path
) -> None:
    command = make(1)
    measured(command)
    await_ready(command)
    command.stop()
    assert started(command) == 0
    assert (tmp_path / "ended").read_text() == "ended"
    assert list((tmp_path / "places").iterdir()) == []
    measured(command)
    assert started(command) == 0  # nothing is started ahead any more


def test_no_more_are_started_ahead_than_batches_to_come(make: Make) -> None:
    command = make(2)
    command.expect(0)
    measured(command)
    assert started(command) == 0
    command.expect(1)
    measured(command)
    assert started(command) == 1
    command.stop()


def test_one_that_has_died_before_its_batch_is_the_fault_of_no_arm(make: Make) -> None:
    command = make(1)
    measured(command)
    (spare,) = command._processes._started
    os.kill(spare.pid, signal.SIGKILL)
    result = measured(command)
    assert result.death is not None
    assert result.death.text.startswith("killed by signal 9")
    assert (result.rewards, list(result.suspects)) == ({}, [])
    command.stop()


def test_the_end_of_a_command_is_seen_without_descriptors_of_processes(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("os.pidfd_open", raising=False)
    assert measured(make(0)).rewards == {"a": 1.0, "b": 1.0}
