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
    words = ["--question", "Is it a bird?", "--labels", "not a bird, bird", "--keys", "x,b"]
    done = campaign("change", *given.split(), "--target-errors", "0.25", *words)
    assert (done.status, done.out) == (0, "")
    assert done.err == (
        "campaign 'main': threshold is 0.3, was 0.5; policy is APT(0.05), was LSA(1.35); budget is 9, was 4; "
        "max pulls per arm is 5, was -; prior is 2.0,3.0, was -; target errors is 0.25, was -; "
        "decide is mean, was likelier; question is Is it a bird?, was -; labels is not a bird,bird, was -; "
        "keys is x,b, was -\n"
    )
    names = ("max-pulls-per-arm", "target-errors", "question", "labels", "keys")
    again = campaign("change", "--prior", "learnt", *(word for name in names for word in (f"--{name}", "none")))
    assert again.err.count("is -, was") == 6
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
    assert len(lines) == 17


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


def test_arms_join_are_retired_and_brought_back(campaign: Run) -> None:
    Path("new.txt").write_text("c\nb\nd\n")
    Path("old.txt").write_text("a\nc\n")
    done = campaign("change", "--add-arms", "new.txt", "--retire-arms", "old.txt")
    assert done.err == "campaign 'main': arms added, 2: c, d; arms retired, 2: a, c\n"
    assert campaign("decisions", "--format", "ids").out == "b\nd\n"
    assert campaign("decisions", "--format", "ids", "--retired").out == "a\nc\n"
    assert campaign("change", "--bring-back-arms", "old.txt").err == ("campaign 'main': arms brought back, 2: a, c\n")
    Path("old.txt").write_text("x\n")
    assert campaign("change", "--retire-arms", "old.txt").err == "cutline: campaign 'main' has no arm 'x'\n"
    lines = campaign("history").out.splitlines()
    assert [line.split("  -  ")[-1].strip() for line in lines[1:]] == ["2: c, d", "2: a, c", "2: a, c"]


def test_arms_in_json_lines_have_payloads(campaign: Run, cutline: Run) -> None:
    Path("new.jsonl").write_text(
        '{"id": "c", "payload": {"n": 1.5}}\n\n"d"\n{"arm": "a", "payload": "a.jpg", "mean": 1}\n'
    )
    done = campaign("change", "--add-arms", "new.jsonl")
    assert done.err == "campaign 'main': arms added, 2: c, d; payloads replaced, 1: a\n"
    made = cutline("campaign", "create", "--db", "y.db", "--arms", "new.jsonl", "--threshold", "0.5", "--budget", "3")
    assert made.status == 0
    with Campaign.open("y.db", "main") as opened:
        assert {pull.arm: pull.payload for pull in opened.ask(3)} == {"c": {"n": 1.5}, "d": None, "a": "a.jpg"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a b", 'not JSON (Expecting value: line 1 column 1 (char 0)); it must be like {"id": "a", "payload": "what'),
        ('{"payload": 1}', "'{\"payload\": 1}' has no id that is a text; it must be like"),
        ("3", "'3' has no id that is a text; it must be like"),
        ('"b"\n{"id": "b"}', "'b' stands in line 1 already"),
        ('{"id": "b", "known": 2}', "known is '2'; it must be 0 or 1, or be left out"),
    ],
)
def test_json_lines_that_are_no_arms_are_refused_with_their_line(campaign: Run, line: str, message: str) -> None:
    Path("new.jsonl").write_text(line)
    done = campaign("change", "--add-arms", "new.jsonl")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert done.err.startswith(f"cutline: new.jsonl, line {line.count(chr(10)) + 1}: {message}")


