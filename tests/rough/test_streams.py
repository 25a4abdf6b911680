"""Every command where a standard stream is closed, full, without a reader, or not UTF-8."""

import os
import random
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import surroundings
from rough.calls import Template, files_in, in_flight
from rough.commands import ENDED_WELL, GOOD, SAYS_NOTHING, Command, Pulls, commands, filled

START = """
import os, sys
for number, state in ((0, sys.argv.pop(1)), (1, sys.argv.pop(1)), (2, sys.argv.pop(1))):
    if state == "closed":
        os.close(number)
    elif state == "full":
        os.dup2(os.open("/dev/full", os.O_RDWR), number)
    elif state == "unread":
        reader, writer = os.pipe()
        os.close(reader)
        os.dup2(writer, number)
    elif state == "folder":
        os.dup2(os.open("/", os.O_RDONLY), number)
    elif state == "binary":
        reader, writer = os.pipe()
        os.write(writer, b"task,worker,label\\n\\xff\\xfe,a,1\\n")
        os.close(writer)
        os.dup2(reader, number)
os.execv(sys.executable, [sys.executable, "-m", "cutline", *sys.argv[1:]])
"""

INPUTS = ("closed", "folder", "binary", "as it is")
OUTPUTS = ("closed", "full", "unread", "ascii")
AS_IT_IS = "as it is"
COMMANDS = list(commands())


class Case(NamedTuple):
    """A command, and the stream that is not as usual."""

    command: Command
    stream: int
    state: str

    def __str__(self) -> str:
        return f"{self.command.name}, stream {self.stream} {self.state}"


CASES = [
    Case(command, stream, state)
    for command in COMMANDS
    for stream, states in ((0, INPUTS), (1, OUTPUTS), (2, OUTPUTS))
    for state in states
    if command.name != "paper" or (stream, state) == (1, "full")
]


def statuses(case: Case) -> set[int]:
    """The exit statuses that a case may end with."""
    fine = ENDED_WELL.get(case.command.name, {0})
    if case.state == "folder":
        return {1}  # Python itself does not start
    if case.stream == 0:
        return fine | {2}
    if case.stream == 1 and case.command.name not in SAYS_NOTHING:
        return {"closed": {2}, "full": {2}, "unread": {1}}.get(case.state, fine)
    return fine


def words(case: Case, pulls: Pulls) -> list[str]:
    """The words of the call; where standard input is strange, files are read from it."""
    good = filled(GOOD[case.command.name], pulls)
    if case.stream == 0:
        good = {name: "-" if value in ("arms.txt", "labels.csv") else value for name, value in good.items()}
    return case.command.words(good)


def found(case: Case, template: Template, folder: Path) -> list[str]:
    """Make the call in a copy of the template; return what must not have come of it."""
    template.copied(folder)
    states = [case.state if stream == case.stream else AS_IT_IS for stream in range(3)]
    done = subprocess.run(
        [sys.executable, "-c", START, *states, *words(case, template.pulls)],
        cwd=folder,
        env=os.environ | ({"PYTHONIOENCODING": "ascii"} if case.state == "ascii" else {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=surroundings.PATIENCE,
        check=False,
    )
    talk = done.stderr.decode()
    every: list[str] = []
    if "Traceback" in talk or "Exception ignored" in talk:
        every.append(f"a traceback: {talk.splitlines()[-1]}")
    if done.returncode not in statuses(case):
        every.append(f"exit status {done.returncode}, not one of {statuses(case)}: {talk[-300:]!r}")
    if any(name.startswith(".") for name in files_in(folder) - files_in(template.folder)):
        every.append(f"files left behind: {files_in(folder) - files_in(template.folder)}")
    if case.command.name == "campaign ask" and done.returncode != 0 and in_flight(folder) != 1:
        every.append("pulls are in flight that nobody knows of")
    return every


@pytest.mark.process
def test_some_broken_streams(template: Template, tmp_path: Path) -> None:
    quick = [case for case in CASES if case.command.name not in ("paper", "plan", "replay", "simulate")]
    for place, case in enumerate(random.Random(2).sample(quick, 6)):
        assert found(case, template, tmp_path / str(place)) == [], str(case)


@pytest.mark.rough
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_broken_stream(case: Case, template: Template, tmp_path: Path) -> None:
    assert found(case, template, tmp_path / "here") == []
