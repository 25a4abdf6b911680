"""cutline export: what a campaign holds, written so that importing it again changes nothing."""

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from cutline.recorded.readers import read_observations
from ledger import dump

Run = Callable[..., Any]

ARMS: list[Any] = [
    ("plain", {"text": "a, b"}),
    *("a/b", "%2F", '"q"', "x" * 5000, "two\nlines", "return\rhere", "\u00e9", "e\u0301", "007", " spaces "),
]


@pytest.fixture(autouse=True)
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign with results told, observed with a key, and observed without."""
    monkeypatch.chdir(tmp_path)
    arms = [arm if isinstance(arm, tuple) else (arm, None) for arm in ARMS]
    campaign = Campaign.create("x.db", "main", arms, 0.5, "LSA", 100)
    for pull in campaign.ask(8, worker="ann, the \r first"):
        campaign.tell(pull, 1 / 3)
    for arm, _ in arms:
        campaign.observe(arm, 1, key=f"seen {arm}")
    campaign.observe("plain", 0.123456789)
    campaign.ask(2)
    return campaign


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl"])
def test_importing_an_export_again_changes_nothing(cutline: Run, held: Campaign, name: str) -> None:
    before = dump(held)
    assert cutline("export", "observations", "--db", "x.db", "--out", name).status == 0
    done = cutline("import", name, "--db", "x.db")
    assert (done.status, done.err) == (0, "campaign 'main': nothing new; 20 were there already\n")
    assert dump(held) == before


@pytest.mark.parametrize("name", ["out.csv", "out.jsonl"])
def test_an_export_makes_a_campaign_with_the_same_results(cutline: Run, held: Campaign, name: str) -> None:
    cutline("export", "observations", "--db", "x.db", "--out", name)
    assert cutline("import", name, "--db", "y.db", "--threshold", "0.5", "--budget", "9").status == 0
    with Campaign.open("y.db", "main") as copy:
        key = [(item.arm, item.reward, item.worker, item.key) for item in copy.results()]
        assert key == [(item.arm, item.reward, item.worker, item.key) for item in held.results()]
        assert {(item.arm, item.pulls, item.mean) for item in copy.decisions()} == {
            (item.arm, item.pulls, item.mean) for item in held.decisions()
        }


def test_standard_output_is_csv_with_the_columns_promised_and_replay_reads_it(cutline: Run) -> None:
    out = cutline("export", "observations", "--db", "x.db").out
    assert out.startswith("task,worker,label,key,note\n")
    assert cutline("export", "observations", "--db", "x.db", "--format", "csv", "--out", "o").status == 0
    assert Path("o").read_bytes().decode() == out
    assert len(read_observations("o")) == 20
    lines = cutline("export", "observations", "--db", "x.db", "--format", "jsonl").out.split("\n")[:-1]
    assert [sorted(json.loads(line)) for line in lines] == [["key", "label", "note", "task", "worker"]] * 20


def test_decisions_are_those_of_the_campaign(cutline: Run, held: Campaign) -> None:
    cutline("export", "decisions", "--db", "x.db", "--out", "d.csv")
    with open("d.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "arm",
        "pulls",
        "in_flight",
        "mean",
        "decision",
        "wrong",
        "hoeffding",
        "low",
        "high",
        "payload",
        "probability",
        "known",
    ]
    decisions = held.decisions()
    assert [(row["arm"], int(row["pulls"]), float(row["mean"]), float(row["wrong"])) for row in rows] == [
        (item.arm, item.pulls, item.mean, item.wrong) for item in decisions
    ]
    assert json.loads(rows[0]["payload"]) == {"text": "a, b"}
    assert {row["payload"] for row in rows[1:]} == {""}
    out = cutline("export", "decisions", "--db", "x.db", "--format", "jsonl").out
    found = [json.loads(line) for line in out.split("\n")[:-1]]
    assert [(row["arm"], row["decision"], row["payload"]) for row in found] == [
        (item.arm, "above" if item.above else "below", item.payload) for item in decisions
    ]


def test_an_arm_without_results_is_undecided_and_has_no_mean(cutline: Run) -> None:
    Campaign.create("y.db", "main", ["a"], 0.5, "LSA", 1).close()
    out = cutline("export", "decisions", "--db", "y.db").out
    assert out.splitlines()[1] == "a,0,0,,undecided,0.5,1.0,0.0,1.0,,0.5,false"
    row = json.loads(cutline("export", "decisions", "--db", "y.db", "--format", "jsonl").out)
    assert (row["mean"], row["decision"]) == (None, "undecided")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["everything", "--db", "x.db"], "Invalid value for '{observations|decisions}'"),
        (["decisions", "--db", "none.db"], "none.db: there is no such database"),
        (["decisions", "--db", "x.db", "--campaign", "b"], "x.db: no campaign is called 'b'; there are 'main'"),
        (["decisions", "--db", "x.db", "--out", "x.db/d.csv"], "cannot write x.db/d.csv"),
    ],
)
def test_what_cannot_be_written_is_refused_in_one_line(cutline: Run, arguments: list[str], message: str) -> None:
    done = cutline("export", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1


def test_the_help_has_an_example(cutline: Run) -> None:
    assert "\n    cutline export observations --db labels.db --out results.csv\n" in cutline("export", "-h").out


def test_a_spreadsheet_runs_nothing_of_a_safe_export(cutline: Run) -> None:
    arms = ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\tx", "plain", "1=1"]
    with Campaign.create("s.db", "main", arms, 0.5, "LSA", 10) as campaign:
        for arm in arms:
            campaign.observe(arm, 0, worker=arm)
    done = cutline("export", "observations", "--db", "s.db", "--safe-csv")
    found = [(row["task"], row["worker"], row["label"]) for row in csv.DictReader(done.out.splitlines())]
    safe = [f"'{arm}" for arm in arms[:5]] + arms[5:]
    assert found == [(arm, arm, "0") for arm in safe]
    whole = cutline("export", "observations", "--db", "s.db").out
    assert [row["task"] for row in csv.DictReader(whole.splitlines())] == arms


def test_decisions_may_be_safe_for_a_spreadsheet_too(cutline: Run) -> None:
    Campaign.create("s.db", "main", ["=1+1", "a"], 0.5, "LSA", 2).close()
    for words, more in ((("campaign", "decisions"), ()), (("run",), ("--", "true", "{arm}"))):
        said = cutline(*words, "--db", "s.db", "--format", "csv", "--safe-csv", *more)
        assert (said.status, sorted(line.split(",")[0] for line in said.out.splitlines())) == (0, ["'=1+1", "a", "arm"])
        refused = cutline(*words, "--db", "s.db", "--safe-csv", *more)
        assert (refused.status, refused.err) == (
            2,
            "cutline: --safe-csv goes with --format csv; with table every text stays as it is\n",
        )


def test_a_safe_export_is_csv(cutline: Run) -> None:
    done = cutline("export", "decisions", "--db", "x.db", "--safe-csv", "--out", "out.jsonl")
    assert (done.status, done.err) == (
        2,
        "cutline: --safe-csv goes with --format csv; with jsonl every text stays as it is\n",
    )
    assert not Path("out.jsonl").exists()
