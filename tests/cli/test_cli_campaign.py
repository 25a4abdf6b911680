"""cutline campaign: create, list, status, ask, tell, decisions and delete, as a script uses them."""

import csv
import io
import json
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import click
import pytest

from cutline.campaign import Campaign
from cutline.cli.campaign import command

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("arms.txt").write_text("a\nb\n")
    return tmp_path


@pytest.fixture
def campaign(cutline: Run) -> Run:
    """Run ``cutline campaign ARGUMENTS`` on x.db, where there is a campaign of two arms and four pulls."""

    def run(what: str, *arguments: object) -> Any:
        return cutline("campaign", what, "--db", "x.db", *arguments)

    done = run("create", "--arms", "arms.txt", "--threshold", "0.5", "--budget", "4")
    assert (done.status, done.out, done.err) == (0, "", "campaign 'main' in x.db: 2 arms\n")
    return run


def test_every_setting_can_be_given_and_is_shown(campaign: Run) -> None:
    settings = "--threshold 0.3 --budget 9 --policy APT(0.05) --seed 7 --max-pulls-per-arm 5 --repeat-workers"
    more = "--prior 2,3 --target-errors 0.25 --decide mean --keys x,b"
    given = [*settings.split(), *more.split(), "--question", "Is it?", "--labels", "no bird, bird"]
    assert campaign("create", "--campaign", "other", "--arms", "arms.txt", *given).status == 0
    assert json.loads(campaign("status", "--campaign", "other", "--format", "json").out) == {
        "name": "other",
        "arms": 2,
        "retired": 0,
        "known_answers": 0,
        "threshold": 0.3,
        "policy": "APT(0.05)",
        "budget": 9,
        "seed": 7,
        "max_pulls_per_arm": 5,
        "repeat_workers": True,
        "prior": [2.0, 3.0],
        "target_errors": 0.25,
        "decide": "mean",
        "question": "Is it?",
        "labels": ["no bird", "bird"],
        "keys": ["x", "b"],
        "workers": "alike",
        "excluded": [],
        "known_rate": 0.0,
        "spent": 0,
        "in_flight": 0,
        "left": 9,
        "observed": 0,
        "expected_errors": pytest.approx(2 * 0.3483, abs=1e-4),  # Beta(2, 3) below 0.3: 1 - (0.7^4 + 4 0.3 0.7^3)
        "more_needed": ANY,
        "least_errors": 0.0,
        "finished": None,
    }


def test_workers_are_excluded_and_readmitted_one_by_one_and_a_slip_of_the_pen_is_refused(campaign: Run) -> None:
    made = ("create", "--campaign", "w", "--arms", "arms.txt", "--threshold", "0.5", "--budget", "9")
    assert campaign(*made, "--workers", "weighed").status == 0
    for worker in ("ann", "bob"):
        campaign("ask", "--campaign", "w", "--worker", worker)
    change = partial(campaign, "change", "--campaign", "w")
    assert change("--exclude", "bob").err == "campaign 'w': excluded is bob, was -\n"
    assert change("--exclude", "ann").err == "campaign 'w': excluded is ann,bob, was bob\n"
    assert "excluded          ann, bob\n" in campaign("status", "--campaign", "w").out
    slip = change("--exclude", "Bob")
    assert (slip.status, slip.err) == (
        2,
        "cutline: campaign 'w' has no worker 'Bob': nobody of that name has been asked or has answered; it has 'bob': "
        "are the names written alike?\n",
    )
    assert change("--readmit", "bob", "--readmit", "ann").err == "campaign 'w': excluded is -, was ann,bob\n"


def test_a_known_answer_is_taken_back(campaign: Run) -> None:
    made = ("create", "--campaign", "w", "--arms", "arms.txt", "--threshold", "0.5", "--budget", "9")
    assert campaign(*made, "--workers", "weighed").status == 0
    arms = Path("arms.txt").read_text().split()
    Path("gold.csv").write_text(f"task,label\n{arms[0]},1\n{arms[1]},0\n")
    Path("wrong.txt").write_text(f"{arms[1]}\n")
    change = partial(campaign, "change", "--campaign", "w")
    assert change("--known", "gold.csv").err == f"campaign 'w': answers known, 2: {arms[0]}, {arms[1]}\n"
    assert change("--forget", "wrong.txt").err == f"campaign 'w': answers known no more, 1: {arms[1]}\n"
    assert change("--forget", "wrong.txt").err == "campaign 'w': nothing is new\n"


