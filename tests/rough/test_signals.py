"""Every command stopped by a signal at a random moment: it ends at once and quietly, and leaves nothing half-done."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import surroundings
from rough.calls import Template, files_in, in_flight
from rough.commands import ENDED_WELL, GOOD, Command, commands, filled

STOPPED = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM, signal.SIGPIPE: None}
"""The exit status of a command that a signal has stopped; Python ignores SIGPIPE."""
TIMES = 20
COMMANDS = list(commands())

BEGIN = "import os; from cutline.__main__ import main; os.write(int(os.environ['BEGUN']), b'.'); main()"

Start = Callable[..., "subprocess.Popen[Any]"]


class Case(NamedTuple):
    """A command, a signal, and the share of its time after which it comes."""

    command: Command
    number: signal.Signals
    moment: float

    def __str__(self) -> str:
        return f"{self.command.name}, {self.number.name} at {self.moment:.3f}"


_DRAW = random.Random(3)
CASES = [Case(command, number, _DRAW.random()) for command in COMMANDS for number in STOPPED for _ in range(TIMES)]


def begun(start: Start, words: list[str], folder: Path) -> "subprocess.Popen[Any]":
    """Start a command; return when its own code begins to run."""
    reader, writer = os.pipe()
    process = start(
        [sys.executable, "-c", BEGIN, *words],
        cwd=folder,
        env={**os.environ, "BEGUN": str(writer)},
        pass_fds=[writer],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(writer)
    os.read(reader, 1)
    os.close(reader)
    return process


def seconds(start: Start, command: Command, template: Template, where: Path) -> float:
    """How long the command takes when nothing stops it."""
    process = begun(start, command.words(filled(GOOD[command.name], template.pulls)), template.copied(where))
    before = time.monotonic()
    process.communicate(timeout=surroundings.PATIENCE)
    return time.monotonic() - before


def found(start: Start, case: Case, lasts: float, template: Template, folder: Path) -> list[str]:
    """Stop the command in a copy of the template; return what must not have come of it."""
    name = case.command.name
    template.copied(folder)
    process = begun(start, case.command.words(filled(GOOD[name], template.pulls)), folder)
    time.sleep(case.moment * lasts)
    process.send_signal(case.number)
    out, talk = (text.decode() for text in process.communicate(timeout=surroundings.PATIENCE))
    every: list[str] = []
    if "Traceback" in talk or "Exception ignored" in talk:
        every.append(f"a traceback: {talk}")
    if process.returncode not in ENDED_WELL.get(name, {0}) | {STOPPED[case.number]}:
        every.append(f"exit status {process.returncode}: {talk[-300:]!r}")
    left = {file for file in files_in(folder) - files_in(template.folder) if file.startswith(".")}
    if left and case.number is not signal.SIGTERM:
        every.append(f"files left behind: {left}")
    if name != "campaign delete":
        leased = in_flight(folder) - 1
        if leased != (len(out.splitlines()) if name == "campaign ask" else 0) and case.number is not signal.SIGTERM:
            every.append(f"{leased} leased by {name}, which printed {out!r}")
    return every


@pytest.mark.process
def test_some_moments(template: Template, start_process: Start, tmp_path: Path) -> None:
    quick = [case for case in CASES if case.command.name in ("campaign ask", "import", "policies")]
    for place, case in enumerate(random.Random(4).sample(quick, 6)):
        assert found(start_process, case, 0.5, template, tmp_path / str(place)) == [], str(case)


@pytest.mark.rough
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_moment(command: Command, template: Template, start_process: Start, tmp_path: Path) -> None:
    lasts = seconds(start_process, command, template, tmp_path / "whole")
    every = {
        str(case): found(start_process, case, lasts, template, tmp_path / str(place))
        for place, case in enumerate(case for case in CASES if case.command == command)
    }
    assert {name: texts for name, texts in every.items() if texts} == {}
