"""cutline pytest on real suites: what each kind of test counts as, and what a process that dies takes with it."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.errors import InvalidInputError, MeasurementError, MissingDependencyError
from cutline.integrations.failure_logs import open_logs
from cutline.integrations.pytest_suite import collect

pytestmark = pytest.mark.process

Write = Callable[..., Path]
Run = Callable[..., Any]

KINDS = """import unittest, pytest

@pytest.mark.parametrize("x", [1, "a b", "x,y", "[::]/"])
def test_parameter(x): pass

def test_fails(): assert 0

@pytest.mark.skip(reason="not here")
def test_skipped(): pass

def test_skips_itself(): pytest.skip("not now")

@pytest.mark.skipif("1 + 1 == 2", reason="nor here")
def test_skipped_by_a_condition(): pass

@pytest.mark.skipif(False, reason="here")
@pytest.mark.xfail(False, reason="it passes")
def test_not_skipped(): pass

@pytest.mark.xfail
def test_xfails(): assert 0

@pytest.mark.xfail
def test_xpasses(): pass

@pytest.mark.xfail(strict=True)
def test_xpasses_strictly(): pass

@pytest.fixture
def broken(): raise RuntimeError("no database")

def test_set_up_breaks(broken): pass

@pytest.fixture
def broken_at_last():
    yield
    raise RuntimeError("no goodbye")

def test_tear_down_breaks(broken_at_last): pass

def test_fails_and_tear_down_breaks(broken_at_last): assert 0

class TestUnit(unittest.TestCase):
    @unittest.skip("not here")
    def test_skipped(self): assert 0
    def test_unit(self): self.assertEqual(1, 1)
    def test_subtests(self):
        for number in range(2):
            with self.subTest(number=number): self.assertEqual(number, 0)

class TestAwaited(unittest.IsolatedAsyncioTestCase):
    async def test_awaited(self): pass
    @unittest.expectedFailure
    async def test_expected(self): self.fail()

@pytest.mark.anyio
async def test_async(): pass

@pytest.fixture
def anyio_backend(): return "asyncio"
"""

MEANS = {
    "test_parameter[1]": 1.0,
    "test_parameter[a b]": 1.0,
    "test_parameter[x,y]": 1.0,
    "test_parameter[[::]/]": 1.0,
    "test_fails": 0.0,
    "test_xpasses_strictly": 0.0,
    "test_set_up_breaks": 0.0,
    "test_tear_down_breaks": 0.0,
    "test_fails_and_tear_down_breaks": 0.0,
    "test_not_skipped": 1.0,
    "TestUnit::test_unit": 1.0,
    "TestUnit::test_subtests": 0.0,
    "TestAwaited::test_awaited": 1.0,
    "test_async": 1.0,
}


@pytest.mark.parametrize(
    "xdist",
    [pytest.param((), id="one process"), pytest.param(("-p", "xdist", "-n", "2"), id="xdist", marks=pytest.mark.slow)],
)
def test_every_kind_of_test_counts_as_it_should_and_what_is_known_to_be_skipped_is_no_arm(
    write: Write, run: Run, xdist: tuple[str, ...]
) -> None:
    write("test_kinds.py", KINDS)
    done = run([*xdist, "-p", "anyio.pytest_plugin", "test_kinds.py"], 14)
    assert done.means == MEANS
    assert sorted(done.report.skipped) == [
        "test_kinds.py::TestAwaited::test_expected",
        "test_kinds.py::test_skips_itself",
    ]
    assert "arm 'test_kinds.py::test_skips_itself' is skipped: not now; retired" in done.news
    assert "arm 'test_kinds.py::test_set_up_breaks': setup: RuntimeError: no database; counts as 0" in done.news


PLUGINS = """import asyncio, time, pytest, pytest_asyncio

@pytest_asyncio.fixture
async def number():
    await asyncio.sleep(0)
    return 7

@pytest.mark.asyncio
async def test_awaits(number): assert number == 7

@pytest.mark.asyncio
async def test_awaits_and_fails(number): assert number == 8

@pytest.mark.asyncio
@pytest.mark.timeout(0.2)
async def test_awaits_for_ever(): await asyncio.sleep(600)

@pytest.mark.timeout(0.2, method="signal")
def test_hangs_until_a_signal(): time.sleep(600)

@pytest.mark.timeout(0.2, method="thread")
def test_hangs_until_a_thread_acts(): time.sleep(600)

