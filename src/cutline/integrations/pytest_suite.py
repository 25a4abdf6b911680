"""A suite of tests as the arms of a campaign: pytest collects it once and runs batches of it in fresh processes."""

import importlib.util
import json
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cutline.campaign import BatchCommand, Campaign
from cutline.campaign.resume import find, resume
from cutline.campaign.running.commands.processes import Processes
from cutline.campaign.running.outcomes import Handling, OnTrouble
from cutline.checks import check_whole
from cutline.errors import InvalidInputError, MissingDependencyError
from cutline.integrations.failure_logs import FailureLogs
from cutline.text import shown

SetupErrors = Literal["fail", "abandon", "stop"]

THRESHOLD = 0.95
"""The share of its runs that a test must pass, unless another is given."""

RUNS_PER_TEST = 20
"""How many runs a test gets on average, unless a budget or a time is given."""

_PLENTY = 10_000
"""Runs for each test, where only the time limits them."""

_TELLS_LITTLE = (2, 3, 4)
"""Exit statuses of pytest that say nothing of a test: interrupted, an internal error, bad usage."""

_PLUGIN = "cutline.integrations.pytest_plugin"
_VARIABLE, _GATE = "CUTLINE_PYTEST", "CUTLINE_PYTEST_GATE"
_INSTRUCTIONS = "instructions"
_PASSED, _FAILED, _NONE = 0, 1, 5


@dataclass(frozen=True)
class Suite:
    """The tests of a call of pytest: their ids in order, and the file that each comes from.

    ``skipped``: those of them that say before they run that they are skipped, or expected to fail.
    """

    arguments: tuple[str, ...]
    paths: Mapping[str, str]
    skipped: Collection[str] = ()

    @property
    def tests(self) -> list[str]:
        """The ids of those that are measured, exactly as pytest writes them."""
        return [test for test in self.paths if test not in self.skipped]

    def command(
        self, *, timeout: float, same_order: bool = False, logs: FailureLogs | None = None, jobs: int = 1
    ) -> BatchCommand:
        """Return what runs batches of the tests, ``jobs`` at a time; each test may take ``timeout`` seconds.

        With several at a time as many are started ahead, so that no batch waits until pytest has been imported.
        """
        return BatchCommand(
            _command(*self.arguments),
            report="jsonl",
            timeout=timeout,
            crash_exits=_TELLS_LITTLE,
            instructions=_Instructions(self.paths, same_order, logs is not None, jobs if jobs > 1 else 0),
            keep=logs.keep if logs else None,
        )


@dataclass(frozen=True)
class _Instructions:
    """What the plugin in a fresh pytest is told; see Instructions. ``paths``: the file of each test."""

    paths: Mapping[str, str]
    same_order: bool
    keep: bool
    ahead: int

    def environment(self, folder: Path, gate: int) -> dict[str, str]:
        seed = str(secrets.randbits(32))
        return {_VARIABLE: str(folder / _INSTRUCTIONS), _GATE: str(gate), "PYTHONHASHSEED": seed}

    def write(self, arms: Sequence[str], folder: Path, report: Path) -> None:
        _instructed(
            folder,
            arms=list(arms),
            paths=sorted({self.paths[arm] for arm in arms if arm in self.paths}),
            seed=None if self.same_order else secrets.randbits(32),
            report=str(report),
            keep=self.keep,
        )


