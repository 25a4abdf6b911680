"""cutline import: labels join a campaign, each once, all of a file or nothing."""

import gzip
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign, campaigns
from ledger import audit
from surroundings import PATIENCE

Run = Callable[..., Any]

ROWS = [("t1", "ann", 1), ("t2", "ann", 0), ("t1", "bob", 1), ("t3", "cid", 0)]
CSV = "task,worker,label\n" + "".join(f"{task},{worker},{label}\n" for task, worker, label in ROWS)
NEW = ("--threshold", "0.5", "--budget", "10")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def results(name: str = "main") -> list[tuple[str, str | None, float]]:
    with Campaign.open("x.db", name) as campaign:
        return [(item.arm, item.worker, item.reward) for item in campaign.results()]


def load(cutline: Run, name: str, content: str | bytes, *more: str) -> str:
    """Import a file; return what is said."""
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    done = cutline("import", name, "--db", "x.db", *more)
    assert (done.status, done.out) == (0, ""), done.err
    return str(done.err)


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


def test_a_worker_and_task_is_the_same_result_in_any_file_and_order(cutline: Run) -> None:
    load(cutline, "l.csv", CSV, *NEW)
    more = "task,worker,label\n" + "".join(sorted(CSV.splitlines(keepends=True)[1:], reverse=True)) + "t2,bob,1\n"
    assert load(cutline, "more.csv", more) == "campaign 'main': 1 new result; 4 were there already\n"
    assert results() == [*ROWS, ("t2", "bob", 1)]


def test_without_workers_rows_are_known_by_their_place_in_the_file_of_that_name(cutline: Run) -> None:
    monday = "task,label\na,1\na,1\nb,0\n"
    assert load(cutline, "monday.csv", monday, *NEW) == "campaign 'main', made with 2 arms: 3 new results\n"
    assert load(cutline, "monday.csv", monday) == "campaign 'main': nothing new; 3 were there already\n"
    assert load(cutline, "monday.csv", monday + "a,0\n") == "campaign 'main': 1 new result; 3 were there already\n"
    assert load(cutline, "tuesday.csv", monday) == "campaign 'main': 3 new results\n"
    assert load(cutline, "copy.csv", monday, "--source", "tuesday.csv") == (
        "campaign 'main': nothing new; 3 were there already\n"
    )


def test_where_workers_repeat_every_answer_of_a_worker_counts(cutline: Run) -> None:
    runs = "task,worker,label\n" + "t,machine,1\nt,machine,0\nt,machine,1\n"
    Path("runs.csv").write_text(runs)
    refused = cutline("import", "runs.csv", "--db", "x.db", *NEW)
    assert refused.status == 2
    assert refused.err == (
        "cutline: runs.csv, line 3: worker 'machine' has another label of task 't' in line 2; where workers may answer "
        "again, make the campaign with repeat_workers\n"
    )
    assert load(cutline, "runs.csv", runs, *NEW, "--repeat-workers").endswith("3 new results\n")
    assert load(cutline, "runs.csv", runs).endswith("nothing new; 3 were there already\n")
    assert [reward for _, _, reward in results()] == [1, 0, 1]


def test_the_same_answer_twice_in_a_file_counts_once(cutline: Run) -> None:
    said = load(cutline, "l.csv", CSV + "t1,ann,1\n", *NEW)
    assert said == "campaign 'main', made with 3 arms: 4 new results; 1 was there already\n"


def pulls_and_means() -> list[tuple[int, float | None]]:
    with Campaign.open("x.db", "main") as campaign:
        audit(campaign)
        return [(item.pulls, item.mean) for item in campaign.decisions()]


def test_totals_are_so_many_results_and_larger_totals_add_the_difference(cutline: Run) -> None:
    assert load(cutline, "c.csv", "task,yes,n\na,2,3\nb,0,2\n", *NEW).endswith("2 arms: 5 new results\n")
    assert load(cutline, "c.csv", "task,yes,n\na,2,3\nb,0,2\n").endswith("nothing new; 5 were there already\n")
    assert load(cutline, "c.csv", "task,yes,n\na,3,5\nb,0,2\n").endswith(": 2 new results; 5 were there already\n")
    assert pulls_and_means() == [(5, 0.6), (2, 0.0)]