def test_is_quick(): pass
"""


@pytest.mark.parametrize(
    ("xdist", "news", "end"),
    [
        pytest.param(
            (),
            ["arm 'test_plugins.py::test_hangs_until_a_thread_acts': exit status 1 before its end; counts as 0"],
            "+++ Timeout +++",
            id="one process",
        ),
        pytest.param(("-p", "xdist", "-n", "2"), [], "crashed while running", id="xdist", marks=pytest.mark.slow),
    ],
)
def test_pytest_asyncio_and_pytest_timeout_work_and_a_test_that_takes_too_long_for_them_has_failed(
    write: Write, run: Run, tmp_path: Path, xdist: tuple[str, ...], news: list[str], end: str
) -> None:
    write("test_plugins.py", PLUGINS)
    words = [*xdist, "-p", "asyncio", "-p", "timeout", "test_plugins.py"]
    done = run(words, 6, logs=open_logs(str(tmp_path / "logs")))
    assert done.means == {
        "test_awaits": 1.0,
        "test_awaits_and_fails": 0.0,
        "test_awaits_for_ever": 0.0,
        "test_hangs_until_a_signal": 0.0,
        "test_hangs_until_a_thread_acts": 0.0,
        "test_is_quick": 1.0,
    }
    assert done.news == news
    logs = {path.name.split(".")[1].removeprefix("py_"): path.read_text() for path in (tmp_path / "logs").iterdir()}
    assert logs.keys() == {test for test, mean in done.means.items() if mean == 0}
    assert "assert 7 == 8" in logs["test_awaits_and_fails"]
    assert "Timeout (>0.2s) from pytest-timeout" in logs["test_awaits_for_ever"]
    assert "Timeout (>0.2s) from pytest-timeout" in logs["test_hangs_until_a_signal"]
    assert end in logs["test_hangs_until_a_thread_acts"]
    assert all("\nPYTHONHASHSEED=" in text for text in logs.values())


def test_errors_in_fixtures_count_as_they_are_told_to(write: Write, run: Run) -> None:
    write("test_kinds.py", KINDS)
    done = run(["test_kinds.py", "-k", "breaks and not fails or test_unit"], 6, setup_errors="abandon")
    assert sorted(arm.partition("::")[2] for arm in done.report.set_aside) == [
        "test_set_up_breaks",
        "test_tear_down_breaks",
    ]
    assert done.means == {"test_set_up_breaks": None, "test_tear_down_breaks": None, "TestUnit::test_unit": 1.0}
    with pytest.raises(MeasurementError, match="test_set_up_breaks': setup: RuntimeError: no database"):
        run(["test_kinds.py", "-k", "set_up"], 6, setup_errors="stop")


def test_ids_are_those_that_pytest_writes(write: Write) -> None:
    write("tests/test_kinds.py", KINDS.replace("@pytest.mark.anyio\nasync ", ""))
    write("tests/deep/test_é.py", "def test_a(): pass\n")
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=True)
    assert list(collect([]).paths) == [line for line in done.stdout.splitlines() if "::" in line]


def test_a_test_that_ends_its_process_or_hangs_has_failed_and_no_other_has(write: Write, run: Run) -> None:
    write(
        "test_bad.py",
        "import os, time\n"
        "def test_a(): pass\n"
        "def test_exits(): os._exit(0)\n"
        "def test_is_killed(): os.kill(os.getpid(), 9)\n"
        "def test_hangs(): time.sleep(600)\n"
        "def test_z(): pass\n",
    )
    done = run(["test_bad.py"], 5, timeout=2.0, batch=5)
    assert done.means == {"test_a": 1, "test_exits": 0, "test_is_killed": 0, "test_hangs": 0, "test_z": 1}
    assert (done.report.told, done.report.crashes) == (5, 3)
    assert "arm 'test_bad.py::test_exits': exit status 0 before its end; counts as 0" in done.news
    assert "arm 'test_bad.py::test_is_killed': killed by signal 9 (SIGKILL); counts as 0" in done.news
    assert "arm 'test_bad.py::test_hangs': took longer than 2 s; counts as 0" in done.news


def test_a_test_that_is_gone_is_an_error_and_left_alone(write: Write, run: Run) -> None:
    write(
        "test_a.py", "import pathlib\ndef test_a(): pass\nif pathlib.Path('there').exists():\n    def test_b(): pass\n"
    )
    there = write("there", "")
    suite = collect(["test_a.py"])
    there.unlink()
    done = run(suite, 6)
    assert done.means == {"test_a": 1.0, "test_b": None}
    assert done.report.set_aside == ["test_a.py::test_b"]


def test_pytests_that_cannot_start_are_the_fault_of_no_test_and_end_the_run(write: Write, run: Run) -> None:
    write("test_a.py", "def test_a(): pass\ndef test_b(): pass\n")
    suite = collect(["test_a.py"])
    write("conftest.py", "raise RuntimeError('no more')\n")
    with pytest.raises(MeasurementError, match=r"^3 batches in a row have measured nothing: exit status 4: .*no more"):
        run(suite, 6)


RECORDING = """import os, pathlib, pytest

def pytest_addoption(parser): parser.addoption("--mine", default="nothing")

@pytest.fixture(autouse=True)
def record(request):
    with pathlib.Path("seen").open("a") as file:
        print(os.environ["PYTHONHASHSEED"], os.getpid(), request.node.nodeid, request.config.option.mine, file=file)