def test_a_campaign_from_ask_to_decisions(campaign: Run) -> None:
    asked = campaign("ask", "-n", "3", "--format", "json")
    found = json.loads(asked.out)
    assert (asked.status, found["reason"], len(found["pulls"])) == (0, None, 3)
    words = [word for pull in found["pulls"] for word in (pull["pull"], "1" if pull["arm"] == "a" else "0")]
    assert campaign("tell", *words).err == "3 told\n"
    assert campaign("tell", *words).err == "0 told, 3 had been told already\n"
    last = campaign("ask", "--worker", "ann").out
    name, arm = last.rstrip("\n").split("\t")
    assert campaign("tell", name, "1" if arm == "a" else "0").status == 0
    table = campaign("decisions").out.splitlines()
    assert table[0].split() == ["arm", "pulls", "mean", "decision", "wrong", "low", "high"]
    assert [line.split()[:4:3] for line in table[1:]] == [["a", "above"], ["b", "below"]]
    rows = list(csv.DictReader(io.StringIO(campaign("decisions", "--format", "csv").out)))
    assert [(row["arm"], row["mean"], row["decision"]) for row in rows] == [
        ("a", "1.0", "above"),
        ("b", "0.0", "below"),
    ]
    assert len(json.loads(campaign("decisions", "--nearest", "1", "--format", "json").out)) == 1
    status = campaign("status").out
    assert [line for line in status.splitlines() if line.startswith("finished")] == ["finished          budget spent"]


def test_what_was_done_can_be_read_by_a_program(campaign: Run) -> None:
    settings = ("--arms", "arms.txt", "--threshold", "0.5", "--budget", "9", "--format", "json")
    made = campaign("create", "--campaign", "other", *settings)
    assert made.err == "campaign 'other' in x.db: 2 arms\n"
    assert made.out == campaign("status", "--campaign", "other", "--format", "json").out
    pull, other = (line.split("\t")[0] for line in campaign("ask", "-n", "2", "--campaign", "main").out.splitlines())
    assert campaign("tell", "--campaign", "main", pull, "1").out == ""
    told = campaign("tell", "--campaign", "main", pull, "1", other, "0", "--format", "json")
    assert (json.loads(told.out), told.err) == ({"new": 1, "known": 1}, "1 told, 1 had been told already\n")
    gone = campaign("delete", "--campaign", "other", "--yes", "--format", "json")
    assert (json.loads(gone.out), gone.err) == ({"deleted": "other"}, "campaign 'other' deleted\n")


def test_a_pull_that_cannot_be_answered_goes_back_to_the_budget_and_to_others(campaign: Run) -> None:
    pull, arm = campaign("ask", "--worker", "ann").out.split()
    done = campaign("abandon", pull)
    assert (done.status, done.out, done.err) == (0, "", f"pull {pull} abandoned\n")
    status = json.loads(campaign("status", "--format", "json").out)
    assert (status["spent"], status["in_flight"], status["left"]) == (0, 0, 4)
    assert campaign("ask", "-n", "2", "--worker", "ann").out.count("\n") == 1
    assert arm in campaign("ask", "-n", "2", "--worker", "bob").out
    assert json.loads(campaign("abandon", pull, "--format", "json").out) == {"abandoned": pull}


def test_an_ask_says_why_it_gets_nothing_by_its_exit_status(campaign: Run) -> None:
    first = campaign("ask", "-n", "9", "--worker", "ann")
    assert (first.status, first.out.count("\n")) == (0, 2)
    assert first.err == "2 of 9: nothing for this worker\n"
    nothing = campaign("ask", "--worker", "ann", "--format", "json")
    assert (nothing.status, json.loads(nothing.out)) == (4, {"pulls": [], "reason": "nothing for this worker"})
    others = campaign("ask", "-n", "2").out
    flying = campaign("ask")
    assert (flying.status, flying.out, flying.err) == (4, "", "0 of 1: all in flight\n")
    for line in (first.out + others).splitlines():
        campaign("tell", line.split("\t")[0], "1")
    finished = campaign("ask")
    assert (finished.status, finished.out, finished.err) == (3, "", "0 of 1: budget spent\n")


def test_a_lease_that_has_ended_is_given_back(campaign: Run) -> None:
    campaign("ask", "-n", "4", "--lease", "0.05")
    time.sleep(0.1)
    assert json.loads(campaign("status", "--format", "json").out)["left"] == 4
    assert campaign("ask", "-n", "4").out.count("\n") == 4


def test_all_campaigns_of_a_database_are_listed(campaign: Run) -> None:
    campaign("create", "--campaign", "b\x41r", "--arms", "arms.txt", "--threshold", "0.25", "--budget", "1000")
    lines = campaign("list").out.splitlines()
    assert [line.split() for line in lines[1:]] == [
        ["bAr", "2", "0.25", "1,000", "0", "0", "1,000", "0.50", "-"],
        ["main", "2", "0.5", "4", "0", "0", "4", "1.00", "-"],
    ]
    assert [row["name"] for row in json.loads(campaign("list", "--format", "json").out)] == ["bAr", "main"]
    several = campaign("status")
    assert (several.status, several.out) == (2, "")
    assert several.err == "cutline: x.db: there are several campaigns, 'bAr', 'main'; give the name of one\n"


