"""Reading recorded labels, gold answers, totals, pilot results and means.

Every reader takes CSV, TSV or JSON Lines, gzipped or not, or ``-`` for standard input; a header names the
columns, in any order, and other columns are left alone. Ids are text exactly as they stand: NA, 007 and 1e5
mean nothing special, and a JSON number keeps its digits. Whatever is wrong raises InvalidInputError with
file and line.
"""

from collections.abc import Iterator
from typing import TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError
from cutline.recorded.labels import LabelWords, Reading, is_number, to_number
from cutline.recorded.observations import Counts, Observations, Pilot, RecordedLabel, TaskTotals
from cutline.recorded.rows import Column, StrPath, Table, open_table
from cutline.text import quoted

T = TypeVar("T")

_MOST = 2**53
"""Beyond it a float, which totals become, no longer counts single labels."""

_TASK = ("task", "taskid", "task_id", "question", "arm")
_WORKER = ("worker", "workerid", "worker_id", "performer", "annotator")
_LABEL = ("label", "answer", "reward")
_GOLD = (*_LABEL, "truth", "gold")
_YES = Column("number of yes labels", ("yes",))
_N = Column("number of labels", ("n",))
_PILOT = (
    Column("arm", ("arm", *_TASK), optional=True),
    Column("pulls", ("pulls", "n")),
    Column("total", ("total", "yes")),
)


def iter_observations(path: StrPath, **reading: Unpack[Reading]) -> Iterator[RecordedLabel]:
    """Yield the observations of a file one by one, in its order and in constant memory.

    The columns are task, worker and label, unless named; the older headers taskId, question, workerId,
    performer, annotator, answer and reward are understood, in any case. A worker is None where there is no
    such column or its field is empty, and so is a key, from the column of that name. Labels are 0 or 1, true or
    false, or numbers in [0, 1], or the words of ``reading``, see ``labels.Reading``.
    Raises InvalidInputError at the first row that is wrong, for a file without rows, and at the end for a word of
    ``reading`` that never occurred.
    """
    with open_table(path) as table:
        yield from _observations(table, reading)


def read_observations(path: StrPath, **reading: Unpack[Reading]) -> Observations:
    """Return all observations of a file; see ``iter_observations``, which takes and raises the same."""
    with open_table(path) as table:
        return _collect(table, reading)


def read_recorded(path: StrPath, **reading: Unpack[Reading]) -> Observations | Counts:
    """Return what a file holds: Counts where it has columns yes and n and no label, Observations elsewhere.

    Takes and raises the same as ``read_observations`` and ``read_counts``.
    """
    with open_table(path) as table:
        return (
            _collect_counts(table, reading.get("task_col")) if _has_totals(table, reading) else _collect(table, reading)
        )


def iter_recorded(path: StrPath, **reading: Unpack[Reading]) -> Iterator[RecordedLabel] | Iterator[TaskTotals]:
    """Yield what ``read_recorded`` returns row by row, in constant memory: a task may come twice among totals."""
    with open_table(path) as table:
        if _has_totals(table, reading):
            yield from _totals(table, reading.get("task_col"))
        else:
            yield from _observations(table, reading)


def read_counts(path: StrPath, *, task_col: str | None = None) -> Counts:
    """Return the totals in a file with the columns task, yes and n: of n labels, yes were 1.

    Raises InvalidInputError for numbers that are not whole, yes above n, n below 1, and a task given twice.
    """
    with open_table(path) as table:
        return _collect_counts(table, task_col)


def read_gold(path: StrPath, **reading: Unpack[Reading]) -> dict[str, bool]:
    """Return the true answer of each task in a file with the columns task and label (or truth, or gold).

    Answers are 0 and 1, or the words of ``reading`` where any of them occurs: gold may be written like the labels, or
    be plain beside them. Raises InvalidInputError for other answers and for a task with two different ones.
    """
    columns = [
        Column("task", _TASK, reading.get("task_col"), "--task-col"),
        Column("answer", _GOLD, reading.get("label_col")),
    ]
    with open_table(path) as table:
        rows = [(line, task, text) for line, (task, text) in table.fields(columns)]
    words = _words(reading)
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
        if gold.setdefault(_id(task, "task", where), bool(answer)) != bool(answer):
            raise InvalidInputError(f"{where}: task {quoted(task or '')} has another answer further up")
    return gold


def read_pilot(path: StrPath) -> Pilot:
    """Return the pulls and the total reward of each arm: columns pulls (or n) and total (or yes), and maybe arm.

    Raises InvalidInputError for pulls that are not whole or below 0, a total outside [0, pulls], and an arm
    given twice.
    """
    rows: dict[str, tuple[int, float, int]] = {}
    with open_table(path) as table:
        for line, (arm, pulls_text, total_text) in table.fields(_PILOT):
            where = f"{table.name}, line {line}"
            name = str(len(rows) + 1) if arm is None else _id(arm, "arm", where)
            pulls, total = _whole(pulls_text, "pulls", where), to_number(total_text)
            if not 0 <= total <= pulls:
                raise InvalidInputError(f"{where}: the total is {total_text!r}; it must be a number from 0 to {pulls}")
            _add(rows, name, (pulls, total, line), where)
        return Pilot(
            table.name,
            tuple(rows),
            np.array([pulls for pulls, _, _ in rows.values()], dtype=np.int64),
            np.array([total for _, total, _ in rows.values()], dtype=np.float64),
            tuple(f"{table.name}, line {line}" for _, _, line in rows.values()),
        )


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


