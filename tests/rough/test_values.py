"""Every option and argument with numbers, ids and paths that nobody should have typed."""

import os
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from rough.calls import Template, complaints, many_calls
from rough.commands import GOOD, Command, Given, Pulls, commands, filled

NUMBERS = ("0", "-1", "1" + 30 * "0", "nan", "inf", "1e400", "1e-400", "0x10", "1_000", "")
TEXTS = (
    "a\tb",
    "a\nb",
    "a\rb",
    "\udcff",
    "\N{RIGHT-TO-LEFT OVERRIDE}",
    "\x1b[31m",
    " ",
    10_000 * "x",
    "-",
    "--",
    "{arm}",
)
PATHS = (
    *("/dev/null", "/dev/full", "/dev/stdin", ".", "..", "folder", "link", "dangling", "loop", "link/x", "not there/x"),
    *(os.fsdecode(b"\xff.csv"), "a" * 300 + ".csv", "plot.svg", "sqlite:///y.db", "postgresql://[", "empty", "pipe"),
)
WORDS = ("0", "", "a\nb", "\udcff", "--")
"""What is tried where one of a few words is right: all others are refused there alike."""
WRITTEN = {"junit", "out", "plot"}
"""The parameters that name what a command writes; of all others a file is read."""
COMMANDS = list(commands())
IDS = [command.name for command in COMMANDS]


class Case(NamedTuple):
    """A call with one parameter that is not as it should be."""

    command: Command
    parameter: str
    value: str

    def given(self, pulls: Pulls) -> Given:
        """What the command is given."""
        good = filled(GOOD[self.command.name], pulls)
        old = good.get(self.parameter)
        return good | {self.parameter: (self.value, *old[1:]) if isinstance(old, tuple) else self.value}


def cases(command: Command) -> Iterator[Case]:
    """Yield every parameter with every value."""
    for parameter in command.parameters:
        if not getattr(parameter, "is_flag", False):
            for value in WORDS if isinstance(parameter.type, click.Choice) else (*NUMBERS, *TEXTS, *PATHS):
                yield Case(command, str(parameter.name), value)


@pytest.fixture(scope="module")
def strange(template: Template) -> Template:
    """A template with files that are strange, too."""
    folder = template.folder
    (folder / "folder").mkdir()
    (folder / "empty").touch()
    (folder / "link").symlink_to("labels.csv")
    (folder / "dangling").symlink_to("nowhere")
    (folder / "loop").symlink_to("loop")
    (folder / os.fsdecode(b"\xff.csv")).write_bytes((folder / "labels.csv").read_bytes())
    return template


@contextmanager
def other_end(pipe: Path, case: Case) -> Iterator[None]:
    """Make a named pipe, which somebody writes labels into, or reads, once."""
    os.mkfifo(pipe)
    labels = pipe.with_name("labels.csv").read_bytes()
    use = pipe.read_bytes if case.parameter in WRITTEN else partial(pipe.write_bytes, labels)
    with ThreadPoolExecutor() as pool:
        used = pool.submit(use)
        try:
            yield
        finally:
            while not used.done():  # whoever was not met waits, or will in a moment
                os.close(os.open(pipe, os.O_RDWR))
                wait([used], timeout=0.05)
            with suppress(BrokenPipeError):
                used.result()
            pipe.unlink()


def found(cases: list[Case], strange: Template, where: Path, first: Sequence[str] = ()) -> list[str]:
    """Make calls, the first of these words to load what they need; return what must not have come of the others."""
    every: list[str] = []
    with many_calls(strange.copied(where / "first"), first) as call:
        for number, case in enumerate(cases):
            folder = strange.copied(where / str(number))
            words = case.command.words(case.given(strange.pulls))
            with other_end(folder / "pipe", case) if case.value == "pipe" else nullcontext():
                outcome = call(folder, words)
            every += [f"{words!r:.200}: {text}" for text in complaints(case.command.name, folder, strange, outcome)]
    return every


def test_every_command_has_a_call_that_works() -> None:
    assert set(GOOD) == set(IDS)


@pytest.mark.process
def test_good_calls_end_well(template: Template, tmp_path: Path) -> None:
    with many_calls(tmp_path) as call:
        for command in COMMANDS:
            if command.name == "paper":  # it takes long, and has tests of its own
                continue
            folder = template.copied(tmp_path / command.name)
            outcome = call(folder, command.words(filled(GOOD[command.name], template.pulls)))
            assert (outcome.status, list(complaints(command.name, folder, template, outcome))) == (0, []), command.name


@pytest.mark.process
def test_some_strange_values(strange: Template, tmp_path: Path) -> None:
    every = [case for command in COMMANDS for case in cases(command) if command.name != "paper"]
    assert found(random.Random(1).sample(every, 40), strange, tmp_path) == []


@pytest.mark.rough
@pytest.mark.parametrize("command", COMMANDS, ids=IDS)
def test_every_strange_value(command: Command, strange: Template, tmp_path: Path) -> None:
    first = command.words(filled(GOOD[command.name], strange.pulls))
    assert found(list(cases(command)), strange, tmp_path, first) == []
