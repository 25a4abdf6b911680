"""cutline campaign correct, show, progress and workers."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign

Run = Callable[..., Any]


@pytest.fixture
def told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A pull of arm a that ann has told 1 with a note, in a database x.db in the working folder."""
    monkeypatch.chdir(tmp_path)
    with Campaign.create("x.db", "main", {"a": {"n": 1}}, 0.5, "LSA", 9, prior=(1, 1), clock=lambda: 1e9) as campaign:
        (pull,) = campaign.ask(1, worker="ann")
        campaign.tell(pull, 1, "looks\tripe")
        return pull.id


def test_a_correction_shows_in_the_history_of_the_arm(cutline: Run, told: str) -> None:
    done = cutline("campaign", "correct", "--db", "x.db", told, "0", "--note", "a stone", "--worker", "boss")
    assert (done.status, done.out, done.err) == (0, "", f"pull {told} corrected\n")
    again = cutline("campaign", "correct", "--db", "x.db", told, "0", "--format", "json")
    assert json.loads(again.out) == {"pull": told, "corrected": False}
    assert again.err == f"pull {told} has that reward already\n"
    first, second = cutline("campaign", "show", "--db", "x.db", "a").out.splitlines()[-2:]
    assert first.split() == ["2001-09-09", "01:46:40Z", "ann", "told", "looks\\tripe", told, "1"]
    assert second.split()[2:] == ["boss", "corrected", "a", "stone", told, "0"]
    shown = json.loads(cutline("campaign", "show", "--db", "x.db", "--format", "json", "a").out)
    assert (shown["arm"], shown["payload"], shown["decision"]) == ("a", {"n": 1}, "below")
    (pull,) = shown["history"]
    assert (pull["state"], pull["time"], len(pull["answers"])) == ("told", 1e9, 2)
    assert pull["answers"][0] == {"time": 1e9, "worker": "ann", "reward": 1, "note": "looks\tripe"}


def test_a_note_that_is_told_is_exported_and_comes_back_with_the_import(cutline: Run, told: str) -> None:
    asked = json.loads(cutline("campaign", "ask", "--db", "x.db", "--worker", "bob", "--format", "json").out)
    assert cutline("campaign", "tell", "--db", "x.db", asked["pulls"][0]["pull"], "0", "--note", "née").status == 0
    assert cutline("export", "observations", "--db", "x.db", "--out", "r.csv").status == 0
    assert cutline("import", "r.csv", "--db", "y.db", "--threshold", "0.5", "--budget", "9").status == 0
    with Campaign.open("y.db", "main") as copy:
        assert [(item.worker, item.note) for item in copy.results()] == [("ann", "looks\tripe"), ("bob", "née")]
    assert cutline("import", "r.csv", "--db", "x.db").err == "campaign 'main': nothing new; 2 were there already\n"


def test_progress_and_workers_are_tables_and_json(cutline: Run, told: str) -> None:
    lines = cutline("campaign", "progress", "--db", "x.db").out.splitlines()
    assert [line.split()[2:] for line in lines[1:3]] == [["0", "0", "0", "0.50"], ["1", "0", "1", "0.25"]]
    points = json.loads(cutline("campaign", "progress", "--db", "x.db", "--format", "json").out)
    assert points[1] == {"time": 1e9, "spent": 1, "observed": 0, "decided": 1, "expected_errors": 0.25}
    lines = cutline("campaign", "workers", "--db", "x.db").out.splitlines()
    assert lines[1].split() == ["ann", "1", "1.000", "0", "2001-09-09", "01:46:40Z"]
    (worker,) = json.loads(cutline("campaign", "workers", "--db", "x.db", "--format", "json").out)
    assert worker == {"worker": "ann", "answers": 1, "agreeing": 1, "agreement": 1, "in_flight": 0, "last_seen": 1e9}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("correct", "nonsense", "1"), "campaign 'main' has no pull 'nonsense'"),
        (("correct", "{told}", "7"), "'7' is not a reward; it must be a number in [0, 1]"),
        (("correct", "{told}", "0", "--worker", ""), "worker '' is not an id"),
        (("show", "b"), "campaign 'main' has no arm 'b'"),
        (("show", "a", "--last", "0"), "last is 0"),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(
    cutline: Run, told: str, arguments: tuple[str, ...], message: str
) -> None:
    before = Path("x.db").read_bytes()
    done = cutline("campaign", arguments[0], "--db", "x.db", *(text.format(told=told) for text in arguments[1:]))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1
    assert Path("x.db").read_bytes() == before


def test_settings_are_called_the_same_when_they_change_and_in_the_history(cutline: Run, told: str) -> None:
    done = cutline("campaign", "change", "--db", "x.db", "--max-pulls-per-arm", "7", "--target-errors", "0.5")
    assert done.err == "campaign 'main': max pulls per arm is 7, was -; target errors is 0.5, was -\n"
    lines = cutline("campaign", "history", "--db", "x.db").out.splitlines()[1:]
    assert [line[22:].split("  ")[0] for line in lines] == ["max pulls per arm", "target errors"]
    rows = json.loads(cutline("campaign", "history", "--db", "x.db", "--format", "json").out)
    assert [row["what"] for row in rows] == ["max_pulls_per_arm", "target_errors"]