def test_deleting_needs_to_be_confirmed(campaign: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    refused = campaign("delete", "--campaign", "main")
    assert (refused.status, refused.err) == (
        2,
        "cutline: deleting cannot be undone; give --yes to do it without being asked\n",
    )
    assert campaign("status").status == 0
    assert campaign("delete", "--campaign", "main", "--yes").err == "campaign 'main' deleted\n"
    assert json.loads(campaign("list", "--format", "json").out) == []
    assert campaign("status").err == "cutline: x.db: there are no campaigns in this database\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["create", "--arms", "arms.txt", "--budget", "4"], "--threshold is missing"),
        (["create", "--arms", "arms.txt", "--threshold", "0.5", "--budget", "4"], "x.db: there is a campaign 'main'"),
        (["create", "--arms", "arms.txt", "--threshold", "1", "--budget", "4"], "threshold 1.0 is outside (0, 1)"),
        (["ask", "-n", "0"], "n is 0; it must be a whole number from 1"),
        (["ask", "--lease", "-1"], "lease is -1.0; it must be a number above 0"),
        (["ask", "--campaign", "x"], "x.db: no campaign is called 'x'; there are 'main'"),
        (["tell", "1"], "pull '1' has no reward; give pairs of pull and reward"),
        (["tell", "1", "1"], "campaign 'main' has no pull '1'"),
        (["tell", "1", "2"], "'2' is not a reward; it must be a number in [0, 1]"),
        (["tell", "1", ""], "'' is not a reward; it must be a number in [0, 1]"),
        (["tell", "1", "maybe"], "'maybe' is not a reward; it must be a number in [0, 1]"),
        (["tell", "1", "NaN"], "'NaN' is not a reward; it must be a number in [0, 1]"),
        (["decisions", "--nearest", "0"], "nearest is 0; it must be a whole number from 1"),
        (["decisions", "--confidence", "1"], "confidence is 1.0; it must be a number between 0 and 1"),
        (["delete"], "Missing option '--campaign'."),
        (["abandon", "1"], "campaign 'main' has no pull '1'"),
        (["forget"], "No such command 'forget'; there are abandon, ask, "),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(campaign: Run, arguments: list[str], message: str) -> None:
    before = Path("x.db").read_bytes()
    done = campaign(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1
    assert Path("x.db").read_bytes() == before


def test_no_command_makes_a_database_by_looking_for_one(cutline: Run) -> None:
    for what in ("list", "status", "ask", "decisions"):
        done = cutline("campaign", what, "--db", "none.db")
        assert (done.status, done.err) == (2, "cutline: none.db: there is no such database\n")
    assert os.listdir() == ["arms.txt"]


@pytest.mark.parametrize("name", command.list_commands(click.Context(command)))
def test_the_help_of_every_command_has_an_example(cutline: Run, name: str) -> None:
    done = cutline("campaign", name, "--help")
    assert done.status == 0
    assert f"\n    cutline campaign {name} --db " in done.out


def test_ids_are_shown_on_one_line_and_written_in_full(cutline: Run) -> None:
    ids = ["two\nlines", "x" * 5000, "tab\there", "\x1b[31mred"]
    Campaign.create("x.db", "main", ids, 0.5, "LSA", 4).close()
    table = cutline("campaign", "decisions", "--db", "x.db").out
    assert [line.split()[0] for line in table.splitlines()[1:]] == [
        r"two\nlines",
        "x" * 5000,
        r"tab\there",
        r"\x1b[31mred",
    ]
    assert [
        row["arm"] for row in json.loads(cutline("campaign", "decisions", "--db", "x.db", "--format", "json").out)
    ] == ids


@pytest.mark.parametrize("letter", ["\t", "\n", "\r"])
def test_an_id_that_would_break_its_line_is_asked_for_as_json_only(cutline: Run, letter: str) -> None:
    Campaign.create("x.db", "main", [f"a{letter}b"], 0.5, "LSA", 1).close()
    refused = cutline("campaign", "ask", "--db", "x.db")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == (
        f"cutline: the id {f'a{letter}b'!r} has a tab or a line end, so that its line could be misread; give --format "
        "json (nothing was asked for)\n"
    )
    asked = cutline("campaign", "ask", "--db", "x.db", "--format", "json")
    assert [pull["arm"] for pull in json.loads(asked.out)["pulls"]] == [f"a{letter}b"]
