"""Files of every shape, read as rows of text."""

import csv
import gzip
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from cutline.errors import InvalidInputError
from cutline.recorded.rows import Column, open_table

TASK = Column("task", ("task", "taskid", "question"))
WORKER = Column("worker", ("worker", "performer"), optional=True)
LABEL = Column("label", ("label",))


def read(path: Any, columns: tuple[Column, ...] = (TASK, WORKER, LABEL)) -> Any:
    with open_table(path) as table:
        return list(table.fields(columns))


def write(folder: Path, name: str, content: Any) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def error_of(path: Any, columns: tuple[Column, ...] = (TASK, WORKER, LABEL)) -> str:
    with pytest.raises(InvalidInputError) as caught:
        read(path, columns)
    message = str(caught.value)
    assert "\n" not in message
    return message.replace(f"{path}", "FILE")


ROWS = [(2, ("a", "w", "1")), (3, ("b", "v", "0"))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", "task,worker,label\na,w,1\nb,v,0\n"),
        ("x.csv", "task,worker,label\r\na,w,1\r\nb,v,0\r\n"),
        ("x.csv", "task,worker,label\ra,w,1\rb,v,0\r"),
        ("x.csv", "\ufefftask,worker,label\na,w,1\nb,v,0"),
        ("x.csv", '\ufeff"task","worker","label"\n"a","w","1"\n"b","v","0"\n'),
        ("x.csv", "label,note,task,worker\n1,,a,w\n0,,b,v\n"),
        ("x.csv", " task, worker, label\na,w,1\nb,v,0\n"),
        ("x.csv", "TaskID,Performer,Label\na,w,1\nb,v,0\n"),
        ("x.tsv", "task\tworker\tlabel\na\tw\t1\nb\tv\t0\n"),
        ("x.txt", "task\tworker\tlabel\na\tw\t1\nb\tv\t0\n"),
        ("x.txt", "task,worker,label\na,w,1\nb,v,0\n"),
        ("x.jsonl", '\n{"task": "a", "worker": "w", "label": "1"}\n{"label": "0", "task": "b", "worker": "v"}\n'),
        ("x", '\n{"task": "a", "worker": "w", "label": 1}\r\n{"label": 0, "task": "b", "performer": "v"}'),
    ],
)
def test_every_format_gives_the_same_rows_gzipped_or_not(tmp_path: Path, name: str, content: Any) -> None:
    plain = write(tmp_path, name, content)
    zipped = write(tmp_path, name + ".gz", gzip.compress(content.encode()))
    unnamed = write(tmp_path, "unnamed", gzip.compress(content.encode()))
    assert read(plain) == read(zipped) == read(unnamed) == ROWS


def test_standard_input_is_read_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    for content in (b"task,worker,label\na,w,1\nb,v,0\n", gzip.compress(b"task,worker,label\na,w,1\nb,v,0\n")):
        raw = io.BytesIO(content)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw))
        assert read("-") == ROWS
        assert not raw.closed