@pytest.mark.parametrize(
    ("totals", "what"),
    [("a,7,10", "has 3 no and had more"), ("a,2,4", "has 2 no and had more"), ("a,4,9", "has 4 yes and had more")],
)
def test_totals_that_do_not_grow_are_refused_with_their_line_unless_they_replace(
    cutline: Run, totals: str, what: str
) -> None:
    load(cutline, "c.csv", "task,yes,n\nb,1,1\na,5,10\n", *NEW)
    Path("c.csv").write_text(f"task,yes,n\n{totals}\nb,1,1\n")
    done = cutline("import", "c.csv", "--db", "x.db")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert done.err.startswith("cutline: c.csv, line 2: task 'a' ")
    assert "and had more when c.csv was imported before; --replace makes this file count instead" in done.err
    assert what in done.err or "yes and had more" in done.err
    assert pulls_and_means() == [(1, 1.0), (10, 0.5)]
    _, yes, n = totals.split(",")
    said = load(cutline, "c.csv", f"task,yes,n\n{totals}\nb,1,1\n", "--replace")
    assert said.endswith("withdrawn\n")
    assert pulls_and_means() == [(1, 1.0), (int(n), int(yes) / int(n))]
    assert load(cutline, "c.csv", f"task,yes,n\n{totals}\n").endswith(f"nothing new; {n} were there already\n")
    assert load(cutline, "c.csv", "task,yes,n\na,9,20\n").endswith(" were there already\n")
    assert pulls_and_means() == [(1, 1.0), (20, 0.45)]


def test_rows_without_workers_may_be_added_and_are_replaced_only_when_that_is_said(cutline: Run) -> None:
    load(cutline, "l.csv", "task,label\na,1\na,1\nb,0\n", *NEW)
    for rows, message in (
        ("a,1\nb,0\n", "l.csv, line 2: task 'a' has 1 row and had more when l.csv was imported before"),
        (
            "a,1\na,0\nb,0\n",
            "l.csv, line 3: the result with key '[\"l.csv\",\"a\",null,2]' of arm 'a' was 1 and is now 0",
        ),
    ):
        Path("l.csv").write_text("task,label\n" + rows)
        done = cutline("import", "l.csv", "--db", "x.db")
        assert (done.status, done.err.count("\n")) == (2, 1)
        assert done.err.startswith(f"cutline: {message}")
        assert pulls_and_means() == [(2, 1.0), (1, 0.0)]
    assert load(cutline, "l.csv", "task,label\na,0\nb,0\n", "--replace") == (
        "campaign 'main': 1 new result; 1 was there already; 1 earlier result withdrawn\n"
    )
    assert pulls_and_means() == [(1, 0.0), (1, 0.0)]


def test_another_label_of_a_worker_replaces_what_was_imported_but_not_what_was_told(cutline: Run) -> None:
    load(cutline, "l.csv", CSV, *NEW)
    with Campaign.open("x.db", "main") as campaign:
        (pull,) = campaign.ask(worker="dan")
        campaign.tell(pull, 1)
    Path("l.csv").write_text(f"task,worker,label\nt1,ann,0\n{pull.arm},dan,0\n")
    done = cutline("import", "l.csv", "--db", "x.db", "--replace")
    assert (done.status, done.err) == (
        2,
        f"cutline: l.csv, line 3: worker 'dan' has answered arm '{pull.arm}' with 1 and now 0; a worker answers an arm "
        "once, unless the campaign repeats workers\n",
    )
    assert load(cutline, "l.csv", "task,worker,label\nt1,ann,0\n", "--replace") == "campaign 'main': 1 new result\n"
    assert ("t1", "ann", 0.0) in results()
    pulls_and_means()


def test_what_a_worker_was_asked_and_told_is_not_imported_again(cutline: Run) -> None:
    Path("arms.txt").write_text("pear\n")
    cutline("campaign", "create", "--db", "x.db", "--arms", "arms.txt", *NEW)
    with Campaign.open("x.db", "main") as campaign:
        (pull,) = campaign.ask(worker="w1")
        campaign.tell(pull, 1)
        campaign.ask(worker="w2")
    assert load(cutline, "l.csv", "task,worker,label\npear,w1,1\n").endswith("nothing new; 1 was there already\n")
    Path("l.csv").write_text("task,worker,label\npear,w2,0\npear,w1,0\n")
    done = cutline("import", "l.csv", "--db", "x.db")
    assert (done.status, done.err) == (
        2,
        "cutline: l.csv, line 3: worker 'w1' has answered arm 'pear' with 1 and now 0; a worker answers an arm once, "
        "unless the campaign repeats workers\n",
    )
    assert load(cutline, "l.csv", "task,worker,label\npear,w2,0\n").endswith(": 1 new result\n")
    with Campaign.open("x.db", "main") as campaign:
        assert (campaign.status().spent, campaign.status().in_flight, campaign.status().observed) == (2, 0, 0)


