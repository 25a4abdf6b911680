"""cutline pytest from its arguments to the decisions."""

import csv
import io
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from surroundings import PATIENCE, is_running, wait_for

Run = Callable[..., Any]

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    Path("pytest.ini").write_text("[pytest]\n")
    Path("test_a.py").write_text("def test_good(): pass\ndef test_bad(): assert 0\n")
    return tmp_path


def test_a_suite_is_run_and_its_tests_are_decided_on_and_another_time_it_goes_on(cutline: Run) -> None:
    words = ["pytest", "--threshold", "0.5", "--runs-per-test", 2, "--db", "x.db", "--logs", "logs", "--format", "csv"]
    done = cutline(*words, "--fail-on", "below", "-q", "test_a.py", "-k", "good or bad")
    rows = [(row["arm"], row["mean"], row["decision"]) for row in csv.DictReader(io.StringIO(done.out))]
    assert done.status == 5
    assert rows == [("test_a.py::test_bad", "0.0", "below"), ("test_a.py::test_good", "1.0", "above")]
    assert done.err.splitlines()[0].startswith("campaign 'main' in x.db: 2 arms, threshold 0.5, ")
    assert done.err.splitlines()[-1] == "1 below, 1 above, 0 undecided"
    assert list(Path("logs").iterdir()) != []
    again = cutline("pytest", "--db", "x.db", "--format", "ids", "--only", "below", "test_a.py")
    assert (again.status, again.out) == (0, "test_a.py::test_bad\n")
    assert again.err.splitlines()[0].startswith("campaign 'main' in x.db, going on: 2 arms, threshold 0.5, ")


def test_a_test_that_skips_itself_is_retired_and_no_reason_to_fail(cutline: Run) -> None:
    Path("test_b.py").write_text("import pytest\ndef test_a(): pass\ndef test_b(): pytest.skip('not here')\n")
    words = ["pytest", "--db", "x.db", "--budget", 2, "--fail-on", "undecided", "--format", "ids", "test_b.py"]
    done = cutline(*words)
    assert (done.status, done.out) == (0, "test_b.py::test_a\n")
    lines = done.err.splitlines()
    assert lines.count("arm 'test_b.py::test_b' is skipped: not here; retired") == 1
    assert "skipped: test_b.py::test_b" in lines
    again = cutline(*words)
    assert (again.status, again.out, "skipped" in again.err) == (0, done.out, False)
    assert cutline("campaign", "decisions", "--db", "x.db", "--retired", "--format", "ids").out == "test_b.py::test_b\n"


def test_a_campaign_that_is_there_is_changed_if_asked_to(cutline: Run) -> None:
    words = ["pytest", "--db", "x.db", "--format", "ids", "test_a.py"]
    assert cutline(*words, "--threshold", "0.5", "--budget", 2).status == 0
    Path("test_a.py").write_text("def test_good(): pass\ndef test_new(): pass\n")
    refused = cutline(*words, "--runs-per-test", 3)
    assert (refused.status, refused.out) == (2, "")
    assert refused.err.endswith("; cutline campaign change changes that, as --change of run and pytest does\n")
    done = cutline(*words, "--runs-per-test", 3, "--threshold", "0.6", "--change")
    assert (done.status, done.out) == (0, "test_a.py::test_good\ntest_a.py::test_new\n")
    assert "going on: 2 arms, threshold 0.6, " in done.err
    assert "budget spent: spent 6 of 6, " in done.err


def test_the_time_may_be_what_is_limited(cutline: Run) -> None:
    done = cutline("pytest", "--minutes", "0.001", "test_a.py")
    assert done.status == 0
    assert "time is up: " in done.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--batch", "0"], "--batch is '0'; it must be a whole number from 1, or auto"),
        (["--batch", str(2**60)], f"--batch is {2**60}; it must be a whole number from 1 to 2^53"),
        (["--jobs", "0"], "jobs is 0; it must be a whole number from 1 to 2^53"),
        (["--minutes", "0"], "seconds is 0.0; it must be a number above 0"),
        (["--junit", "."], "cannot write .: it is a folder; give the name of a file"),
        (["--logs", "test_a.py"], "cannot write test_a.py: it is a file; give the name of a folder"),
    ],
)
def test_bad_options_are_refused_before_anything_is_collected(cutline: Run, words: list[str], message: str) -> None:
    done = cutline("pytest", *words, "no_such_file.py")
    assert (done.status, done.out, done.err) == (2, "", f"cutline: {message}\n")


def test_pytest_is_told_what_is_no_option_here(cutline: Run) -> None:
    done = cutline("pytest", "--no-such-option", "-x")
    assert done.status == 2
    assert done.err.startswith("cutline: pytest could not collect the tests (exit status 4): ")
    assert "--no-such-option" in done.err


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_is_stopped_while_tests_are_collected_leaves_no_pytest(start: Run, how: int) -> None:
    Path("conftest.py").write_text("import os, time\nopen(f'pid {os.getpid()}', 'w')\ntime.sleep(60)\n")
    process = start("pytest", "--db", "x.db")
    wait_for(lambda: any(Path().glob("pid *")))
    process.send_signal(how)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130 if how == signal.SIGINT else -how, b"")
    assert err.strip() == (b"cutline: stopped" if how == signal.SIGINT else b"")
    (collecting,) = (int(path.name.split()[1]) for path in Path().glob("pid *"))
    wait_for(lambda: not is_running(collecting))
    assert not Path("x.db").exists()
