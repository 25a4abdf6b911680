"""cutline import: labels join a campaign, each once, all of a file or nothing."""

import gzip
import json
import os
from pathlib import Path

import pytest

from cutline.campaign import Campaign
from cutline.recorded import opening
from label_files import CSV, NEW, ROWS, Run, load, results


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


JSONL = "".join(json.dumps({"worker": worker, "label": label, "task": task}) + "\n" for task, worker, label in ROWS)


@pytest.mark.parametrize(
    ("name", "content", "more"),
    [
        ("l.csv", CSV, ()),
        ("l.csv", "\ufeff" + CSV.replace("\n", "\r\n") + "\r\n", ()),
        ("l.csv", CSV.rstrip("\n"), ()),
        ("l.tsv", CSV.replace(",", "\t"), ()),
        ("l.jsonl", JSONL, ()),
        ("l.csv.gz", gzip.compress(CSV.encode()), ()),
        ("l.csv", CSV.replace("task,worker,label", "taskId,performer,answer"), ()),
        ("l.csv", CSV.replace(",1\n", ",yes\n").replace(",0\n", ",no\n"), ("--positive", "yes")),
        (
            "l.csv",
            CSV.replace("task,worker,label", "a,b,c"),
            ("--task-col", "a", "--worker-col", "b", "--label-col", "c"),
        ),
    ],
    ids=[
        "csv",
        "BOM, CRLF, blank line",
        "no last line end",
        "tsv",
        "jsonl",
        "gzip",
        "older header",
        "words",
        "columns",
    ],
)
def test_a_file_makes_a_campaign_and_the_same_file_again_is_no_news(
    cutline: Run, name: str, content: str, more: tuple[str, ...]
) -> None:
    assert load(cutline, name, content, *NEW, *more) == "campaign 'main', made with 3 arms: 4 new results\n"
    assert results() == ROWS
    assert load(cutline, name, content, *NEW, *more) == "campaign 'main': nothing new; 4 were there already\n"
    assert load(cutline, name, content, *more) == "campaign 'main': nothing new; 4 were there already\n"
    assert results() == ROWS
    with Campaign.open("x.db", "main") as campaign:
        assert [item.arm for item in campaign.decisions()] == ["t1", "t2", "t3"]
        assert (campaign.status().spent, campaign.status().left) == (0, 10)


def test_what_was_done_can_be_read_by_a_program(cutline: Run) -> None:
    Path("l.csv").write_text(CSV)
    done = [cutline("import", "l.csv", "--db", "x.db", *NEW, "--format", "json") for _ in range(2)]
    assert [json.loads(item.out) for item in done] == [
        {"campaign": "main", "created": True, "new": 4, "known": 0, "withdrawn": 0},
        {"campaign": "main", "created": False, "new": 0, "known": 4, "withdrawn": 0},
    ]
    assert done[1].err == "campaign 'main': nothing new; 4 were there already\n"


def test_the_help_has_an_example(cutline: Run) -> None:
    assert (
        "\n    cutline import labels.csv --db labels.db --threshold 0.5 --budget 4000\n" in cutline("import", "-h").out
    )


def test_ids_stay_as_they_stand(cutline: Run) -> None:
    ids = ["a/b", "%2F", "'q\"", "two\nlines", "x" * 5000, "\u00e9", "e\u0301", "NA", "null", "007", "1e5", "7" * 20]
    rows = [{"task": task, "worker": task, "label": 1} for task in ids]
    load(cutline, "l.jsonl", "".join(json.dumps(row) + "\n" for row in rows), *NEW)
    assert results() == [(task, task, 1.0) for task in ids]