def test_two_files_of_one_name_are_one_source_only_when_that_is_said(cutline: Run) -> None:
    for day in ("monday", "tuesday"):
        Path(day).mkdir()
        (Path(day) / "labels.csv").write_text("task,label\na,1\n")
    assert cutline("import", "monday/labels.csv", "--db", "x.db", *NEW).status == 0
    done = cutline("import", "tuesday/labels.csv", "--db", "x.db")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "tuesday/labels.csv: rows of " in done.err
    assert "give --source labels.csv if these are the same rows, or another name if they are others" in done.err
    for more, said in (
        (("--source", "labels.csv"), "nothing new; 1 was there already"),
        (("--source", "tuesday"), "1 new result"),
        ((), "nothing new; 1 was there already"),
    ):
        done = cutline("import", "tuesday/labels.csv", "--db", "x.db", *more)
        assert (done.status, said in done.err) == (0, True), done.err


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


@pytest.mark.slow
def test_fifty_thousand_arms_in_one_import(cutline: Run) -> None:
    content = "task,worker,label\n" + "".join(f"task {i},w,{i % 2}\n" for i in range(50_000))
    assert load(cutline, "l.csv", content, *NEW) == "campaign 'main', made with 50,000 arms: 50,000 new results\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "l.csv is empty; it must have rows"),
        ("task,worker,label\n", "l.csv has a header and no rows"),
        ("task,worker\nt1,ann\n", "l.csv, line 1: no column 'label'; there is 'task', 'worker'; --label-col says "),
        ("task,label\nt1,1\nt2,2\n", "l.csv, line 3: the label is '2'; it must be 0, 1, true, false or a number"),
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
    assert (done.status, done.err) == (2, "cutline: campaign 'main': threshold is 0.5, not 0.6\n")


@pytest.mark.parametrize("file", ["-", "/dev/stdin", "fifo"])
def test_rows_of_a_stream_without_workers_need_a_source(start: Run, file: str) -> None:
    if file == "fifo":
        os.mkfifo("fifo")
    for more, status, said in (
        ((), 2, b"need a source"),
        (("--source", "feed"), 0, b"made with 1 arm: 1 new result"),
        (("--source", "feed"), 0, b"nothing new; 1 was there already"),
        (("--source", "next day"), 0, b"1 new result"),
    ):
        process = start("import", file, "--db", "x.db", *NEW, *more)
        if file == "fifo":
            Path("fifo").write_text("task,label\na,1\n")
        _, err = process.communicate(b"task,label\na,1\n", timeout=PATIENCE)
        assert process.returncode == status, err
        assert said in err


MEASURED = """
import resource, sys
from cutline.cli import main
try:
    main()
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


@pytest.mark.slow
@pytest.mark.process
def test_a_long_file_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    took = []
    for count in (2_000, 60_000):
        name = f"{count}.csv"
        Path(name).write_text("task,worker,label\n" + "".join(f"task {i},worker {i % 7},1\n" for i in range(count)))
        command = [sys.executable, "-c", MEASURED, "import", name, "--db", f"{count}.db", *NEW]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert f"made with {count:,} arms: {count:,} new results" in done.stderr
        took.append(int(done.stdout) / 1024)
    assert took[1] < 200
    assert took[1] - took[0] < 30


@pytest.mark.process
def test_an_import_that_is_killed_leaves_no_campaign(start: Run) -> None:
    Path("long.csv").write_text("task,worker,label\n" + "".join(f"task {i},w,1\n" for i in range(200_000)))
    process = start("import", "long.csv", "--db", "x.db", *NEW)
    while process.poll() is None and arms_in("x.db") < 10_000:
        time.sleep(0.01)
    process.kill()
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    assert campaigns("x.db") == []
    with Campaign.create("x.db", "main", ["a"], 0.5, "LSA", 1) as campaign:
        assert [status.name for status in campaigns("x.db")] == ["main"]
        assert campaign.status().arms == 1


def arms_in(path: str) -> int:
    """How many arms the database has, 0 where there is none yet."""
    try:
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT count(*) FROM cutline_arms").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
