"""A plugin of pytest, passed with ``-p`` to the processes that ``cutline pytest`` starts.

The environment variable CUTLINE_PYTEST names a file of instructions: either to write down which tests there are, or to
run some of them, in a shuffled order or as collected, and to report each as it begins and ends. A report line is on its
way before the next test begins, so a process that dies or hangs loses only the test it was at. A process may be started
before there are instructions: it waits for them when plugins and conftest files are loaded, before it collects tests.
"""

import json
import os
import random
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

VARIABLE = "CUTLINE_PYTEST"
"""The environment variable with the name of the file of instructions."""

GATE = "CUTLINE_PYTEST_GATE"
"""The environment variable with the file descriptor of a pipe from which a byte comes when there are instructions."""

READY = "ready"
"""The file that is made beside the instructions before they are waited for."""

_SETTLED: dict[str, Any] = {
    "collectonly": False,
    "maxfail": 0,
    "lf": False,
    "failedfirst": False,
    "newfirst": False,
    "stepwise": False,
    "stepwise_skip": False,
    "usepdb": False,
    "trace": False,
    "xmlpath": None,
    "reruns": 0,
}
"""Options that would leave tests out, run them again, or write one file from many processes; and what they are here."""

_LONGEST = 100_000
"""Characters of a failure's output that are kept."""

_PHASES = ("setup", "call", "teardown")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Settle options before any plugin acts on them, and register what the instructions ask for; end without any."""
    if not _pass_gate():
        return 0
    given = json.loads(Path(os.environ[VARIABLE]).read_text(encoding="utf-8"))
    if "collect" in given:
        config.option.xmlpath = None
        config.pluginmanager.register(_Collection(Path(given["collect"])))
        return None
    for name, value in _SETTLED.items():
        if hasattr(config.option, name):
            setattr(config.option, name, value)
    if not given["keep"]:
        config.option.tbstyle = "short"  # nobody reads it, and to quote all sources takes as long as some ten tests
    if getattr(config.option, "basetemp", None):  # pytest empties it at the start: each process has its own
        own = Path(config.option.basetemp).absolute() / Path(given["report"]).parent.name
        own.parent.mkdir(parents=True, exist_ok=True)
        config.option.basetemp = own
        config.add_cleanup(lambda: shutil.rmtree(own, ignore_errors=True))
    config.pluginmanager.register(_Selection(given["arms"], given["paths"], given["seed"]))
    if not hasattr(config, "workerinput"):  # with xdist the controller reports
        config.pluginmanager.register(_Reporter(Path(given["report"]), given["arms"]))
    return None


def _pass_gate() -> bool:
    """Wait for instructions, if this process is told to; return whether there are any."""
    gate = os.environ.pop(GATE, None)
    if gate is None:
        return True
    Path(os.environ[VARIABLE]).with_name(READY).touch()
    with open(int(gate), "rb") as pipe:
        return bool(pipe.read(1))


class _Collection:
    """Writes down which tests there are, a line each: the id, the file, and whether it will be skipped."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        with self._path.open("w", encoding="utf-8") as file:
            for item in session.items:
                row = {"id": item.nodeid, "path": str(item.path), "skipped": _is_skipped(item)}
                file.write(json.dumps(row) + "\n")


class _Selection:
    """Leaves the tests of the batch, and shuffles them: folders, files, classes and tests, each among its like."""

    def __init__(self, arms: list[str], paths: list[str], seed: int | None) -> None:
        self._arms = frozenset(arms)
        self._paths = frozenset(paths)
        self._seed = seed

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Pass over the files that hold none of the tests; an argument that names such a file is collected."""
        return True if str(collection_path) not in self._paths and collection_path.is_file() else None

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        chosen = {item.nodeid: item for item in reversed(items) if _plain(item.nodeid, self._arms) in self._arms}
        kept = [item for item in items if chosen.get(item.nodeid) is item]
        left = [item for item in items if chosen.get(item.nodeid) is not item]
        if left:
            config.hook.pytest_deselected(items=left)
        if self._seed is not None:
            kept.sort(key=self._place)
        items[:] = kept

    def _place(self, item: pytest.Item) -> list[float]:
        """Return where a test stands: a random number for each of its ancestors and itself."""
        return [_drawn(f"{self._seed} {node.nodeid}") for node in item.listchain()]


@cache
def _drawn(key: str) -> float:
    """Return the random number of a key: a test's folder, file and class, too, are asked for again and again."""
    return random.Random(key).random()


