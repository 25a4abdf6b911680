"""cutline replay: what it prints of recorded labels, and how it refuses what it cannot use."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.recorded import bundled
from cutline.recorded.replay import replay

Run = Callable[..., Any]

LABELS = "task,worker,label\n" + "".join(f"t{t},w{w},{int((t * w) % 3 > 0)}\n" for t in range(6) for w in range(1, 8))
GOLD = "task,label\n" + "".join(f"t{t},{int(t % 3 > 0)}\n" for t in range(6))
HEADER = "policy,budget,runs,mean_errors,standard_error,mean_gold_errors,gold_standard_error"


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    (tmp_path / "labels.csv").write_text(LABELS)
    (tmp_path / "gold.csv").write_text(GOLD)
    return tmp_path / "labels.csv"


def test_a_set_that_ships_works_at_once(cutline: Run) -> None:
    done = cutline("replay", "bluebirds", "--runs", "4", "--format", "csv")
    recorded, gold = bundled.load("bluebirds")
    expected = replay(recorded, ["Lai", "Uniform"], gold=gold, runs=4, progress=False)
    assert (done.status, done.out) == (0, expected.to_csv())
    assert done.out.startswith(HEADER + "\n")
    assert done.err == expected.sentence() + "\n"


def test_the_table_ends_with_how_many_labels_each_policy_needs(cutline: Run, labels: Path) -> None:
    done = cutline("replay", labels, "--runs", "5", "--budgets", "6,42")
    lines = done.out.splitlines()
    assert lines[0].split() == ["policy", "budget", "runs", "mean", "errors", "standard", "error"]
    assert lines[2].split() == ["Lai", "42", "5", "0.0000", "0.0000"]
    assert lines[-2] == ""
    assert lines[-1] == "To come within 0.01 of the full-data answer, Lai needs all of 42 labels; Uniform all."
    assert done.err == ""


def test_gold_adds_two_columns_and_the_accuracy(cutline: Run, labels: Path) -> None:
    done = cutline("replay", labels, "--gold", labels.with_name("gold.csv"), "--runs", "5", "--within", "0.2")
    assert done.out.splitlines()[0].endswith("mean gold errors  gold standard error")
    assert "within 0.2 of the accuracy of all labels (1.000 against gold for all 6 tasks), Lai needs " in done.out
    assert done.err == ""


def test_it_is_said_how_many_tasks_gold_covers_and_which_ids_are_no_task(cutline: Run, labels: Path) -> None:
    gold = labels.with_name("gold.csv")
    gold.write_text("task,label\nt1,1\nt2,1\nT3,0\n")
    done = cutline("replay", labels, "--gold", gold, "--runs", "2")
    assert "(1.000 against gold for 2 of the 6 tasks)" in done.out
    assert done.err == "gold: 1 of its 3 ids are no task of the labels; 'T3' may be the task 't3'\n"
    gold.write_text("task,label\nt1.0,1\n")
    done = cutline("replay", labels, "--gold", gold, "--runs", "2")
    assert (done.status, done.err) == (
        2,
        f"cutline: gold has no task in common with {labels}: 't1.0' there, 't0' here; are the ids the same?\n",
    )


def test_words_for_labels_can_be_named_and_what_counts_as_0_is_said(cutline: Run, tmp_path: Path) -> None:
    path = tmp_path / "words.csv"
    path.write_text("task,label\na,yes\na,no\na,no\nb,yes\nb,unsure\nb,yes\nc,no\nc,\nc,no\n")
    refused = cutline("replay", path, "--positive", "Yes", "--skip", "")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == f"cutline: {path}: no label is 'Yes'; there are 'no' (4), 'yes' (3), '' (1), 'unsure' (1)\n"
    options = ("--runs", "2", "--budgets", "3", "--positive", "yes", "--skip", "")
    said = cutline("replay", path, *options)
    assert said.status == 0
    assert said.err.startswith(f"{path}: counted as 0: 'no' (4), 'unsure' (1); --skip leaves such labels out")
    named = cutline("replay", path, *options, "--negative", "no", "--skip", "unsure")
    assert (named.status, named.err) == (0, "")
    assert " of 7 labels" in named.out


def test_csv_without_gold_leaves_those_columns_empty_and_json_says_null(cutline: Run, labels: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(cutline("replay", labels, "--runs", "3", "--format", "csv").out)))
    assert ",".join(rows[0]) == HEADER
    assert {row["mean_gold_errors"] for row in rows} == {""}
    once = csv.DictReader(io.StringIO(cutline("replay", labels, "--runs", "1", "--format", "csv").out))
    assert {row["standard_error"] for row in once} == {""}
    found = json.loads(cutline("replay", labels, "--runs", "1", "--format", "json").out)
    assert {row["mean_gold_errors"] for row in found} == {None}
    assert {row["standard_error"] for row in found} == {None}
    assert [row["mean_errors"] for row in found if row["budget"] == 42] == [0.0, 0.0]


def test_the_seed_the_policies_and_the_threshold_matter_and_the_jobs_do_not(cutline: Run, labels: Path) -> None:
    base = ("replay", labels, "--runs", "20", "--budgets", "10,20", "--format", "csv")
    one = cutline(*base, "--jobs", "1").out
    assert cutline(*base, "--jobs", "3").out == one
    assert cutline(*base, "--seed", "1").out != one
    assert cutline(*base, "--threshold", "0.7").out != one
    rows = cutline(*base, "--policy", "APT(.05)").out.splitlines()[1:]
    assert [row.split(",")[0] for row in rows] == ["APT(0.05)"] * 2


@pytest.mark.parametrize("gold", ["item,truth\nt1,yes\nt2,yes\nt0,no\n", "task,label\nt1,1\nt2,1\nt0,0\n"])
def test_other_columns_and_words_are_understood_in_labels_and_gold(
    cutline: Run, labels: Path, tmp_path: Path, gold: str
) -> None:
    words = LABELS.replace(",1\n", ",yes\n").replace(",0\n", ",no\n").replace("task,worker,label", "item,who,says")
    (tmp_path / "words.tsv.gz").write_bytes(gzip.compress(words.replace(",", "\t").encode()))
    (tmp_path / "g.csv").write_text(gold)
    (tmp_path / "plain.csv").write_text("task,label\nt1,1\nt2,1\nt0,0\n")
    other = ("--task-col", "item", "--worker-col", "who", "--label-col", "says", "--positive", "yes")
    done = cutline("replay", tmp_path / "words.tsv.gz", *other, "--gold", tmp_path / "g.csv", "--runs", "3")
    assert done.status == 0
    assert done.out == cutline("replay", labels, "--gold", tmp_path / "plain.csv", "--runs", "3").out


def test_workers_are_weighed_by_their_labels_and_by_answers_that_are_known(cutline: Run, labels: Path) -> None:
    known = labels.with_name("known.csv")
    known.write_text("task,label\nt0,0\nt1,1\n")
    given = ("--runs", "3", "--budgets", "12,42", "--policy", "LSA", "--format", "csv", "--workers", "weighed")
    rows = list(csv.DictReader(io.StringIO(cutline("replay", labels, *given, "--known", known).out)))
    assert [row["policy"] for row in rows] == ["LSA(1.35)"] * 2 + ["LSA(1.35), weighed"] * 2 + ["Weighed"] * 2
    assert [row["mean_errors"] for row in rows[:2]] == [
        row["mean_errors"] for row in csv.DictReader(io.StringIO(cutline("replay", labels, *given[:-2]).out))
    ]


def test_totals_are_replayed_as_well(cutline: Run, tmp_path: Path) -> None:
    (tmp_path / "counts.csv").write_text("task,yes,n\na,8,10\nb,1,10\n")
    done = cutline("replay", tmp_path / "counts.csv", "--budgets", "2,20", "--runs", "3", "--format", "csv")
    assert [row["mean_errors"] for row in csv.DictReader(io.StringIO(done.out)) if row["budget"] == "20"] == ["0.0"] * 2


def test_the_errors_can_be_drawn(cutline: Run, labels: Path, tmp_path: Path) -> None:
    assert cutline("replay", labels, "--runs", "2", "--plot", tmp_path / "errors.svg").status == 0
    assert "against the full-data answer" in (tmp_path / "errors.svg").read_text()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "bad.csv is empty; it must have rows"),
        ("task,worker,label\n", "bad.csv has a header and no rows"),
        ("task,worker\na,b\n", "bad.csv, line 1: no column 'label'; there is 'task', 'worker'; --label-col says "),
        (
            "task,label\na,1\nb,2\n",
            "bad.csv, line 3: the label is '2'; it must be 0, 1, true, false, a number in [0, 1], or",
        ),
        ("task,label\na,\n", "bad.csv, line 2: the label is ''; it must be 0, 1, true"),
        ("task,label\r\na,1\r\n\r\nb,maybe\r\n", "bad.csv, line 4: the label is 'maybe'"),
        ("\ufefftask,label\na,NaN\n", "bad.csv, line 2: the label is 'NaN'"),
        ("task,worker,label\na,b,1\na,c", "bad.csv, line 3: 2 fields where the first row has 3"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_the_line(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_bytes(content.encode())
    done = cutline("replay", "bad.csv")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bluebird"], "cannot read bluebird: there is no such file; the sets that ship: bluebirds"),
        (["bluebirds", "--policy", "UCBE"], "UCBE(0) needs the true means"),
        (["bluebirds", "--policy", "LSE"], "no policy is called 'LSE'"),
        (["bluebirds", "--threshold", "1"], "threshold 1.0 is outside (0, 1)"),
        (["bluebirds", "--within", "1"], "within is 1.0; it must be a share of the tasks"),
        (["bluebirds", "--decide", "vote"], "decide is 'vote'; it must be one of mean, likelier"),
        (["bluebirds", "--workers", "some"], "workers is 'some'; it must be one of alike, weighed"),
        (["bluebirds", "--workers", "weighed", "--known", "none.csv"], "cannot read none.csv"),
        (["bluebirds", "--runs", "0"], "runs is 0; it must be a whole number from 1"),
        (["bluebirds", "--budgets", "50,100"], "budget 50 is below the number of arms, 108"),
        (["bluebirds", "--budgets", "5000"], "budget 5000 is above the number of recorded labels, 4212"),
        (["bluebirds", "--plot", "x.gif"], "x.gif: a figure's name must end in one of .svg, .png, .pdf"),
        (["-", "--gold", "-"], "labels and gold cannot both come from standard input"),
        ([], "Missing argument 'LABELS...'."),
        (["bluebirds", "--runs", "many"], "Invalid value for '--runs': 'many' is not a valid integer."),
    ],
)
def test_what_cannot_be_done_is_refused_in_one_line(cutline: Run, arguments: list[str], message: str) -> None:
    done = cutline("replay", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1
