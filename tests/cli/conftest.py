"""Running the command line: within the test, or as a process of its own."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cutline.cli import main


@dataclass(frozen=True)
class Outcome:
    """What a command left behind: exit status, standard output and standard error."""

    status: int
    out: str
    err: str


@pytest.fixture
def cutline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Run ``cutline ARGUMENTS`` in this process."""

    def run(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["cutline", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        captured = capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return Outcome(stopped.value.code, captured.out, captured.err)

    return run


@pytest.fixture
def start(start_process: Callable[..., "subprocess.Popen[bytes]"]) -> Callable[..., "subprocess.Popen[bytes]"]:
    """Start ``cutline ARGUMENTS`` as a process with pipes for its output."""

    def run(*arguments: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-m", "cutline", *map(str, arguments)]
        return start_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return run


@pytest.fixture
def start_begun(
    begun_commands: Path, start_process: Callable[..., "subprocess.Popen[bytes]"]
) -> Callable[..., "subprocess.Popen[bytes]"]:
    """The same, of processes that have begun already."""

    def run(*arguments: object) -> "subprocess.Popen[bytes]":
        command = [str(begun_commands / "cutline"), *map(str, arguments)]
        return start_process(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return run
