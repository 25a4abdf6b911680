"""Reading recorded labels, gold answers, totals, pilot results and means.

Every reader takes CSV, TSV, JSON Lines or a JSON array, gzipped or not, or ``-`` for standard input; a header names the
columns, in any order, and other columns are left alone. Labels are read in the formats of ``cutline.recorded.formats``,
too, and from several files. Ids are text exactly as they stand: NA, 007 and 1e5
mean nothing special, and a JSON number keeps its digits. Whatever is wrong raises InvalidInputError with
file and line.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError
from cutline.recorded import formats
from cutline.recorded.labelling import LABEL, TASK, Labelled, Paths, required, totals_of, whole, words_of
from cutline.recorded.labels import LabelWords, Reading, is_number, to_number
from cutline.recorded.observations import Counts, Observations, Pilot, RecordedLabel, TaskTotals
from cutline.recorded.opening import StrPath, open_file
from cutline.recorded.rows import Column, Table, open_table, table_of
from cutline.text import quoted

T = TypeVar("T")

_GOLD = (*LABEL, "truth", "gold")
_OF_LABELS = ("task_col", "worker_col", "label_col", "positive", "negative", "skip", "where")
_PILOT = (
    Column("arm", ("arm", *TASK), optional=True),
    Column("pulls", ("pulls", "n")),
    Column("total", ("total", "yes")),
)


def iter_observations(path: Paths, **reading: Unpack[Reading]) -> Iterator[RecordedLabel]:
    """Yield the observations of a file, or of several, one by one, in their order and in constant memory.

    A file is read in the format that ``reading`` names or that its beginning shows, else as a table. Its columns are
    task, worker and label, unless named; the older headers taskId, question, workerId, performer, annotator, answer
    and reward are understood, in any case. A worker is None where there is no such column or its field is empty, and
    so is a key, from the column of that name. Labels are 0 or 1, true or false, or numbers in [0, 1], or the words of
    ``reading``, see ``labels.Reading``.
    Raises InvalidInputError at the first row that is wrong, for a file without rows, and at the end for a word of
    ``reading`` that never occurred; NotFoundError for a format that there is not.
    """
    for row in Labelled(path, **reading).rows(totals=False):
        assert isinstance(row, RecordedLabel)
        yield row


def read_observations(path: Paths, **reading: Unpack[Reading]) -> Observations:
    """Return all observations of a file; see ``iter_observations``, which takes and raises the same."""
    labelled = Labelled(path, **reading)
    return _collect(labelled.source, labelled.rows(totals=False))


def read_recorded(path: Paths, **reading: Unpack[Reading]) -> Observations | Counts:
    """Return what a file holds: Counts where it has columns yes and n and no label, Observations elsewhere.

    Takes and raises the same as ``read_observations`` and ``read_counts``.
    """
    labelled = Labelled(path, **reading)
    rows = labelled.rows()
    first = next(rows)
    every = chain([first], rows)
    return (
        _collect_counts(labelled.source, every) if isinstance(first, TaskTotals) else _collect(labelled.source, every)
    )


def iter_recorded(path: Paths, **reading: Unpack[Reading]) -> Iterator[RecordedLabel | TaskTotals]:
    """Yield what ``read_recorded`` returns row by row, in constant memory: a task may come twice among totals."""
    return Labelled(path, **reading).rows()


def read_counts(path: StrPath, *, task_col: str | None = None) -> Counts:
    """Return the totals in a file with the columns task, yes and n: of n labels, yes were 1.

    Raises InvalidInputError for numbers that are not whole, yes above n, n below 1, and a task given twice.
    """
    with open_table(path) as table:
        return _collect_counts(table.name, totals_of(table, task_col))


def read_gold(path: StrPath, **reading: Unpack[Reading]) -> dict[str, bool]:
    """Return the true answer of each task in a file with the columns task and label (or truth, or gold).

    Answers are 0 and 1, or the words of ``reading`` where any of them occurs: gold may be written like the labels, or
    be plain beside them. Raises InvalidInputError for other answers and for a task with two different ones.
    """
    columns = [
        Column("task", TASK, reading.get("task_col"), "--task-col"),
        Column("answer", _GOLD, reading.get("label_col")),
    ]
    with open_table(path) as table:
        rows = [(line, task, text) for line, (task, text) in table.fields(columns)]
    words = words_of(reading)
    if not any(text in words for _, _, text in rows):
        words = LabelWords()
    gold: dict[str, bool] = {}
    for line, task, text in rows:
        where = f"{table.name}, line {line}"
        answer = words.value(text, table.name, line)
        if answer is None:
            continue
        if answer not in (0.0, 1.0):
            raise InvalidInputError(f"{where}: the answer is {text!r}; it must be 0 or 1")
        if gold.setdefault(required(task, "task", where), bool(answer)) != bool(answer):
            raise InvalidInputError(f"{where}: task {quoted(task or '')} has another answer further up")
    return gold


def read_pilot(path: StrPath, **reading: Unpack[Reading]) -> Pilot:
    """Return the pulls and the total reward of each arm: columns pulls (or n) and total (or yes), and maybe arm.

    A file that has labels instead, in a format or in columns, gives the number and the sum of those of each arm;
    ``reading`` is for such. Raises InvalidInputError for pulls that are not whole or below 0, a total outside
    [0, pulls], an arm given twice, and what ``iter_observations`` raises.
    """
    with open_file(path) as file:
        named = reading.get("format") is not None or any(reading.get(name) for name in _OF_LABELS)
        table = None if named or formats.recognised(file) is not None else table_of(file)
        if table is not None and not _has_labels(table):
            return _pilot(table)
        labelled = Labelled(path, **reading)
        return _pilot_of_labels(labelled.source, labelled.rows_in(file, table))


def _pilot(table: Table) -> Pilot:
    rows: dict[str, tuple[int, float, int]] = {}
    for line, (arm, pulls_text, total_text) in table.fields(_PILOT):
        where = f"{table.name}, line {line}"
        name = str(len(rows) + 1) if arm is None else required(arm, "arm", where)
        pulls, total = whole(pulls_text, "pulls", where), to_number(total_text)
        if not 0 <= total <= pulls:
            raise InvalidInputError(f"{where}: the total is {total_text!r}; it must be a number from 0 to {pulls}")
        _add(rows, name, (pulls, total, line), where)
    return _as_pilot(table.name, rows)


def _pilot_of_labels(source: str, labels: Iterable[RecordedLabel | TaskTotals]) -> Pilot:
    rows: dict[str, tuple[int, float, int]] = {}
    for row in labels:
        assert isinstance(row, RecordedLabel)
        pulls, total, line = rows.get(row.task, (0, 0.0, row.line))
        rows[row.task] = (pulls + 1, total + row.label, line)
    return _as_pilot(source, rows)


def _as_pilot(source: str, rows: dict[str, tuple[int, float, int]]) -> Pilot:
    return Pilot(
        source,
        tuple(rows),
        np.array([pulls for pulls, _, _ in rows.values()], dtype=np.int64),
        np.array([total for _, total, _ in rows.values()], dtype=np.float64),
        tuple(f"{source}, line {line}" for _, _, line in rows.values()),
    )


def _has_labels(table: Table) -> bool:
    """Whether a table holds labels and no pulls or totals."""
    header = {name.strip().lower() for name in table.header}
    return bool(header.intersection(LABEL)) and not header.intersection(("pulls", "n"))


def read_means(path: StrPath, *, column: str | None = None) -> NDArray[np.float64]:
    """Return the means in a file, float64 of shape (K,): one number in [0, 1] a line, or a column of a table.

    A first line that begins with a letter is a header. Of several columns the one called ``column`` is taken, else
    mean. Raises InvalidInputError, with the line, for anything that is no number in [0, 1].
    """
    with open_table(path) as table:
        first = table.header[0].strip()
        if column is None and len(table.header) == 1:
            headless = not first[:1].isalpha() or "." in first or is_number(first)
            rows = table.fields([Column("mean", (first.lower(),))], headless=headless)
        else:
            rows = table.fields([Column("mean", ("mean", "means"), column, "--means-column")])
        return np.array([_mean(text, f"{table.name}, line {line}") for line, (text,) in rows])


def _collect(source: str, rows: Iterable[RecordedLabel | TaskTotals]) -> Observations:
    tasks: dict[str, int] = {}
    names: dict[str | None, str | None] = {}
    task, workers, labels, lines, keys = [], [], [], [], []
    for row in rows:
        assert isinstance(row, RecordedLabel)
        task.append(tasks.setdefault(row.task, len(tasks)))
        workers.append(names.setdefault(row.worker, row.worker))
        labels.append(row.label)
        lines.append(row.line)
        keys.append(row.key)
    return Observations(
        source,
        tuple(tasks),
        np.array(task, dtype=np.int64),
        tuple(workers),
        np.array(labels, dtype=np.float64),
        np.array(lines, dtype=np.int64),
        tuple(keys) if any(keys) else None,
    )


def _collect_counts(source: str, rows: Iterable[RecordedLabel | TaskTotals]) -> Counts:
    found: dict[str, tuple[int, int]] = {}
    for row in rows:
        assert isinstance(row, TaskTotals)
        _add(found, row.task, (row.yes, row.n), f"{source}, line {row.line}")
    totals = np.array(list(found.values()), dtype=np.int64)
    return Counts(source, tuple(found), totals[:, 0].copy(), totals[:, 1].copy())


def _add(rows: dict[str, T], name: str, value: T, where: str) -> None:
    if name in rows:
        raise InvalidInputError(f"{where}: {quoted(name)} stands further up already; give each once")
    rows[name] = value


def _mean(text: str | None, where: str) -> float:
    value = to_number(text)
    if not 0.0 <= value <= 1.0:
        raise InvalidInputError(f"{where}: {quoted(text or '')} is no mean; it must be a number in [0, 1]")
    return value