def test_leaving_a_table_early_closes_the_file_without_complaint(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv.gz", gzip.compress(b"task,label\n" + b"a,1\n" * 100_000))
    with open_table(path) as table:
        assert next(table.fields([TASK])) == (2, ("a",))
    with pytest.raises(StopIteration):
        next(table.rows)


def test_blank_lines_are_no_rows_and_line_numbers_count_them(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", '\n\ntask,label\n\n"a\nb\n",1\n   \n\nc,0\n\n')
    assert read(path, (TASK, LABEL)) == [(5, ("a\nb\n", "1")), (10, ("c", "0"))]


IDS = [
    *("NA", "null", "None", "nan", "true", "007", "1e5", "1.0", "-0", "12345678901234567890"),
    *(" a ", "a/b", "a%2Fb", 'say "so"', "a,b", "a\tb", "two\nlines", "two\r\nlines", "x" * 5000),
    *("é", "e\u0301", "\u2028", "\ufeffa", "\U0001f426", "نعم"),
]


@pytest.mark.parametrize("delimiter", [",", "\t"])
def test_ids_in_tables_stay_as_they_stand(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / ("x.csv" if delimiter == "," else "x.tsv")
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=delimiter).writerows([["task", "label"], *[[item, "1"] for item in IDS]])
    assert [fields[0] for _, fields in read(path, (TASK, LABEL))] == IDS


@pytest.mark.parametrize("ensure_ascii", [True, False])
def test_ids_in_json_lines_stay_as_they_stand(tmp_path: Path, ensure_ascii: bool) -> None:
    lines = [json.dumps({"task": item, "label": 1}, ensure_ascii=ensure_ascii) for item in IDS]
    path = write(tmp_path, "x.jsonl", "\n".join(lines))
    assert [fields[0] for _, fields in read(path, (TASK, LABEL))] == IDS


@pytest.mark.parametrize(
    "literal", ["7", "1e5", "1E5", "1.50", "-0", "12345678901234567890", "0.1000000000000000000001"]
)
def test_numbers_in_json_lines_keep_their_digits(tmp_path: Path, literal: str) -> None:
    path = write(tmp_path, "x.jsonl", f'{{"task": {literal}, "label": true}}')
    assert read(path, (TASK, LABEL)) == [(1, (literal, "true"))]


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1), min_size=1))
def test_whatever_the_csv_module_writes_is_read_back(tmp_path_factory: pytest.TempPathFactory, ids: Any) -> None:
    path = tmp_path_factory.mktemp("ids") / "x.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([["task", "label"], *[[item, "1"] for item in ids]])
    assert [fields[0] for _, fields in read(path, (TASK, LABEL))] == ids


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "FILE is empty; it must have rows"),
        ("\n \n", "FILE is empty; it must have rows"),
        ('""\n', "FILE is empty; it must have rows"),
        ("task,worker,label", "FILE has a header and no rows"),
        ("\ufefftask,worker,label\r\n\r\n", "FILE has a header and no rows"),
        ("task,worker\na,w\n", "FILE, line 1: no column 'label'; there is 'task', 'worker'"),
        ("\nitem,label\na,1\n", "FILE, line 2: no column 'task'; there is 'item', 'label'"),
        (
            "task;worker;label\na;w;1\n",
            "FILE, line 1: no column 'task'; there is 'task;worker;label'; a header line comes first, "
            "fields are parted by commas or tabs",
        ),
        (
            "task,label,label\na,1,1\n",
            "FILE, line 1: columns 2 ('label') and 3 ('label') could both be the label; choose or rename one",
        ),
        (
            "TaskId,question,label\na,b,1\n",
            "FILE, line 1: columns 1 ('TaskId') and 2 ('question') could both be the task; choose or rename one",
        ),
        ("task,worker,label\na,w,1\nb,v\n", "FILE, line 3: 2 fields where the first row has 3"),
        ("task,worker,label\na,w,1,\n", "FILE, line 2: 4 fields where the first row has 3"),
        ('task,worker,label\na,w,1\n"b,v,0\nc,v,0\n', "FILE, line 3: a quote opens in this row and is never closed"),
        (
            'task,worker,label\n"' + "x" * 140_000,
            "FILE, line 2: a field of more than 131,072 characters; is a quote never closed?",
        ),
        (
            'task,worker,label\n"a"b,w,1\n',
            "FILE, line 2: text follows a closing quote; inside quotes a quote is written twice",
        ),
        ("task,worker,label\na\0,w,1\n", "FILE, line 2: a NUL byte; the file must be UTF-8 text"),
        (
            "task,worker,label\né,w,1\nb,é".encode() + b"\xe9,1\n",
            "FILE, line 3, byte 5: 0xe9 is not UTF-8; save the file as UTF-8",
        ),
        (
            "task,worker,label\na,w,1\n".encode("utf-16"),
            "FILE, line 1, byte 1: 0xff is not UTF-8; save the file as UTF-8",
        ),
    ],
)
def test_a_bad_table_is_refused_in_one_line_that_says_where(tmp_path: Path, content: Any, message: str) -> None:
    assert error_of(write(tmp_path, "x.csv", content)) == message


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            '{"task": "a", "label": 1}\n{"task": "b", "la',
            "FILE, line 2: not a whole JSON object (Unterminated string starting at: line 1 column 15 (char 14))",
        ),
        (
            '{"task": "a", "label": 1}\n\n["b", 1]\n',
            'FILE, line 3: not a JSON object such as {"task": "a", "label": 1}',
        ),
        ('{"task": "a", "label": 1}\n{"task": "b"}\n', "FILE, line 2: no key 'label'; there is 'task'"),
        ('{"item": "a"}\n', "FILE, line 1: no key 'task'; there is 'item'"),
        (
            '{"task": "a", "task": "b", "label": 1}',
            "FILE, line 1: not a whole JSON object (a key stands twice in one object)",
        ),
        ('{"task": ["a"], "label": 1}', "FILE, line 1: the task must be text or a number, not a list or an object"),
        ('{"task": "\\ud800", "label": 1}', "FILE, line 1: the task holds half a surrogate pair, which is no text"),
        ('{"task": "a\\u0000", "label": 1}', "FILE, line 1: the task holds a NUL character"),
        ('{"task": ' + "[" * 100_000, "FILE, line 1: not a whole JSON object (maximum recursion depth exceeded"),
        ("{}", "FILE is empty; it must have rows"),
    ],
)
def test_bad_json_lines_are_refused_in_one_line_that_says_where(tmp_path: Path, content: Any, message: str) -> None:
    assert error_of(write(tmp_path, "x.jsonl", content)).startswith(message)


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_gzip_data_cut_off_anywhere_are_refused(tmp_path: Path, name: str) -> None:
    rows = [f'{{"task": "{i * i}", "label": {i % 2}}}' if "json" in name else f"{i * i},{i % 2}" for i in range(2000)]
    whole = gzip.compress("\n".join([*([] if "json" in name else ["task,label"]), *rows]).encode())
    for length in (2, 9, 10, 11, 1000, len(whole) - 9, len(whole) - 1):
        message = error_of(write(tmp_path, name + ".gz", whole[:length]), (TASK, LABEL))
        assert message.startswith("FILE, line ")
        assert "the gzip data are cut off or damaged" in message
    damaged = bytearray(whole)
    damaged[-8] ^= 0xFF
    assert "the gzip data are cut off or damaged" in error_of(
        write(tmp_path, name + ".gz", bytes(damaged)), (TASK, LABEL)
    )


