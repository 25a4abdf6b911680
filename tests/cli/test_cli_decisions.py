"""How decisions are shown by commands, and the exit status that they are worth."""

import json
import os
import pty
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign

Run = Callable[..., Any]

LONG = "tests/unit/test_a_module_with_a_long_name.py::TestClass::test_with_a_long_name[and, parameters]"


@pytest.fixture(autouse=True)
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A campaign in which the arm with the long id is below, another above, and a third undecided."""
    monkeypatch.chdir(tmp_path)
    with Campaign.create("x.db", "main", [LONG, "good", "new"], 0.5, "Uniform", 2) as campaign:
        pulls = campaign.ask(3, distinct=True, without=["new"])
        campaign.tell_many([(pull, pull.arm == "good") for pull in pulls])


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ((), 0),
        (("--fail-on", "below"), 5),
        (("--fail-on", "undecided"), 5),
        (("--fail-on", "below", "--only", "above"), 5),
    ],
)
def test_the_exit_status_says_whether_there_are_arms_that_must_not_be(
    cutline: Run, words: tuple[str, ...], status: int
) -> None:
    assert cutline("campaign", "decisions", "--db", "x.db", *words).status == status
    assert cutline("run", "--db", "x.db", *words, "--", "true", "{arm}").status == status


def test_good_arms_alone_are_no_reason_to_fail(cutline: Run) -> None:
    with Campaign.create("y.db", "main", ["good"], 0.5, "Uniform", 1) as campaign:
        campaign.run(lambda pull: 1)
    done = cutline("campaign", "decisions", "--db", "y.db", "--fail-on", "below", "--fail-on", "undecided")
    assert done.status == 0


def test_ids_of_one_kind_make_a_list_for_quarantine(cutline: Run) -> None:
    assert cutline("campaign", "decisions", "--db", "x.db", "--only", "below", "--format", "ids").out == f"{LONG}\n"
    assert cutline("campaign", "decisions", "--db", "x.db", "--only", "above", "--format", "ids").out == "good\n"


def test_ids_with_a_line_end_are_refused_as_lines_before_anything_is_written(cutline: Run) -> None:
    with Campaign.create("y.db", "main", ["a\nb", "c"], 0.5, "Uniform", 2) as campaign:
        campaign.run(lambda pull: pull.arm == "a\nb")
    done = cutline("campaign", "decisions", "--db", "y.db", "--format", "ids", "--junit", "j.xml")
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "cutline: the id 'a\\nb' has a line end, so that its lines could be misread; give --format json or csv\n"
    )
    assert not Path("j.xml").exists()
    assert cutline("campaign", "decisions", "--db", "y.db", "--format", "ids", "--only", "below").out == "c\n"


def test_ids_are_whole_where_the_output_is_no_terminal(cutline: Run) -> None:
    lines = cutline("campaign", "decisions", "--db", "x.db").out.splitlines()
    assert lines[1].startswith(f"{LONG}      1  0.0000      below")


@pytest.mark.usefixtures("default_signals")
def test_long_ids_are_shortened_on_a_terminal(start_process: Callable[..., Any]) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cutline", "campaign", "decisions", "--db", "x.db"]
    assert start_process(command, stdout=theirs).wait() == 0
    os.close(theirs)
    shown = os.read(ours, 10_000).decode().splitlines()[1]
    os.close(ours)
    assert shown.startswith("tests/unit/test_a_module_wit...")


def test_junit_is_written_too(cutline: Run) -> None:
    done = cutline("campaign", "decisions", "--db", "x.db", "--junit", "out/j.xml", "--format", "ids")
    assert (done.status, done.out) == (0, f"{LONG}\ngood\nnew\n")
    (suite,) = ET.parse("out/j.xml").getroot()
    assert [(case.get("classname"), case.get("name"), [child.tag for child in case]) for case in suite] == [
        ("main", LONG, ["failure"]),
        ("main", "good", []),
        ("main", "new", ["skipped"]),
    ]


def test_markdown_is_a_summary(cutline: Run) -> None:
    done = cutline("campaign", "decisions", "--db", "x.db", "--format", "markdown", "--only", "below")
    lines = done.out.splitlines()
    assert lines[0] == "1 below, 1 above, 1 undecided (threshold 0.5)"
    assert lines[4].startswith(f"| `{LONG}` | 1 | 0.0000 | below |")
    assert len(lines) == 5


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--nearest", "1", "--fail-on", "below"), "--fail-on and --junit look at all arms; leave out --nearest"),
        (("--junit", "."), "cannot write .: it is a folder; give the name of a file"),
    ],
)
def test_what_cannot_be_done_is_refused(cutline: Run, words: tuple[str, ...], message: str) -> None:
    done = cutline("campaign", "decisions", "--db", "x.db", *words)
    assert (done.status, done.out, done.err) == (2, "", f"cutline: {message}\n")


def test_answers_are_weighed_by_who_gave_them(cutline: Run) -> None:
    with Campaign.create("w.db", "main", ["a", "b", "c"], 0.5, "Uniform", 1) as campaign:
        campaign.observe_many([("a", 1, "ann"), ("a", 0, "bob"), ("b", 0, "ann"), ("b", 1, "bob"), ("c", 1, "ann")])
        weighed = campaign.weigh({"a": True}, ["bob"]).decisions
    Path("gold.csv").write_text("task,label\na,1\n")
    done = cutline(
        "campaign",
        "decisions",
        "--db",
        "w.db",
        "--workers",
        "weighed",
        "--known",
        "gold.csv",
        "--exclude",
        "bob",
        "--format",
        "csv",
    )
    lines = [line.split(",") for line in done.out.splitlines()]
    assert [(line[0], line[4]) for line in lines[1:]] == [("a", "above"), ("b", "below"), ("c", "above")]
    assert [float(line[5]) for line in lines[1:]] == [item.wrong for item in weighed]
    assert done.err.startswith("1 worker weighed: 0.")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--workers", "some"), "workers is 'some'; it must be one of alike, weighed"),
        (
            ("--exclude", "bob"),
            "known answers and workers to exclude are for workers that are weighed: give --workers weighed",
        ),
        (("--workers", "weighed", "--exclude", "bob"), "campaign 'main' has no answer by 'bob'"),
        (("--workers", "weighed", "--known", "none.csv"), "cannot read none.csv"),
        (("--workers", "weighed", "--nearest", "0"), "nearest is 0; it must be a whole number from 1"),
    ],
)
def test_what_cannot_be_weighed_is_refused_in_one_line(cutline: Run, words: tuple[str, ...], message: str) -> None:
    done = cutline("campaign", "decisions", "--db", "x.db", *words)
    assert (done.status, done.out) == (2, "")
    assert message in done.err


def test_workers_are_shown_with_how_often_each_is_right(cutline: Run) -> None:
    with Campaign.create("w.db", "main", ["a", "b", "c"], 0.5, "Uniform", 9) as campaign:
        campaign.observe_many([("a", 1, "ann"), ("a", 0, "bob"), ("b", 0, "ann"), ("b", 1, "bob"), ("c", 1, "ann")])
        campaign.ask(1, worker="eve")
        rates = {item.name: item for item in campaign.weigh(exclude=["bob"]).workers}
    words = ("campaign", "workers", "--db", "w.db", "--rates", "--exclude", "bob")
    ann, bob, eve = json.loads(cutline(*words, "--format", "json").out)
    assert (ann["right_on_no"], ann["right_on_yes"]) == (rates["ann"].right_on_no, rates["ann"].right_on_yes)
    low, high = rates["ann"].on_yes or (0.0, 0.0)
    assert ann["on_yes"] == [low, high]
    assert (bob["answers"], bob["right_on_no"], bob["on_yes"]) == (2, None, None)
    assert (eve["in_flight"], eve["right_on_no"]) == (1, None)
    lines = cutline(*words).out.splitlines()
    assert lines[0].endswith("right on yes")
    assert lines[1].endswith(f"{rates['ann'].right_on_yes:.3f} [{low:.3f}, {high:.3f}]")
    assert lines[2].split()[-2:] == ["-", "-"]
    assert "right" not in cutline(*words[:4]).out
