"""Observations, gold answers, totals, pilot results and means, read from files."""

import gzip
import json
import os
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutline.errors import InvalidInputError
from cutline.recorded.observations import Counts, Observations
from cutline.recorded.readers import (
    iter_observations,
    read_counts,
    read_gold,
    read_means,
    read_observations,
    read_pilot,
    read_recorded,
)

Write = Callable[..., Path]


WANTED = "it must be 0, 1, true, false, a number in [0, 1], or a word named with --positive"


@pytest.fixture
def file(tmp_path: Path) -> Write:
    def write(content: str, name: str = "x.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode())
        return path

    return write


def error_of(reader: Callable[..., object], path: Path, **options: Any) -> str:
    with pytest.raises(InvalidInputError) as caught:
        reader(path, **options)
    return str(caught.value).replace(str(path), "FILE")


def test_observations_come_in_file_order_with_tasks_in_order_of_first_appearance(file: Write) -> None:
    found = read_observations(file("task,worker,label\nb,w,1\na,,0.25\n\nb,v,false\na,w,TRUE\n"))
    assert found.tasks == ("b", "a")
    assert found.task.tolist() == [0, 1, 0, 1]
    assert found.workers == ("w", None, "v", "w")
    assert found.labels.tolist() == [1.0, 0.25, 0.0, 1.0]
    assert found.lines.tolist() == [2, 3, 5, 6]
    assert len(found) == 4
    assert found.source.endswith("x.csv")


def test_a_file_without_workers_has_none(file: Write) -> None:
    assert read_observations(file("task,label\na,1\n")).workers == (None,)
    assert read_observations(file('{"task": 1, "label": 1, "worker": null}', "x.jsonl")).workers == (None,)


@pytest.mark.parametrize(
    "header",
    [
        "task,worker,label",
        "taskId,workerId,answer",
        "TASK,Performer,LABEL",
        "question,annotator,answer",
        "arm,worker,reward",
    ],
)
def test_older_headers_are_understood(file: Write, header: str) -> None:
    path = file(f"{header}\na,w,1\n")
    assert list(iter_observations(path)) == [("a", "w", 1.0, 2, None, None, str(path))]


def test_a_key_is_read_where_there_is_one(file: Write) -> None:
    path = file("label,key,task\n1,k 1,a\n0,,b\n")
    assert [row.key for row in iter_observations(path)] == ["k 1", None]
    assert read_observations(path).keys == ("k 1", None)
    assert read_observations(file("label,task\n1,a\n")).keys is None


def test_columns_can_be_chosen(file: Write) -> None:
    path = file("task,item,who,vote,label\nx,a,w,1,7\n")
    found = list(iter_observations(path, task_col="item", worker_col="who", label_col="vote"))
    assert found == [("a", "w", 1.0, 2, None, None, str(path))]


def test_positive_makes_one_text_1_and_every_other_0(file: Write) -> None:
    path = file("task,label\na,yes\nb,no\nc,Yes\nd,2\ne, yes \n")
    assert read_observations(path, positive="yes").labels.tolist() == [1, 0, 0, 0, 1]
    numbers = file('{"task": 1, "label": 2}\n{"task": 2, "label": 1}\n{"task": 3, "label": true}', "x.jsonl")
    assert read_observations(numbers, positive="2").labels.tolist() == [1, 0, 0]
    assert read_observations(numbers, positive="true").labels.tolist() == [0, 0, 1]


def test_positive_does_not_turn_a_missing_answer_into_a_no(file: Write) -> None:
    assert error_of(read_observations, file("task,label\na,yes\nb,\n"), positive="yes").startswith(
        "FILE, line 3: the label is ''"
    )


@pytest.mark.parametrize(
    "label", ["2", "", "maybe", "NaN", "nan", "inf", "-0.1", "1.0001", "1_0", "0_1", "\u0660", "None", "yes", "1;0"]
)
def test_a_label_that_is_none_is_refused_with_its_line(file: Write, label: str) -> None:
    message = error_of(read_observations, file(f"task,worker,label\na,w,1\nb,w,{label}\n"))
    assert message == f"FILE, line 3: the label is {label!r}; {WANTED}"


@pytest.mark.parametrize(("label", "shown"), [("2", "'2'"), ("null", "null"), ("NaN", "'NaN'"), ('""', "''")])
def test_a_json_label_that_is_none_is_refused_with_its_line(file: Write, label: str, shown: str) -> None:
    message = error_of(
        read_observations, file(f'{{"task": 1, "label": 1}}\n{{"task": 2, "label": {label}}}\n', "x.jsonl")
    )
    assert message == f"FILE, line 2: the label is {shown}; {WANTED}"


def test_a_task_without_id_is_refused(file: Write) -> None:
    assert error_of(read_observations, file("task,label\n,1\n")) == "FILE, line 2: the task is empty; it must be text"
    message = error_of(read_observations, file('{"task": null, "label": 1}', "x.jsonl"))
    assert message == "FILE, line 1: the task is null; it must be text"


def test_ids_that_differ_in_unicode_form_or_zeros_are_different_tasks(file: Write) -> None:
    ids = ["é", "e\u0301", "7", "07", "7.0", "7 ", "NA", "na"]
    lines = "\n".join(json.dumps({"task": item, "label": 1}) for item in ids)
    assert read_observations(file(lines, "x.jsonl")).tasks == tuple(ids)


def test_streaming_takes_no_more_memory_for_more_rows(tmp_path: Path) -> None:
    path = tmp_path / "x.csv.gz"
    with gzip.open(path, "wt") as out:
        out.write("task,worker,label\n" + "".join(f"t{i},w{i % 7},{i % 2}\n" for i in range(50_000)))
    tracemalloc.start()
    rows = iter_observations(path)
    ones = sum(row.label for row in islice(rows, 1000))
    after_a_thousand = tracemalloc.get_traced_memory()[1]
    ones += sum(row.label for row in rows)
    after_all = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ones == 25_000
    assert after_all < after_a_thousand + 100_000


def test_counts_are_read_and_checked(file: Write) -> None:
    found = read_counts(file("task,yes,n\na,0,4000\nb,3,3\n"))
    assert found.tasks == ("a", "b")
    assert found.yes.tolist() == [0, 3]
    assert found.n.tolist() == [4000, 3]
    assert len(found) == 4003
    assert read_counts(file("task,yes,n\na,1000000000000000,0009007199254740992\n")).n.tolist() == [2**53]
    for row, message in {
        "a,4,3": "4 yes of 3 labels; n must be at least 1, and yes at most n",
        "a,0,0": "0 yes of 0 labels; n must be at least 1, and yes at most n",
        "a,-1,3": "yes is '-1'; it must be a whole number, 0 or above",
        "a,1.5,3": "yes is '1.5'; it must be a whole number, 0 or above",
        "a,1,": "n is ''; it must be a whole number, 0 or above",
        "a,1,9999999999999999": "n is '9999999999999999'; the most is 2^53, 9,007,199,254,740,992",
        "b,1,3": "'b' stands further up already; give each once",
    }.items():
        assert error_of(read_counts, file(f"task,yes,n\nb,3,3\n{row}\n")) == f"FILE, line 3: {message}"


def test_read_recorded_tells_counts_from_observations(file: Write) -> None:
    assert isinstance(read_recorded(file("Task,Yes,N\na,1,2\n")), Counts)
    assert isinstance(read_recorded(file('{"task": 1, "yes": 1, "n": 2}', "x.jsonl")), Counts)
    assert isinstance(read_recorded(file("task,label,yes,n\na,1,1,2\n")), Observations)
    assert isinstance(read_recorded(file("task,yes,n\na,1,0\n"), label_col="yes"), Observations)
    assert read_recorded(file("item,yes,n\na,1,2\n"), task_col="item").tasks == ("a",)
    message = error_of(read_recorded, file("task,yes\na,1\n"))
    assert message == "FILE, line 1: no column 'label'; there is 'task', 'yes'; --label-col says which it is"


def test_words_for_labels_are_refused_where_a_file_has_totals(file: Write) -> None:
    message = error_of(read_recorded, file("task,yes,n\na,1,2\n"), positive="yes")
    assert message == "FILE has totals, columns yes and n, so no label can be one of the words"


@pytest.mark.parametrize("header", ["task,label", "question,truth", "arm,gold"])
def test_gold_is_read(file: Write, header: str) -> None:
    assert read_gold(file(f"{header}\na,1\nb,0\na,true\n")) == {"a": True, "b": False}


def test_gold_must_be_sure(file: Write) -> None:
    assert read_gold(file("task,label\na,yes\nb,no\n"), positive="yes") == {"a": True, "b": False}
    words: dict[str, Any] = {"positive": "yes", "skip": "unsure"}
    assert read_gold(file("task,label\na,yes\nb,unsure\nc,no\n"), **words) == {"a": True, "c": False}
    assert read_gold(file("task,label\na,1\nc,0\n"), **words) == {"a": True, "c": False}
    message = error_of(read_gold, file("task,label\na,1\nb,0.5\n"))
    assert message == "FILE, line 3: the answer is '0.5'; it must be 0 or 1"
    message = error_of(read_gold, file("task,label\na,1\nb,0\na,0\n"))
    assert message == "FILE, line 4: task 'a' has another answer further up"
    assert error_of(read_gold, file("task,label\n,1\n")) == "FILE, line 2: the task is empty; it must be text"


def test_pilot_results_are_read_and_checked(file: Write) -> None:
    found = read_pilot(file("pulls,total\n10,2.5\n0,0\n"))
    assert (found.arms, found.pulls.tolist(), found.totals.tolist()) == (("1", "2"), [10, 0], [2.5, 0])
    assert [place.rpartition("/")[2] for place in found.places] == ["x.csv, line 2", "x.csv, line 3"]
    assert read_pilot(file("task,yes,n\na,1,2\n")).arms == ("a",)
    for row, message in {
        "b,3,3.5": "the total is '3.5'; it must be a number from 0 to 3",
        "b,3,nan": "the total is 'nan'; it must be a number from 0 to 3",
        "b,3,": "the total is ''; it must be a number from 0 to 3",
        "b,1.5,1": "pulls is '1.5'; it must be a whole number, 0 or above",
        "a,3,1": "'a' stands further up already; give each once",
    }.items():
        assert error_of(read_pilot, file(f"arm,pulls,total\na,2,1\n{row}\n")) == f"FILE, line 3: {message}"


@pytest.mark.parametrize(
    "content",
    [
        "task,label\na,1\nb,0\na,0\n",
        '{"task": "a", "label": 1}\n{"task": "b", "label": 0}\n{"task": "a", "label": 0}\n',
        "arm,pulls,total\na,2,1\nb,1,0\n",
    ],
)
def test_pilot_results_are_read_once_so_that_a_pipe_will_do(tmp_path: Path, content: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        written = pool.submit(pipe.write_text, content)
        found = read_pilot(pipe)
        written.result(timeout=10)
    assert (found.arms, found.pulls.tolist(), found.totals.tolist()) == (("a", "b"), [2, 1], [1.0, 0.0])


@pytest.mark.parametrize(
    "content",
    [
        "0.2\n1\n4e-1\n",
        "\ufeff0.2\r\n1\r\n4e-1",
        "\n0.2\n\n 1 \n4e-1\n\n",
        "mean\n0.2\n1\n0.4\n",
        "true mean (theta)\n0.2\n1\n0.4\n",
        "arm,Mean\na,0.2\nb,1\nc,0.4\n",
        '{"mean": 0.2}\n{"mean": 1}\n{"mean": 0.4}\n',
    ],
)
def test_means_are_read_from_lines_or_a_column(file: Write, content: str) -> None:
    means = read_means(file(content, "means.txt"))
    np.testing.assert_array_equal(means, [0.2, 1.0, 0.4])
    assert means.dtype == np.float64


def test_the_column_of_means_can_be_chosen(file: Write) -> None:
    path = file("arm,low,high\na,0.2,0.3\n")
    assert read_means(path, column="high").tolist() == [0.3]
    assert (
        error_of(read_means, path)
        == "FILE, line 1: no column 'mean'; there is 'arm', 'low', 'high'; --means-column says which it is"
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "FILE is empty; it must have rows"),
        ("mean\n", "FILE has a header and no rows"),
        ("0.1\n0.2\n0.3\n0.4\n0.5\n0.6\nword\n", "FILE, line 7: 'word' is no mean; it must be a number in [0, 1]"),
        ("mean\n0.1\n1.1\n", "FILE, line 3: '1.1' is no mean; it must be a number in [0, 1]"),
        ("nan\n0.1\n", "FILE, line 1: 'nan' is no mean; it must be a number in [0, 1]"),
        ("O.5\n0.1\n", "FILE, line 1: 'O.5' is no mean; it must be a number in [0, 1]"),
        ("-\n0.1\n", "FILE, line 1: '-' is no mean; it must be a number in [0, 1]"),
        ("0.1\n0,2\n", "FILE, line 2: 2 fields where the first row has 1"),
        ("0.1,0.2\n", "FILE, line 1: no column 'mean'; there is '0.1', '0.2'; --means-column says which it is"),
    ],
)
def test_bad_means_are_refused_with_their_line(file: Write, content: str, message: str) -> None:
    assert error_of(read_means, file(content)) == message


def test_a_single_mean_is_a_problem_of_one_arm(file: Write) -> None:
    assert read_means(file("0.5")).tolist() == [0.5]