def test_a_path_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert error_of(tmp_path / "none.csv") == "cannot read FILE: No such file or directory"
    assert error_of(tmp_path) == "cannot read FILE: Is a directory"
    assert error_of("a\0b") == "cannot read FILE: embedded null byte"


def test_a_chosen_column_is_the_only_one_that_will_do(tmp_path: Path) -> None:
    path = write(tmp_path, "x.csv", "task,Task,item,label\na,b,c,1\n")
    for chosen, value in (("task", "a"), ("Task", "b"), ("item", "c")):
        assert read(path, (Column("task", TASK.names, chosen), LABEL)) == [(2, (value, "1"))]
    assert error_of(path, (Column("task", TASK.names, "Item"),)) == (
        "FILE, line 1: no column 'Item'; there is 'task', 'Task', 'item', 'label'"
    )
    assert error_of(path, (Column("worker", WORKER.names, "who", optional=True),)).startswith(
        "FILE, line 1: no column 'who'"
    )


def test_headless_makes_the_first_row_a_row(tmp_path: Path) -> None:
    with open_table(write(tmp_path, "x.csv", "0.5\n0.25\n")) as table:
        assert list(table.fields([Column("mean", ("0.5",))], headless=True)) == [(1, ("0.5",)), (2, ("0.25",))]


def test_an_option_that_says_which_column_it_is_is_named_unless_it_was_given() -> None:
    task = Column("task", ("task",), choice="--task-col")
    with pytest.raises(InvalidInputError) as caught:
        task.place(("item", "label"), "x.csv, line 1")
    assert str(caught.value) == (
        "x.csv, line 1: no column 'task'; there is 'item', 'label'; --task-col says which it is"
    )
    with pytest.raises(InvalidInputError) as caught:
        Column("task", ("task",), chosen="thing", choice="--task-col").place(("item", "label"), "x.csv, line 1")
    assert str(caught.value) == "x.csv, line 1: no column 'thing'; there is 'item', 'label'"


@pytest.mark.parametrize(
    ("begin", "what"),
    [
        (b"PK\x03\x04\x14\x00", "a zip archive or a spreadsheet"),
        (b"\x28\xb5\x2f\xfd\x04", "compressed by Zstandard"),
        (b"BZh91AY", "compressed by bzip2"),
        (b"\xfd7zXZ\x00", "compressed by xz"),
        (b"PAR1\x15", "a Parquet file"),
        (b"SQLite format 3\x00", "an SQLite database"),
    ],
)
def test_a_file_that_is_no_text_is_called_what_it_is(tmp_path: Path, begin: bytes, what: str) -> None:
    message = f"FILE is {what}; unpack or export it: CSV, TSV and JSON Lines can be read"
    assert error_of(write(tmp_path, "x.csv", begin + b"\x00\xff\n")) == message


@pytest.mark.parametrize("name", ["x.json", "x.jsonl", "x", "x.json.gz"])
@pytest.mark.parametrize(
    ("content", "line"), [('[{"task": "a", "label": 1}]', 1), ('\n[\n  {"task": "a",\n "label": 1}\n]\n', 3)]
)
def test_the_objects_of_a_json_array_are_rows(tmp_path: Path, name: str, content: str, line: int) -> None:
    path = write(tmp_path, name, gzip.compress(content.encode()) if name.endswith("gz") else content)
    assert read(path, (TASK, LABEL)) == [(line, ("a", "1"))]


def test_a_csv_file_may_begin_with_a_bracket(tmp_path: Path) -> None:
    assert read(write(tmp_path, "x.csv", "[note],task,label\nx,a,1\n"), (TASK, LABEL)) == [(2, ("a", "1"))]


@pytest.mark.parametrize("begin", ['{"task": "a"}\n', ' [\n {"task": "a"}]', '\ufeff[{ "task": "a"}]'])
def test_json_that_is_called_csv_is_refused_as_what_it_is(tmp_path: Path, begin: str) -> None:
    message = "FILE begins as JSON does, not as CSV; name it .json or .jsonl"
    assert error_of(write(tmp_path, "x.csv", begin)) == message