"""


def recorded(write: Write, run: Run, *words: str, **options: Any) -> dict[str, list[str]]:
    """Run a suite of two files, two batches; return the tests that ran with each PYTHONHASHSEED, in order."""
    write("conftest.py", RECORDING)
    for name in ("test_a.py", "test_b.py"):
        write(name, "".join(f"def test_{number}(): pass\n" for number in range(8)))
    run([*words, "test_a.py", "test_b.py"], 32, batch=16, **options)
    seen: dict[str, list[str]] = {}
    for line in Path("seen").read_text().splitlines():
        seed, process, arm, mine = line.split()
        assert mine == "yes"
        seen.setdefault(f"{seed} {process}", []).append(arm)
    return seen


def test_every_batch_is_a_fresh_process_with_a_hash_seed_and_an_order_of_its_own(write: Write, run: Run) -> None:
    first, second = recorded(write, run, "--mine=yes", jobs=2).values()
    assert sorted(first) == sorted(second)
    assert first != second  # alike once in 2 * 8! * 8! times
    assert first != sorted(first)
    for order in (first, second):  # no file is taken up again
        assert len({arm.partition("::")[0] for arm in order[:8]}) == 1


def test_the_order_may_stay_as_it_is(write: Write, run: Run) -> None:
    first, second = recorded(write, run, "--mine=yes", same_order=True).values()
    assert first == second == sorted(first)


def test_options_that_leave_tests_out_or_run_them_again_are_settled(write: Write, run: Run) -> None:
    write("test_a.py", "def test_a(): assert 0\ndef test_b(): assert 0\ndef test_c(): pass\n")
    words = ["-x", "--maxfail=1", "--lf", "--junitxml=out.xml", "--basetemp=base", "test_a.py", "-m", "not slow"]
    done = run(words, 6, batch=3, same_order=True)
    assert done.means == {"test_a": 0.0, "test_b": 0.0, "test_c": 1.0}
    assert not Path("out.xml").exists()
    assert list(Path("base").iterdir()) == []


def test_plugins_and_settings_of_the_suite_are_used(write: Write, run: Run) -> None:
    write("my_plugin.py", "import pytest\n@pytest.fixture\ndef mine(): return 7\n")
    write("conftest.py", "def pytest_addoption(parser): parser.addoption('--flavour')\n")
    write("pytest.ini", "[pytest]\naddopts = -p my_plugin\npythonpath = .\nmarkers = slow: takes long\n")
    write(
        "test_a.py",
        "import pytest\n"
        "def test_a(mine, pytestconfig): assert (mine, pytestconfig.getoption('flavour')) == (7, 'mint')\n"
        "@pytest.mark.slow\ndef test_b(): pass\n"
        "def test_c(): pass\n",
    )
    words = ["-m", "not slow", "--deselect", "test_a.py::test_c", "--flavour", "mint"]
    assert run(words, 2).means == {"test_a": 1.0}


def test_what_the_last_failures_have_written_is_kept(write: Write, run: Run, tmp_path: Path) -> None:
    write(
        "test_a.py",
        "import sys\ndef test_a():\n    print('said', file=sys.stderr)\n    assert 1 == 2\ndef test_b(): pass\n",
    )
    run(["test_a.py"], 10, batch=2, logs=open_logs(str(tmp_path / "logs")))
    kept = sorted((tmp_path / "logs").iterdir())
    assert [path.name.split(".")[-2] for path in kept] == ["1", "2", "3"]
    text = kept[0].read_text()
    assert text.startswith("test_a.py::test_a\nPYTHONHASHSEED=")
    assert "assert 1 == 2" in text
    assert "--- Captured stderr call ---\nsaid" in text


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("import nothing_like_it", [], "(exit status 2): ModuleNotFoundError: No module named 'nothing_like_it'"),
        ("def test_a(): pass", ["--no-such"], "(exit status 4): "),
        ("def test_a(): pass", ["test_b.py"], "(exit status 4): file or directory not found: test_b.py"),
    ],
)
def test_what_cannot_be_collected_is_said_in_one_line(write: Write, text: str, words: list[str], message: str) -> None:
    write("test_a.py", text)
    with pytest.raises(InvalidInputError) as caught:
        collect(words)
    assert str(caught.value).startswith(f"pytest could not collect the tests {message}")
    assert str(caught.value).endswith("; pytest --collect-only says more")
    assert "\n" not in str(caught.value)


def test_a_suite_without_tests_is_refused(write: Write) -> None:
    write("test_a.py", "x = 1")
    with pytest.raises(InvalidInputError, match=r"^pytest found no tests; give it other arguments$"):
        collect([])


def test_pytest_must_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        MissingDependencyError, match=r"^cutline pytest needs pytest beside Cutline: pip install pytest$"
    ):
        collect([])


def test_a_suite_in_which_all_is_skipped_is_refused(write: Write) -> None:
    write("test_none.py", "import pytest\npytestmark = pytest.mark.skip\ndef test_a(): pass\ndef test_b(): pass\n")
    with pytest.raises(InvalidInputError, match="all 2 tests are skipped; give it other arguments"):
        collect(["test_none.py"])


def test_a_mark_that_makes_no_sense_skips_nothing_and_is_an_error_when_the_test_runs(write: Write, run: Run) -> None:
    write("test_odd.py", "import pytest\n@pytest.mark.skipif('1 +', reason='x')\ndef test_a(): pass\n")
    done = run(["test_odd.py"], 1)
    assert (done.means, done.report.crashes) == ({"test_a": 0.0}, 1)