def test_arms_in_json_lines_have_answers_that_are_known(campaign: Run, cutline: Run) -> None:
    Path("new.jsonl").write_text('{"id": "c", "known": 1}\n{"id": "d", "known": false, "payload": "d.jpg"}\n"e"\n')
    weighed = ["--threshold", "0.5", "--budget", "3", "--workers", "weighed"]
    made = cutline("campaign", "create", "--db", "y.db", "--arms", "new.jsonl", *weighed)
    assert made.status == 0
    with Campaign.open("y.db", "main") as opened:
        assert [(item.above, item.known) for item in opened.decisions()] == [(True, True), (False, True), (None, False)]
    Path("more.jsonl").write_text('{"id": "e", "known": 1}\n{"id": "f", "known": 0}\n')
    changed = cutline("campaign", "change", "--db", "y.db", "--add-arms", "more.jsonl")
    assert changed.err == "campaign 'main': arms added, 1: f; answers known, 2: e, f\n"
    assert cutline("export", "decisions", "--db", "y.db", "--out", "again.jsonl").status == 0
    assert cutline("campaign", "create", "--db", "z.db", "--arms", "again.jsonl", *weighed).status == 0
    with Campaign.open("z.db", "main") as opened:
        assert [item.above for item in opened.decisions() if item.known] == [True, False, True, False]
    Path("gold.csv").write_text("task,label\nc,0\n")
    done = cutline("campaign", "create", "--db", "q.db", "--arms", "new.jsonl", "--known", "gold.csv", *weighed)
    assert done.err.startswith(
        "cutline: the known answer of 'c' is 1 in the file of arms and 0 in that of known answers"
    )
    alike = cutline("campaign", "create", "--db", "q.db", "--arms", "new.jsonl", *weighed[:-2])
    assert (done.status, alike.status) == (2, 2)
    assert alike.err.startswith("cutline: known answers are there for workers to be weighed by; give workers weighed")


def test_what_would_be_decided_with_another_threshold_is_shown(campaign: Run) -> None:
    with Campaign.open("x.db", "main") as opened:
        opened.observe_many([("a", 0.6)] * 9 + [("b", 0.9)] * 9)
    assert campaign("decisions", "--threshold", "0.7", "--format", "ids", "--only", "above").out == "b\n"
    assert campaign("decisions", "--format", "ids", "--only", "above").out == "a\nb\n"


def test_run_says_how_to_change_and_does_it_if_asked_to(campaign: Run, cutline: Run) -> None:
    Path("arms.txt").write_text("b\nc\n")
    run = ("run", "--db", "x.db", "--format", "ids", "--only", "above")
    command = ("--", "test", "{arm}", "=", "c")
    hint = "; cutline campaign change changes that, as --change of run and pytest does\n"
    assert cutline(*run, "--budget", "5", *command).err == f"cutline: campaign 'main': budget is 4, not 5{hint}"
    assert cutline(*run, "--arms", "arms.txt", *command).err == f"cutline: campaign 'main': arms: 'c' is new{hint}"
    assert cutline(*run, "--seed", "5", *command).err == "cutline: campaign 'main': seed is 0, not 5\n"
    done = cutline(*run, "--budget", "5", "--arms", "arms.txt", "--change", *command)
    assert (done.status, done.out) == (0, "c\n")
    Path("arms.txt").write_text("a\nb\n")
    assert cutline(*run, "--arms", "arms.txt", "--budget", "7", "--change", *command).status == 0
    with Campaign.open("x.db", "main") as opened:
        assert [item.arm for item in opened.decisions()] == ["a", "b"]
        assert [(item.what, item.after) for item in opened.history()] == [
            ("budget", 5),
            ("arms added", {"count": 1, "first": ["c"]}),
            ("arms retired", {"count": 1, "first": ["a"]}),
            ("budget", 7),
            ("arms retired", {"count": 1, "first": ["c"]}),
            ("arms brought back", {"count": 1, "first": ["a"]}),
        ]
        assert opened.status().spent == 7


def test_an_import_brings_new_arms_along_if_told_so(campaign: Run, cutline: Run) -> None:
    Path("labels.csv").write_text("task,worker,label\na,ann,1\nnew,ann,0\n")
    given = ("import", "labels.csv", "--db", "x.db")
    assert cutline(*given).err == "cutline: labels.csv, line 3: campaign 'main' has no arm 'new'\n"
    assert cutline(*given, "--add-arms").err == "campaign 'main': 2 new results\n"
    assert campaign("decisions", "--format", "ids").out == "a\nb\nnew\n"
