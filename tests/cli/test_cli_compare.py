"""cutline campaign compare."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two campaigns in a database, in which q is decided differently."""
    monkeypatch.chdir(tmp_path)
    flat = (1.0, 1.0)
    with (
        Campaign.create("x.db", "a", ["p", "q", "s"], 0.5, "Uniform", 9, prior=flat) as a,
        Campaign.create("x.db", "b", ["p", "q"], 0.5, "Uniform", 9, prior=flat) as b,
    ):
        a.observe_many([("p", 1), ("q", 1), ("q", 1)])
        b.observe_many([("p", 1), ("q", 0), ("q", 0), ("q", 1)])


def test_the_arms_that_are_decided_differently_are_a_table(cutline: Run) -> None:
    done = cutline("campaign", "compare", "--db", "x.db", "a", "b")
    assert done.status == 0
    assert [line.split() for line in done.out.splitlines()] == [
        ["arm", "mean", "in", "A", "decision", "mean", "in", "B", "decision", "A", "is", "higher"],
        ["q", "1.0000", "above", "0.3333", "below", "0.8857"],
    ]
    said = done.err.splitlines()
    assert said[0].startswith(
        "2 arms in both, 1 decided differently; 'a' has the higher mean in all with probability 0."
    )
    assert said[1] == "left out: 1 arm of A alone, 0 arms of B alone"


def test_all_arms_are_shown_if_asked_for_and_in_json(cutline: Run) -> None:
    lines = cutline("campaign", "compare", "--db", "x.db", "a", "b", "--all").out.splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["p", "q"]
    read = json.loads(cutline("campaign", "compare", "--db", "x.db", "a", "b", "--format", "json").out)
    assert [(arm["arm"], arm["differs"]) for arm in read["arms"]] == [("p", False), ("q", True)]
    assert (read["first"], read["second"]) == ("a", "b")


def test_a_campaign_that_is_not_there_is_named(cutline: Run) -> None:
    done = cutline("campaign", "compare", "--db", "x.db", "a", "c")
    assert (done.status, done.err) == (2, "cutline: x.db: no campaign is called 'c'; there are 'a', 'b'\n")
