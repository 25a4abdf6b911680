"""Every command stopped by a signal at a random moment: it ends at once and quietly, and leaves nothing half-done.

Most calls are forked from a process that has loaded all, so that the moment falls into what the command does; some are
processes of their own, which a signal also meets while they load and while they end.
"""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import surroundings
from rough.calls import Outcome, Template, files_in, in_flight, many_calls, unchanged
from rough.commands import ENDED_WELL, GOOD, Command, commands, filled

STOPPED = {signal.SIGINT: 130, signal.SIGTERM: -signal.SIGTERM, signal.SIGPIPE: None}
"""The exit status of a command that a signal has stopped; Python ignores SIGPIPE."""
TIMES = 20
FEW = 3
COMMANDS = list(commands())

BEGIN = """
import os
from cutline import __main__
first = __main__._occupy_standard_streams
__main__._occupy_standard_streams = lambda: (os.write(int(os.environ['BEGUN']), b'.'), first())
__main__.main()
"""

Start = Callable[..., "subprocess.Popen[Any]"]


class Case(NamedTuple):
    """A command, a signal, and the share of its time after which it comes."""

    command: Command
    number: signal.Signals
    moment: float

    def __str__(self) -> str:
        return f"{self.command.name}, {self.number.name} at {self.moment:.3f}"


def moments(command: Command, times: int) -> list[Case]:
    """Every signal at so many random moments, the same ones each time."""
    draw = random.Random(f"{command.name}, {times}")
    return [Case(command, number, draw.random()) for number in STOPPED for _ in range(times)]


def words(command: Command, template: Template) -> list[str]:
    """The words of a call of the command that works in a copy of the template."""
    return command.words(filled(GOOD[command.name], template.pulls))


def begun(start: Start, called: list[str], folder: Path) -> "subprocess.Popen[Any]":
    """Start a command; return when its own code begins to run."""
    reader, writer = os.pipe()
    process = start(
        [sys.executable, "-c", BEGIN, *called],
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
    process = begun(start, words(command, template), template.copied(where))
    before = time.monotonic()
    process.communicate(timeout=surroundings.PATIENCE)
    return time.monotonic() - before


def stopped_alone(start: Start, case: Case, lasts: float, template: Template, folder: Path) -> list[str]:
    """Stop the command, as a process of its own, in a copy of the template; return what must not have come of it."""
    process = begun(start, words(case.command, template), template.copied(folder))
    time.sleep(case.moment * lasts)
    process.send_signal(case.number)
    out, talk = process.communicate(timeout=surroundings.PATIENCE)
    return list(complaints(case, template, folder, Outcome(process.returncode, out, talk.decode())))


def complaints(case: Case, template: Template, folder: Path, outcome: Outcome) -> Iterator[str]:
    """Yield what must not have come of a command that was stopped."""
    name = case.command.name
    status, out, talk = outcome
    if "Traceback" in talk or "Exception ignored" in talk:
        yield f"a traceback: {talk}"
    if status not in ENDED_WELL.get(name, {0}) | {STOPPED[case.number]}:
        yield f"exit status {status}: {talk[-300:]!r}"
    left = {file for file in files_in(folder) - files_in(template.folder) if file.startswith(".")}
    if left and case.number is not signal.SIGTERM:
        yield f"files left behind: {left}"
    if name in ("campaign delete", "campaign rename") or unchanged(folder, template):
        return
    leased = in_flight(folder) - 1
    if name in ("campaign abandon", "campaign tell"):  # they end the pull that is in flight, or have not come to it
        leased = max(leased, 0)
    if leased != (len(out.splitlines()) if name == "campaign ask" else 0) and case.number is not signal.SIGTERM:
        yield f"{leased} leased by {name}, which printed {out!r}"


@pytest.mark.process
def test_some_moments(template: Template, start_process: Start, tmp_path: Path) -> None:
    quick = [command for command in COMMANDS if command.name in ("campaign ask", "import", "policies")]
    every = [case for command in quick for case in moments(command, TIMES)]
    for place, case in enumerate(random.Random(4).sample(every, 6)):
        assert stopped_alone(start_process, case, 0.5, template, tmp_path / str(place)) == [], str(case)


@pytest.mark.rough
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_moment(command: Command, template: Template, tmp_path: Path) -> None:
    every: dict[str, list[str]] = {}
    with many_calls(template.copied(tmp_path / "first"), words(command, template)) as call:
        before = time.monotonic()
        call(template.copied(tmp_path / "whole"), words(command, template))
        lasts = time.monotonic() - before
        for place, case in enumerate(moments(command, TIMES)):
            folder = template.copied(tmp_path / str(place))
            outcome = call(folder, words(command, template), (case.number, case.moment * lasts))
            every[str(case)] = list(complaints(case, template, folder, outcome))
    assert {name: texts for name, texts in every.items() if texts} == {}


@pytest.mark.rough
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_moments_from_start_to_end(command: Command, template: Template, start_process: Start, tmp_path: Path) -> None:
    lasts = seconds(start_process, command, template, tmp_path / "whole")
    every = {
        str(case): stopped_alone(start_process, case, lasts, template, tmp_path / str(place))
        for place, case in enumerate(moments(command, FEW))
    }
    assert {name: texts for name, texts in every.items() if texts} == {}
