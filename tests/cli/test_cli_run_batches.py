"""cutline run --batch: one command measures many arms."""

import csv
import io
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

pytestmark = pytest.mark.process

JUNIT = """import sys
report, *arms = sys.argv[1:]
if "bad" in arms: sys.exit(139)
cases = "".join(f'<testcase name="{arm}">{"<failure/>" if arm == "weak" else ""}</testcase>' for arm in arms)
open(report, "w").write(f"<testsuite>{cases}</testsuite>")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("arms.txt").write_text("good\nweak\nfine\nbad\n")
    return tmp_path


def arguments(*more: object, batch: object = 4, report: str = "junit") -> list[object]:
    options = ["run", "--arms", "arms.txt", "--threshold", "0.5", "--budget", 8, "--batch", batch, "--report", report]
    return [*options, *more, "--format", "csv", "--", sys.executable, "-S", "-c", JUNIT, "{report}", "{arms}"]


def rows(out: str) -> list[tuple[str, str, str]]:
    return [(row["arm"], row["pulls"], row["mean"]) for row in csv.DictReader(io.StringIO(out))]


def test_a_batch_is_measured_by_one_command_and_halved_when_it_dies(cutline: Run) -> None:
    done = cutline(*arguments("--on-crash", "zero"))
    assert done.status == 0
    assert sorted(rows(done.out)) == [
        ("bad", "2", "0.0"),
        ("fine", "2", "1.0"),
        ("good", "2", "1.0"),
        ("weak", "2", "0.0"),
    ]
    assert (
        "a batch has died: exit status 139, killed by signal 11 (SIGSEGV); 4 of its arms are measured again" in done.err
    )
    assert "arm 'bad': exit status 139, killed by signal 11 (SIGSEGV); counts as 0" in done.err


def test_a_crash_stops_the_run_and_names_the_arm(cutline: Run) -> None:
    done = cutline(*arguments(batch="auto"))
    assert (done.status, done.out) == (2, "")
    assert done.err.endswith("cutline: arm 'bad': exit status 139, killed by signal 11 (SIGSEGV)\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--batch", "4"], "--batch N and --report junit|jsonl go together; give both, or none"),
        (["--report", "junit"], "--batch N and --report junit|jsonl go together; give both, or none"),
        (["--batch", "0", "--report", "junit"], "--batch is '0'; it must be a whole number from 1, or auto"),
        (["--batch", "x", "--report", "junit"], "--batch is 'x'; it must be a whole number from 1, or auto"),
        (
            ["--batch", "4", "--report", "junit", "--reward", "stdout"],
            "with --batch the rewards come from the report; leave out --reward and --fail-exits",
        ),
        (
            ["--batch", "4", "--report", "junit"],
            "the command for a batch has no argument {arms} and no {arms_file}; write one where the ids go, as in: "
            "pytest --junitxml={report} {arms}",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(cutline: Run, words: list[str], message: str) -> None:
    done = cutline("run", "--arms", "arms.txt", "--threshold", "0.5", "--budget", 8, *words, "--", "true", "{arm}")
    assert (done.status, done.out, done.err) == (2, "", f"cutline: {message}\n")


def test_a_timeout_may_count_as_zero_while_a_crash_stops(cutline: Run) -> None:
    words = ["run", "--arms", "arms.txt", "--threshold", "0.5", "--budget", 4, "--timeout", "0.2", "--format", "csv"]
    command = ["sh", "-c", 'test "$1" != bad || sleep 30', "sh", "{arm}"]
    done = cutline(*words, "--on-timeout", "zero", "--", *command)
    assert done.status == 0
    assert rows(done.out)[0] == ("bad", "1", "0.0")
    assert "arm 'bad': took longer than 0.2 s; counts as 0" in done.err
