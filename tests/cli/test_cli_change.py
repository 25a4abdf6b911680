"""cutline campaign change, history, rename and copy."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign

Run = Callable[..., Any]


@pytest.fixture
def campaign(cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run ``cutline campaign ARGUMENTS`` on x.db, where there is a campaign of two arms and four pulls."""
    monkeypatch.chdir(tmp_path)
    Campaign.create("x.db", "main", ["a", "b"], 0.5, "LSA", 4).close()
    return lambda what, *arguments: cutline("campaign", what, "--db", "x.db", *arguments)


def test_every_setting_that_can_be_changed_is_and_history_shows_it(campaign: Run) -> None:
    given = "--budget 9 --threshold 0.3 --policy APT(0.05) --max-pulls-per-arm 5 --prior 2,3 --decide mean"
    done = campaign("change", *given.split(), "--target-errors", "0.25")
    assert (done.status, done.out) == (0, "")
    assert done.err == (
        "campaign 'main': threshold is 0.3, was 0.5; policy is APT(0.05), was LSA(1.35); budget is 9, was 4; "
        "max pulls per arm is 5, was -; prior is 2.0,3.0, was -; target errors is 0.25, was -; "
        "decide is mean, was likelier\n"
    )
    again = campaign("change", "--prior", "learnt", "--max-pulls-per-arm", "none", "--target-errors", "none")
    assert again.err.count("is -, was") == 3
    rows = json.loads(campaign("history", "--format", "json").out)
    assert [(row["what"], row["before"], row["after"]) for row in rows[2:6]] == [
        ("budget", 4, 9),
        ("max_pulls_per_arm", None, 5),
        ("prior", None, [2.0, 3.0]),
        ("target_errors", None, 0.25),
    ]
    lines = campaign("history").out.splitlines()
    assert lines[0].split() == ["time", "what", "before", "after"]
    assert lines[3].split()[2:] == ["budget", "4", "9"]
    assert len(lines) == 11


def test_what_is_changed_is_json_if_asked_for_and_nothing_new_is_said(campaign: Run) -> None:
    done = campaign("change", "--budget", "6", "--threshold", "0.5", "--format", "json")
    (row,) = json.loads(done.out)["changed"]
    assert (row["what"], row["before"], row["after"]) == ("budget", 4, 6)
    assert campaign("change", "--budget", "6").err == "campaign 'main': nothing is new\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("", "nothing to change is given, such as --budget 6000"),
        ("--budget 0", "budget is 0; it must be a whole number from 1 to 2^53"),
        ("--prior x", "--prior: number 1 is 'x'; it must be a number, as in 1,1, or learnt"),
        ("--prior 1", "prior is (1.0,); it must be two numbers above 0, the a and b of a Beta"),
        ("--max-pulls-per-arm many", "--max-pulls-per-arm is 'many'; it must be a whole number, or none"),
        ("--target-errors few", "--target-errors is 'few'; it must be a number, or none"),
    ],
)
def test_a_bad_change_is_refused_in_one_line(campaign: Run, words: str, message: str) -> None:
    done = campaign("change", *words.split())
    assert (done.status, done.out, done.err) == (2, "", f"cutline: {message}\n")
    assert json.loads(campaign("history", "--format", "json").out) == []


def test_a_campaign_is_renamed_and_copied(campaign: Run) -> None:
    pull = campaign("ask").out.split()[0]
    campaign("tell", pull, "1")
    assert campaign("rename", "fruit").err == "campaign 'main' is called 'fruit' now\n"
    assert campaign("copy", "two").err == "campaign 'two' is a copy of 'fruit': 2 arms, 1 result\n"
    done = campaign("copy", "--campaign", "two", "three", "--without-results", "--format", "json")
    assert (json.loads(done.out)["name"], json.loads(done.out)["spent"]) == ("three", 0)
    assert campaign("copy", "--campaign", "two", "fruit").err == (
        "cutline: x.db: there is a campaign 'fruit' already\n"
    )
    rows = json.loads(campaign("list", "--format", "json").out)
    assert [(row["name"], row["spent"]) for row in rows] == [("fruit", 1), ("three", 0), ("two", 1)]