def collect(arguments: Sequence[str]) -> Suite:
    """Return the tests that pytest finds with these arguments.

    Raises MissingDependencyError if there is no pytest beside Cutline, InvalidInputError if it fails or finds none.
    """
    if importlib.util.find_spec("pytest") is None:
        raise MissingDependencyError("cutline pytest needs pytest beside Cutline: pip install pytest")
    with tempfile.TemporaryDirectory(prefix="cutline-") as name:
        found = Path(name) / "tests"
        command = [os.fsencode(word) for word in _command("--collect-only", "-q", *arguments)]
        environment = _instructed(Path(name), collect=str(found))
        with tempfile.TemporaryFile() as output:
            status = Processes().run(command, output, output, environment=environment)
            output.seek(0)
            said = output.read().decode(errors="replace")
        if status not in (_PASSED, _FAILED, _NONE) or not found.exists():
            raise InvalidInputError(
                f"pytest could not collect the tests (exit status {status}): "
                f"{shown(_why(said), 200)}; pytest --collect-only says more"
            )
        rows = [json.loads(line) for line in found.read_text(encoding="utf-8").splitlines()]
    if not rows:
        raise InvalidInputError("pytest found no tests; give it other arguments")
    suite = Suite(
        tuple(arguments),
        {row["id"]: row["path"] for row in rows},
        frozenset(row["id"] for row in rows if row["skipped"]),
    )
    if not suite.tests:
        raise InvalidInputError(f"all {len(suite.paths):,} tests are skipped; give it other arguments")
    return suite


def require_database(db: str | None, name: str | None) -> None:
    """Raise what opening the database raises, before tests are collected for it."""
    found = find(db, name, None, {})
    if isinstance(found, Campaign):
        found.close()


def open_campaign(
    db: str | None,
    name: str | None,
    suite: Suite,
    settings: dict[str, Any],
    *,
    runs_per_test: int | None,
    minutes: float | None,
    change: bool = False,
) -> tuple[Campaign, bool]:
    """Return the campaign of a suite, made now if there is none, and whether it was made; see ``resume``.

    Tests that are skipped are no arms of a new one; one that is there may have them from a time when they were not.
    A new one has a threshold of 0.95 and a budget of 20 runs a test, unless ``settings``, ``runs_per_test`` or
    ``minutes`` say otherwise. ``change``: one that is there becomes what is given, with the tests that there are now;
    those that are gone or skipped are retired. Raises InvalidInputError for runs a test out of range or together with a
    budget.
    """
    given = dict(settings)
    if runs_per_test is not None and given.get("budget") is not None:
        raise InvalidInputError("give the runs of a test or the budget of all, not both")
    tests = suite.tests
    found = find(db, name, None, {} if change else given)
    if isinstance(found, Campaign):
        with found:
            stored = frozenset() if change else {item.arm for item in found.decisions()}
        tests = [test for test in suite.paths if test in stored or test not in suite.skipped]
    if runs_per_test is not None:
        given["budget"] = check_whole("runs_per_test", runs_per_test, 1) * len(tests)
    if isinstance(found, Campaign):
        return resume(db, name, tests, given, change)
    if given.get("threshold") is None:
        given["threshold"] = THRESHOLD
    if given.get("budget") is None:
        given["budget"] = (RUNS_PER_TEST if minutes is None else _PLENTY) * len(tests)
    return resume(db, name, tests, given)


def handling(on_timeout: OnTrouble, setup_errors: SetupErrors) -> Handling:
    """Return what is done about what goes wrong: a test that ends its process has failed, one that is gone is left."""
    error: OnTrouble = "zero" if setup_errors == "fail" else setup_errors
    return {"crash": "zero", "timeout": on_timeout, "missing": "abandon", "error": error}


def _command(*arguments: str) -> list[str]:
    """Return the call of pytest with the plugin; -P: the folder is no place of modules, as for the command pytest."""
    return [sys.executable, "-P", "-m", "pytest", "-p", _PLUGIN, *arguments]


def _instructed(folder: Path, **instructions: Any) -> dict[str, str]:
    path = folder / _INSTRUCTIONS
    path.write_text(json.dumps(instructions), encoding="utf-8")
    return {_VARIABLE: str(path)}


def _why(output: str) -> str:
    """Return the line of pytest's output that says best what is wrong."""
    for pattern in (r"^E  +(.+)", r": error: (.+)", r"^ERROR:? (.+)"):
        found = re.search(pattern, output, re.MULTILINE)
        if found:
            return found[1].strip()
    lines = output.strip().splitlines()
    return lines[-1] if lines else "it wrote nothing"
