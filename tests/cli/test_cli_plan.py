"""cutline plan: what it prints, from every kind of guess, and how it refuses what it cannot use."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from cutline.planning import Beliefs, Plan, plan

Run = Callable[..., Any]

MEANS = [0.3, 0.42, 0.58, 0.7]


def expected(guess: Any = MEANS, threshold: float = 0.5, **options: Any) -> Plan:
    return plan(guess, threshold, **{"errors": 0.5, "progress": False} | options)


def test_the_table_is_the_text_of_the_plan(cutline: Run) -> None:
    done = cutline("plan", "--means", "0.3,0.42,0.58,0.7", "--errors", "0.5", "--jobs", "1", "--seed", "7")
    assert (done.status, done.out, done.err) == (0, f"{expected(seed=7)}\n", "")


def test_json_holds_every_field_of_the_plan(cutline: Run) -> None:
    arguments = ("--policy", "APT(0.05)", "--accuracy", "0.875", "--format", "json")
    done = cutline("plan", "--means", "0.3,0.42,0.58,0.7", *arguments)
    assert json.loads(done.out) == json.loads(json.dumps(asdict(expected(policy="APT(0.05)"))))


def test_json_says_null_where_there_is_no_number(cutline: Run) -> None:
    found = json.loads(cutline("plan", "--means", "0.5", "--errors", "0.4", "--format", "json").out)
    assert (found["budget"], found["expected_errors"], found["curve"]) == (None, None, [])


def test_means_are_read_from_a_file(cutline: Run, tmp_path: Path) -> None:
    file = tmp_path / "means.csv"
    file.write_text("arm,guess\na,0.3\nb,0.42\nc,0.58\nd,0.7\n")
    done = cutline("plan", "--means-file", file, "--means-column", "guess", "--errors", "0.5")
    assert done.out == f"{expected()}\n"


@pytest.mark.slow
def test_pilot_results_are_read_from_a_file(cutline: Run, tmp_path: Path) -> None:
    file = tmp_path / "pilot.csv"
    file.write_text("arm,pulls,total\na,10,3\nb,20,11\nc,5,5\n")
    done = cutline("plan", "--pilot", file, "--errors", "0.9", "--threshold", "0.4")
    assert done.out == f"{expected(Beliefs.after([10, 20, 5], [3, 11, 5]), 0.4, errors=0.9)}\n"


def test_a_pilot_result_that_is_out_of_range_is_named_by_its_line(cutline: Run, tmp_path: Path) -> None:
    file = tmp_path / "pilot.csv"
    file.write_text("arm,pulls,total\na,10,3\nb,2000000,5\n")
    done = cutline("plan", "--pilot", file, "--errors", "0.7")
    message = f"cutline: {file}, line 3: total 5 of 2000000 pulls; needed is 0 <= total <= pulls < 1e6\n"
    assert (done.status, done.out, done.err) == (2, "", message)


@pytest.mark.slow
def test_a_prior_goes_with_a_number_of_arms(cutline: Run) -> None:
    done = cutline("plan", "--prior", "2,2", "--arms", "20", "--errors", "5")
    assert done.out == f"{expected(Beliefs.prior(2, 2, 20), errors=5)}\n"


def test_a_target_out_of_reach_is_an_answer_and_not_an_error(cutline: Run) -> None:
    done = cutline("plan", "--means", "0.5,0.7", "--errors", "0.4")
    assert (done.status, done.err) == (0, "")
    assert "1 of the 2 means lies on the threshold" in done.out


def test_a_figure_is_drawn_on_request(cutline: Run, tmp_path: Path) -> None:
    done = cutline("plan", "--means", "0.3,0.42,0.58,0.7", "--errors", "0.5", "--plot", tmp_path / "plan.svg")
    assert done.status == 0
    assert "Lai" in (tmp_path / "plan.svg").read_text()


def test_a_figure_without_anything_to_draw_is_left_out_and_said(cutline: Run, tmp_path: Path) -> None:
    done = cutline("plan", "--means", "0.5,0.7", "--errors", "0.4", "--plot", tmp_path / "plan.svg")
    assert done.status == 0
    assert done.err == "no figure: nothing was simulated\n"
    assert not (tmp_path / "plan.svg").exists()


GIVE = "give the guess once: --means 0.2,0.4, --means-file FILE, --pilot FILE or --prior A,B"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--errors 1", GIVE),
        ("--errors 1 --means 0.4 --prior 2,2 --arms 3", GIVE),
        ("--errors 1 --prior 2,2", "--prior and --arms go together, as in --prior 2,2 --arms 1000"),
        ("--errors 1 --means 0.4 --arms 3", "--prior and --arms go together, as in --prior 2,2 --arms 1000"),
        ("--errors 1 --prior 2 --arms 3", "--prior has 1 numbers; it must have two, as in --prior 2,2"),
        ("--errors 1 --prior 2,x --arms 3", "--prior: number 2 is 'x'; it must be a number, as in 2,2"),
        ("--errors 1 --means 0.4 --means-column m", "--means-column goes with --means-file"),
        ("--means 0.4", "give the target once: either errors, such as 50, or accuracy, such as 0.95"),
        ("--errors 1 --means 0.4 --threshold 2", "threshold 2.0 is outside (0, 1)"),
        ("--errors 1 --means 0.4 --plot plan.doc", "plan.doc: a figure's name must end in one of .svg, .png, .pdf"),
    ],
)
def test_what_does_not_fit_is_one_line_and_status_2(cutline: Run, arguments: str, message: str) -> None:
    done = cutline("plan", *arguments.split())
    assert (done.status, done.out, done.err) == (2, "", f"cutline: {message}\n")