def test_words_for_labels_can_be_named_and_what_counts_as_0_is_said(cutline: Run) -> None:
    words = "task,worker,label\nt,ann,yes\nt,bob,no\nt,cid,unsure\nu,ann,no\n"
    assert load(cutline, "l.csv", words, *NEW, "--positive", "yes", "--db", "first.db").splitlines() == [
        "l.csv: counted as 0: 'no' (2), 'unsure' (1); --skip leaves such labels out, --negative says which alone are 0",
        "campaign 'main', made with 2 arms: 4 new results",
    ]
    named = ("--positive", "yes", "--negative", "no", "--skip", "unsure")
    assert load(cutline, "l.csv", words, *NEW, *named) == "campaign 'main', made with 2 arms: 3 new results\n"
    assert results() == [("t", "ann", 1.0), ("t", "bob", 0.0), ("u", "ann", 0.0)]
    refused = cutline("import", "l.csv", "--db", "x.db", "--positive", "Yes")
    assert (refused.status, refused.out) == (2, "")
    assert refused.err == "cutline: l.csv: no label is 'Yes'; there are 'no' (2), 'unsure' (1), 'yes' (1)\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "l.csv is empty; it must have rows"),
        ("task,worker,label\n", "l.csv has a header and no rows"),
        ("task,worker\nt1,ann\n", "l.csv, line 1: no column 'label'; there is 'task', 'worker'; --label-col says "),
        (
            "task,label\nt1,1\nt2,2\n",
            "l.csv, line 3: the label is '2'; it must be 0, 1, true, false, a number in [0, 1], or",
        ),
        ("task,label\nt1,1\nt2,\n", "l.csv, line 3: the label is ''"),
        ("task,label\r\nt1,1\r\nt2,maybe\r\n", "l.csv, line 3: the label is 'maybe'"),
        ("\ufefftask,label\nt1,1\nt2,NaN\n", "l.csv, line 3: the label is 'NaN'"),
        ("task,worker,label\nt1,bob,1\nt2,bo", "l.csv, line 3: 2 fields where the first row has 3"),
        ("task,worker,label\nt1,dan,1\nt9,ann,1\n", "l.csv, line 3: campaign 'main' has no arm 't9'"),
        (
            "task,worker,label\nt2,dan,1\nt1,ann,0\n",
            """l.csv, line 3: the result with key '["t1","ann"]' of arm 't1' was 1 and is now 0""",
        ),
        ("task,label,key\nt1,1,k\nt2,1,k\n", "l.csv, line 3: the result with key 'k' is of another arm than 't2'"),
        ("task,yes,n\nt1,3,2\n", "l.csv, line 2: 3 yes of 2 labels"),
        (
            f"task,yes,n\nt1,3,{10**12}\n",
            "l.csv: 1,000,000,000,000 labels, more than 100,000,000; are its totals right?",
        ),
    ],
)
def test_a_bad_file_changes_nothing(cutline: Run, folder: Path, content: str, message: str) -> None:
    load(cutline, "good.csv", CSV, *NEW)
    Path("l.csv").write_bytes(content.encode())
    done = cutline("import", "l.csv", "--db", "x.db")
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1
    assert results() == ROWS


def test_a_bad_file_makes_no_campaign(cutline: Run) -> None:
    Path("l.csv").write_text("task,label\nt1,1\nt2,2\n")
    assert cutline("import", "l.csv", "--db", "x.db", *NEW).status == 2
    assert os.listdir() == ["l.csv"]
    Path("l.csv").write_text("task,label,key\nt1,1,k\nt2,1,k\n")
    assert cutline("import", "l.csv", "--db", "x.db", *NEW).status == 2
    assert json.loads(cutline("campaign", "list", "--db", "x.db", "--format", "json").out) == []


def test_a_campaign_that_is_not_there_needs_a_threshold_and_a_budget(cutline: Run) -> None:
    Path("l.csv").write_text(CSV)
    done = cutline("import", "l.csv", "--db", "x.db")
    assert done.status == 2
    assert done.err == "cutline: x.db: there is no such database; to make one, give threshold and budget\n"


def test_settings_that_differ_are_named(cutline: Run) -> None:
    load(cutline, "l.csv", CSV, *NEW)
    done = cutline("import", "l.csv", "--db", "x.db", "--threshold", "0.6", "--budget", "10")
    assert (done.status, done.err) == (
        2,
        "cutline: campaign 'main': threshold is 0.5, not 0.6; cutline campaign change changes that, as "
        "--change of run and pytest does\n",
    )


@pytest.mark.parametrize(("there", "given"), [("1", "1.0"), ("2.0", "2"), ("pear", " Pear "), ("Pear", "pear")])
def test_an_id_that_is_written_otherwise_is_named(cutline: Run, there: str, given: str) -> None:
    load(cutline, "l.csv", f"task,worker,label\n{there},ann,1\n", *NEW)
    Path("l.csv").write_text(f"task,worker,label\n{there},bob,1\n{given},bob,1\n")
    done = cutline("import", "l.csv", "--db", "x.db")
    assert (done.status, done.err) == (
        2,
        f"cutline: l.csv, line 3: campaign 'main' has no arm '{given}'; it has '{there}': are the ids written alike?\n",
    )


def test_a_line_without_an_end_is_no_text(cutline: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "_LONGEST", 100)
    Path("l.csv").write_text("task,label\n" + "a" * 97 + ",1\n" + "b" * 200)
    done = cutline("import", "l.csv", "--db", "x.db", *NEW)
    assert (done.status, done.err) == (2, "cutline: l.csv, line 3: more than 100 characters; is this text?\n")