def _has_totals(table: Table, reading: Reading) -> bool:
    """Whether a table holds totals: it has columns yes and n and no label."""
    header = {name.strip().lower() for name in table.header}
    totals = {"yes", "n"} <= header and not header.intersection(_LABEL) and reading.get("label_col") is None
    if totals and _words(reading):
        raise InvalidInputError(f"{table.name} has totals, columns yes and n, so no label can be one of the words")
    return totals


def _words(reading: Reading) -> LabelWords:
    return LabelWords(reading.get("positive"), reading.get("negative"), reading.get("skip"))


def _observations(table: Table, reading: Reading) -> Iterator[RecordedLabel]:
    columns = [
        Column("task", _TASK, reading.get("task_col"), "--task-col"),
        Column("worker", _WORKER, reading.get("worker_col"), "--worker-col", optional=True),
        Column("label", _LABEL, reading.get("label_col"), "--label-col"),
        Column("key", ("key",), optional=True),
    ]
    words = _words(reading)
    line = kept = 0
    for line, (task, worker, text, key) in table.fields(columns):
        label = words.value(text, table.name, line)
        if label is not None:
            kept += 1
            yield RecordedLabel(
                task or _id(task, "task", f"{table.name}, line {line}"), worker or None, label, line, key or None
            )
    remark, say = words.finish(table.name), reading.get("remark")
    if not kept:
        raise InvalidInputError(f"{table.name}: every label up to line {line} is one to skip, so none is left")
    if remark is not None and say is not None:
        say(remark)


def _collect(table: Table, reading: Reading) -> Observations:
    tasks: dict[str, int] = {}
    names: dict[str | None, str | None] = {}
    task, workers, labels, lines, keys = [], [], [], [], []
    for row in _observations(table, reading):
        task.append(tasks.setdefault(row.task, len(tasks)))
        workers.append(names.setdefault(row.worker, row.worker))
        labels.append(row.label)
        lines.append(row.line)
        keys.append(row.key)
    return Observations(
        table.name,
        tuple(tasks),
        np.array(task, dtype=np.int64),
        tuple(workers),
        np.array(labels, dtype=np.float64),
        np.array(lines, dtype=np.int64),
        tuple(keys) if any(keys) else None,
    )


def _collect_counts(table: Table, task_col: str | None) -> Counts:
    rows: dict[str, tuple[int, int]] = {}
    for task, yes, n, line in _totals(table, task_col):
        _add(rows, task, (yes, n), f"{table.name}, line {line}")
    totals = np.array(list(rows.values()), dtype=np.int64)
    return Counts(table.name, tuple(rows), totals[:, 0].copy(), totals[:, 1].copy())


def _totals(table: Table, task_col: str | None) -> Iterator[TaskTotals]:
    for line, (task, yes_text, n_text) in table.fields([Column("task", _TASK, task_col), _YES, _N]):
        where = f"{table.name}, line {line}"
        yes, n = _whole(yes_text, "yes", where), _whole(n_text, "n", where)
        if n < 1 or yes > n:
            raise InvalidInputError(f"{where}: {yes} yes of {n} labels; n must be at least 1, and yes at most n")
        yield TaskTotals(_id(task, "task", where), yes, n, line)


def _add(rows: dict[str, T], name: str, value: T, where: str) -> None:
    if name in rows:
        raise InvalidInputError(f"{where}: {quoted(name)} stands further up already; give each once")
    rows[name] = value


def _id(text: str | None, role: str, where: str) -> str:
    if not text:
        raise InvalidInputError(f"{where}: the {role} is {'null' if text is None else 'empty'}; it must be text")
    return text


def _mean(text: str | None, where: str) -> float:
    value = to_number(text)
    if not 0.0 <= value <= 1.0:
        raise InvalidInputError(f"{where}: {quoted(text or '')} is no mean; it must be a number in [0, 1]")
    return value


def _whole(text: str | None, role: str, where: str) -> int:
    plain = (text or "").strip()
    if not (plain.isascii() and plain.isdigit()):
        raise InvalidInputError(f"{where}: {role} is {quoted(text or '')}; it must be a whole number, 0 or above")
    if len(plain.lstrip("0")) > 16 or int(plain) > _MOST:
        raise InvalidInputError(f"{where}: {role} is {quoted(plain)}; the most is 2^53, {_MOST:,}")
    return int(plain)