class _Reporter:
    """Reports every test as it begins and ends."""

    def __init__(self, path: Path, arms: list[str]) -> None:
        self._arms = frozenset(arms)
        self._file = path.open("a", encoding="utf-8", buffering=1)  # line by line
        self._found: dict[str, dict[str, Any]] = {}
        self._before: list[str] = []

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write({"arm": _plain(nodeid, self._arms), "output": self._surroundings()})

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        arm = _plain(report.nodeid, self._arms)
        found = self._found.setdefault(arm, {"arm": arm})
        phase = str(report.when)
        if phase not in _PHASES or report.outcome not in ("passed", "skipped", "failed"):
            found |= {"reward": 0, "output": self._output(report)}  # a worker of xdist has crashed, or it is run again
        elif report.outcome == "failed" and found.get("reward") != 0:
            found.pop("reward", None)
            wrong: dict[str, Any] = {"reward": 0} if phase == "call" else {"error": f"{phase}: {_reason(report)}"}
            found |= wrong | {"output": self._output(report)}
        elif report.outcome == "skipped" or hasattr(report, "wasxfail"):
            if "reward" not in found:
                found["skipped"] = (
                    f"xfail {report.wasxfail}".strip() if hasattr(report, "wasxfail") else _reason(report)
                )
        elif phase == "call" and "skipped" not in found:
            found.setdefault("reward", 1)
        if phase == "teardown" or phase not in _PHASES:
            self._end(arm)

    def pytest_unconfigure(self) -> None:
        self._file.close()

    def _end(self, arm: str) -> None:
        found = self._found.pop(arm)
        if "reward" in found or "error" in found:
            found.pop("skipped", None)
        self._write(found)
        self._before.append(arm)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Leave out the summaries, which nobody reads: some plugins take longer for theirs than all tests take."""
        vars(session.config.hook)["pytest_terminal_summary"] = _say_nothing

    def _output(self, report: pytest.TestReport) -> str:
        """Return what a failure has written, and what is needed to see it again."""
        parts = [self._surroundings(), report.longreprtext]
        parts += [f"--- {title} ---\n{text}" for title, text in report.sections]
        return "\n".join(parts)[:_LONGEST]

    def _surroundings(self) -> str:
        before = f", after {len(self._before)} other tests, the last {self._before[-1]}" if self._before else ""
        return f"PYTHONHASHSEED={os.environ.get('PYTHONHASHSEED', 'random')}{before}"

    def _write(self, row: dict[str, Any]) -> None:
        self._file.write(json.dumps(row) + "\n")


def _is_skipped(item: pytest.Item) -> bool:
    """Whether it is known before a test runs that it will be skipped, or is expected to fail, whatever it does."""
    function, cls = getattr(item, "obj", None), getattr(item, "cls", None)
    if any(getattr(one, "__unittest_skip__", False) for one in (function, cls)):
        return True
    try:
        from _pytest.skipping import evaluate_skip_marks, evaluate_xfail_marks

        if evaluate_skip_marks(item) is not None:
            return True
        xfail = None if item.config.option.runxfail else evaluate_xfail_marks(item)
        return xfail is not None and not xfail.strict and xfail.raises is None
    except (ImportError, AttributeError, pytest.fail.Exception):  # another pytest, or a mark that makes no sense
        return False


def _say_nothing(**_: object) -> list[object]:
    return []


def _plain(nodeid: str, arms: frozenset[str]) -> str:
    """Return an id without the group that xdist adds to it."""
    return nodeid if nodeid in arms or "@" not in nodeid else nodeid.rpartition("@")[0]


def _reason(report: pytest.TestReport) -> str:
    """Return the last line of what went wrong, or why a test was skipped."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    lines = str(crash.message if crash else report.longreprtext).strip().splitlines()
    return lines[0] if lines else ""
