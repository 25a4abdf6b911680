"""cutline paper: the folder that it fills, the summary, and how it refuses what it cannot use."""

import csv
import json
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.paper.report import make_paper
from surroundings import PATIENCE

Run = Callable[..., Any]


@pytest.mark.slow
def test_a_process_fills_the_folder_and_prints_the_summary_and_nothing_else(start: Run, tmp_path: Path) -> None:
    arguments = ("--runs", "4", "--setups", "4", "--seed", "3", "--jobs", "2")
    process = start("paper", *arguments, "--out", tmp_path / "process")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err.decode()) == (0, f"wrote {tmp_path / 'process'}\n")
    assert out.decode() == make_paper(tmp_path / "here", setups=[4], runs=4, seed=3, progress=False)
    here, there = [json.loads((tmp_path / folder / "manifest.json").read_text()) for folder in ("here", "process")]
    assert here == there  # hashes of the figures included
    assert sorted(here["files"]) == ["curves-setup-4.csv", "figure-2.png", "figure-2.svg"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--runs", "0"), "runs is 0; it must be a whole number from 1 to 2^31 - 1"),
        (("--setups", "1,7"), "the paper has no setup 7; there are 1 to 6"),
        (("--setups", "2,2"), "setup 2 is given twice"),
        (("--setups", "1,x"), "--setups: number 2 is 'x'; it must be a whole number, as in 1,2"),
        (("--setups", ""), "--setups: number 1 is ''; it must be a whole number, as in 1,2"),
        (("--seed", "-1"), "seed is -1; it must be a whole number from 0 to 2^64 - 1"),
        (("--jobs", "0"), "jobs is 0; it must be 1 or more"),
    ],
)
def test_bad_input_gets_one_line_and_status_2_and_nothing_is_written(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.setattr("cutline.simulation.simulate.play", None)
    monkeypatch.chdir(tmp_path)
    done = cutline("paper", *arguments)
    assert (done.status, done.out, done.err) == (2, "", f"cutline: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_refused_before_simulating(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutline.simulation.simulate.play", None)
    (tmp_path / "file").write_text("kept")  # a path below a regular file is refused to root as well
    for out in (tmp_path / "file", tmp_path / "file" / "below"):
        done = cutline("paper", "--out", out)
        assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
        assert done.err.startswith(f"cutline: cannot write {out}/figure-1.svg: ")
    assert (tmp_path / "file").read_text() == "kept"


def test_too_little_memory_is_refused_and_nothing_is_written(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutline.memory.available_memory", lambda: 1e6)
    done = cutline("paper", "--out", tmp_path / "out")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "policies on 10 arms at 20 budgets" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_ctrl_c_leaves_finished_outputs_whole_and_ends_at_once(start: Run, tmp_path: Path) -> None:
    process = start("paper", "--runs", "3000", "--setups", "1,5", "--out", tmp_path)
    waited = time.monotonic()
    while not (tmp_path / "table.md").exists():  # Setup 1 is through; Setup 5 takes much longer
        assert process.poll() is None
        assert time.monotonic() - waited < PATIENCE
        time.sleep(0.05)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out, err = process.communicate(timeout=PATIENCE)
    assert time.monotonic() - sent < 20.0
    assert (process.returncode, out, err.strip()) == (130, b"", b"cutline: stopped")
    finished = ["curves-setup-1.csv", "figure-1.png", "figure-1.svg", "table.csv", "table.md"]
    assert sorted(os.listdir(tmp_path)) == finished
    with open(tmp_path / "table.csv") as file:
        assert len(list(csv.DictReader(file))) == 10
    assert (tmp_path / "figure-1.svg").read_text().endswith("</svg>\n")


def test_help_has_examples(cutline: Run) -> None:
    assert "cutline paper --setups 1,2 --runs 500 --out quick-look" in cutline("paper", "--help").out
