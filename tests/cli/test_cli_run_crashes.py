"""cutline run where the measurement breaks down: what it says, and what counts."""

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from cutline.campaign.running import watching
from cutline.campaign.running.commands import first_failures
from cutline.errors import StoreError

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("arms.txt").write_text("a\nb\nc\n")
    return tmp_path


def arguments(*more: object, command: tuple[str, ...], budget: int = 12) -> list[object]:
    return ["run", "--arms", "arms.txt", "--threshold", "0.5", "--budget", budget, *more, "--", *command]


def test_a_crash_stops_the_run_with_the_arm_and_what_happened(cutline: Run) -> None:
    crash = (sys.executable, "-S", "-c", "import os, sys; sys.argv[1] == 'b' and os.kill(os.getpid(), 11)", "{arm}")
    done = cutline(*arguments("--db", "x.db", command=crash))
    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[-1] == "cutline: arm 'b': killed by signal 11 (SIGSEGV)"
    assert "the same command goes on from here" in done.err
    with Campaign.open("x.db", "main") as campaign:
        assert campaign.status().in_flight == 0


@pytest.mark.parametrize(
    ("options", "status", "decision"),
    [(("--on-crash", "zero"), 0, "below"), (("--on-crash", "abandon"), 0, "undecided")],
)
def test_what_a_crash_means_can_be_set(cutline: Run, options: tuple[str, ...], status: int, decision: str) -> None:
    command = (sys.executable, "-S", "-c", "import sys, time; sys.argv[1] == 'b' and time.sleep(60)", "{arm}")
    done = cutline(
        *arguments(*options, "--timeout", "0.3", "--format", "json", "--jobs", "3", budget=6, command=command)
    )
    assert done.status == status
    assert {row["arm"]: row["decision"] for row in json.loads(done.out)} == {"a": "above", "b": decision, "c": "above"}
    assert "arm 'b': took longer than 0.3 s; " in done.err
    assert ("left alone after three crashes in a row: b\n" in done.err) == (decision == "undecided")


def test_a_typo_behind_another_command_stops_the_run_before_the_budget_is_spent(cutline: Run) -> None:
    given = ("--db", "x.db")
    done = cutline(*arguments(*given, command=("env", "X=1", "no-such-program", "-q", "{arm}")))
    assert (done.status, done.out) == (2, "")
    last = done.err.splitlines()[-1]
    assert re.fullmatch(
        r"cutline: arm '[abc]': exit status 127, the command could not be run: env: .*no-such-program.*", last
    )
    with Campaign.open("x.db", "main") as campaign:
        assert (campaign.status().spent, campaign.status().in_flight) == (0, 0)
    right = cutline(*arguments(*given, "--fail-exits", "127", command=("sh", "-c", "exit 127", "{arm}")))
    assert (right.status, "3 below, 0 above" in right.err) == (0, True)


def test_a_database_that_is_removed_meanwhile_ends_the_run_in_one_line(cutline: Run) -> None:
    command = ("sh", "-c", "rm -f x.db x.db-wal x.db-shm", "{arm}")
    done = cutline(*arguments("--db", "x.db", "--jobs", "2", command=command))
    assert (done.status, done.out) == (2, "")
    last = done.err.splitlines()[-1]
    assert last == "cutline: x.db: the file was removed or replaced while it was in use; begin anew"
    assert os.listdir() == ["arms.txt"]


def test_what_ended_a_run_is_said_though_the_database_does_not_answer_any_more(
    cutline: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = iter(["spent 0"])

    def progress(status: object) -> str:
        for line in said:
            return line
        raise StoreError("x.db: disk I/O error")

    monkeypatch.setattr(watching, "progress_line", progress)
    done = cutline(*arguments(command=("sh", "-c", "kill -s KILL $$", "{arm}")))
    assert (done.status, done.out) == (2, "")
    assert re.fullmatch(r"cutline: arm '[abc]': killed by signal 9 \(SIGKILL\)", done.err.splitlines()[-1])


def test_arms_that_all_fail_at_once_are_remarked_upon_in_one_line(
    cutline: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_failures, "AT_ONCE", 60.0)  # on a busy machine as well
    done = cutline(*arguments(budget=12, command=("sh", "-c", "echo cannot open x >&2; exit 2", "{arm}")))
    assert done.status == 0
    remark = (
        "the first 4 measurements, of 3 arms, all failed at once, with exit status 2: cannot open x; "
        "is the command right?"
    )
    assert done.err.splitlines().count(remark) == 1


def test_a_run_that_can_measure_nothing_more_ends_with_status_1(cutline: Run) -> None:
    command = (sys.executable, "-S", "-c", "import sys; sys.exit(4)", "{arm}")
    done = cutline(*arguments("--crash-exits", "4", "--on-crash", "abandon", command=command))
    assert done.status == 1
    assert "nothing more to measure: spent 0 of 12, in flight 0, left 12" in done.err
    assert "0 below, 0 above, 3 undecided" in done.err
