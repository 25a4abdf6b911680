"""cutline import: which results are there already, and which may take their place."""

import os
from pathlib import Path

import pytest

from cutline.campaign import Campaign
from label_files import CSV, NEW, ROWS, Run, load, pulls_and_means, results
from surroundings import PATIENCE


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def test_totals_are_so_many_results_and_larger_totals_add_the_difference(cutline: Run) -> None:
    assert load(cutline, "c.csv", "task,yes,n\na,2,3\nb,0,2\n", *NEW).endswith("2 arms: 5 new results\n")
    assert load(cutline, "c.csv", "task,yes,n\na,2,3\nb,0,2\n").endswith("nothing new; 5 were there already\n")
    assert load(cutline, "c.csv", "task,yes,n\na,3,5\nb,0,2\n").endswith(": 2 new results; 5 were there already\n")
    assert pulls_and_means() == [(5, 0.6), (2, 0.0)]


@pytest.mark.parametrize(
    ("totals", "what"),
    [("a,7,10", "has 3 no and had more"), ("a,2,4", "has 2 yes and had more"), ("a,4,9", "has 4 yes and had more")],
)
def test_totals_that_do_not_grow_are_refused_with_their_line_unless_they_replace(
    cutline: Run, totals: str, what: str
) -> None:
    load(cutline, "c.csv", "task,yes,n\nb,1,1\na,5,10\n", *NEW)
    Path("c.csv").write_text(f"task,yes,n\n{totals}\nb,1,1\n")
    done = cutline("import", "c.csv", "--db", "x.db")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert done.err.startswith("cutline: c.csv, line 2: task 'a' ")
    assert f"{what} when c.csv was imported before; --replace makes this file count instead" in done.err
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


@pytest.mark.parametrize("file", ["-", "/dev/stdin", "fifo"])
def test_rows_of_a_stream_without_workers_need_a_source(start_begun: Run, file: str) -> None:
    if file == "fifo":
        os.mkfifo("fifo")
    for more, status, said in (
        ((), 2, b"need a source"),
        (("--source", "feed"), 0, b"made with 1 arm: 1 new result"),
        (("--source", "feed"), 0, b"nothing new; 1 was there already"),
        (("--source", "next day"), 0, b"1 new result"),
    ):
        process = start_begun("import", file, "--db", "x.db", *NEW, *more)
        if file == "fifo":
            Path("fifo").write_text("task,label\na,1\n")
        _, err = process.communicate(b"task,label\na,1\n", timeout=PATIENCE)
        assert process.returncode == status, err
        assert said in err
