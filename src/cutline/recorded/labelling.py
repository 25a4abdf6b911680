"""From open files to recorded labels, one by one: in the format of a tool, or in columns with usual or chosen names."""

from collections import Counter
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Unpack

from cutline.errors import InvalidInputError
from cutline.recorded import formats
from cutline.recorded.conditions import Conditions
from cutline.recorded.formats import Answer, Choice, Format, LeftOut
from cutline.recorded.labels import LabelWords, Reading
from cutline.recorded.observations import RecordedLabel, TaskTotals
from cutline.recorded.opening import File, StrPath, open_file
from cutline.recorded.rows import Column, Table, table_of
from cutline.text import quoted

TASK = ("task", "taskid", "task_id", "question", "arm")
LABEL = ("label", "answer", "reward")

_WORKER = ("worker", "workerid", "worker_id", "performer", "annotator")
_YES = Column("number of yes labels", ("yes",))
_N = Column("number of labels", ("n",))
_MOST = 2**53
"""Beyond it a float, which totals become, no longer counts single labels."""

Paths = StrPath | Sequence[StrPath]


class Labelled:
    """The labels of one file or of several, read as ``reading`` says; see ``readers.iter_recorded``.

    ``source`` is what they are called in messages.
    """

    def __init__(self, paths: Paths, **reading: Unpack[Reading]) -> None:
        self._paths = [paths] if isinstance(paths, (str, PathLike)) else list(paths)
        if not self._paths:
            raise InvalidInputError("no file of labels is named")
        self._reading = reading
        self._left_out: Counter[str] = Counter()
        self._format: Format | None = None
        first = "standard input" if str(self._paths[0]) == "-" else str(self._paths[0])
        others = len(self._paths) - 1
        self.source = first if not others else f"{first} and {others} other{'s' if others > 1 else ''}"

    def rows(self, totals: bool = True) -> Iterator[RecordedLabel | TaskTotals]:
        """Yield all labels in constant memory, or, unless ``totals`` is False, the totals of a file that has those."""
        yield from self._to_the_end(self._rows_of_all(totals))

    def rows_in(self, file: File, table: Table | None) -> Iterator[RecordedLabel | TaskTotals]:
        """Yield the labels in the one file, which is open; ``table`` if its header has been read as that of one."""
        yield from self._to_the_end(self._rows(file, totals=False) if table is None else self._labels(table))

    def _to_the_end(self, rows: Iterator[RecordedLabel | TaskTotals]) -> Iterator[RecordedLabel | TaskTotals]:
        """Yield rows, then say how they were read; raise InvalidInputError if there are none."""
        row = None
        for row in rows:
            yield row
        if row is None:
            label = self._reading.get("label_col")
            hint = "" if label is None else f"; is {quoted(label)}, which --label-col names, there?"
            what = f"no result is left: left out {self._counts()}" if self._left_out else "there is no result in it"
            raise InvalidInputError(f"{self.source}: {what}{hint}")
        if self._left_out or self._format is not None:
            self._remark()

    def _rows_of_all(self, totals: bool) -> Iterator[RecordedLabel | TaskTotals]:
        for path in self._paths:
            with open_file(path) as file:
                yield from self._rows(file, totals)

    def _rows(self, file: File, totals: bool) -> Iterator[RecordedLabel | TaskTotals]:
        chosen = self._reading.get("format")
        self._format = formats.recognised(file) if chosen is None else formats.named(chosen)
        conditions = Conditions(self._reading.get("where"))
        if self._format is not None:
            yield from self._results(self._format, file, conditions)
        else:
            table = table_of(file, conditions)
            if totals and has_totals(table, self._reading):
                if len(self._paths) > 1:
                    raise InvalidInputError(
                        f"{table.name} has totals, columns yes and n; give such files one at a time"
                    )
                yield from totals_of(table, self._reading.get("task_col"))
            else:
                yield from self._labels(table)
        self._left_out += conditions.left_out

    def _results(self, form: Format, file: File, conditions: Conditions) -> Iterator[RecordedLabel]:
        """Yield what a format finds in a file."""
        if conditions.columns and not form.flat:
            raise InvalidInputError(
                f"{file.name} is read as {form.name}, which has no columns for --where to choose by"
            )
        words, choice = words_of(self._reading), self._choice(form, file.name, conditions)
        kept = line = 0
        for item in form.read(file, choice):
            line = item.line
            if isinstance(item, LeftOut):
                self._left_out[item.why] += 1
                continue
            if item.label is None or not item.task:
                _require_named(item, choice, f"{file.name}, line {line}")
            label = _value(item, form, words, file.name)
            if label is None:
                self._left_out["to skip"] += 1
                continue
            kept += 1
            task = item.task or required(item.task, "task", f"{file.name}, line {line}")
            yield RecordedLabel(task, item.worker or None, label, line, item.key or None, None, file.name)
        if kept:
            words.finish(file.name)

    def _choice(self, form: Format, source: str, conditions: Conditions) -> Choice:
        """Return what the user says of a file; raise InvalidInputError for what its format does not ask."""
        reading = self._reading
        choice = Choice(reading.get("task_col"), reading.get("worker_col"), reading.get("label_col"), conditions)
        for role in ("task", "worker", "label"):
            if role not in form.asks and getattr(choice, role) is not None:
                raise InvalidInputError(
                    f"{source} is read as {form.name}, which finds the {role} by itself; leave out --{role}-col"
                )
        return choice

    def _labels(self, table: Table) -> Iterator[RecordedLabel]:
        """Yield the labels of a table."""
        reading = self._reading
        columns = [
            Column("task", TASK, reading.get("task_col"), "--task-col"),
            Column("worker", _WORKER, reading.get("worker_col"), "--worker-col", optional=True),
            Column("label", LABEL, reading.get("label_col"), "--label-col"),
            Column("key", ("key",), optional=True),
            Column("note", ("note",), optional=True),
        ]
        words = words_of(reading)
        line = kept = 0
        for line, (task, worker, text, key, note) in table.fields(columns):
            label = words.value(text, table.name, line)
            if label is not None:
                kept += 1
                task = task or required(task, "task", f"{table.name}, line {line}")
                yield RecordedLabel(task, worker or None, label, line, key or None, note or None, table.name)
        remark, say = words.finish(table.name), reading.get("remark")
        if not kept:
            raise InvalidInputError(f"{table.name}: every label up to line {line} is one to skip, so none is left")
        if remark is not None and say is not None:
            say(remark)

    def _remark(self) -> None:
        """Say how the files were read, and what was left out."""
        say = self._reading.get("remark")
        if say is None:
            return
        read = "" if self._format is None else f", read as {self._format.name}"
        say(f"{self.source}{read}: left out {self._counts()}")

    def _counts(self) -> str:
        return ", ".join(f"{count:,} {why}" for why, count in sorted(self._left_out.items())) or "nothing"


def has_totals(table: Table, reading: Reading) -> bool:
    """Whether a table holds totals: it has columns yes and n and no label."""
    header = {name.strip().lower() for name in table.header}
    totals = {"yes", "n"} <= header and not header.intersection(LABEL) and reading.get("label_col") is None
    if totals and words_of(reading):
        raise InvalidInputError(f"{table.name} has totals, columns yes and n, so no label can be one of the words")
    return totals


def totals_of(table: Table, task_col: str | None) -> Iterator[TaskTotals]:
    """Yield the totals of a table with the columns task, yes and n."""
    for line, (task, yes_text, n_text) in table.fields([Column("task", TASK, task_col), _YES, _N]):
        where = f"{table.name}, line {line}"
        yes, n = whole(yes_text, "yes", where), whole(n_text, "n", where)
        if n < 1 or yes > n:
            raise InvalidInputError(f"{where}: {yes} yes of {n} labels; n must be at least 1, and yes at most n")
        yield TaskTotals(required(task, "task", where), yes, n, line)


def words_of(reading: Reading) -> LabelWords:
    """Return the words that stand for labels."""
    return LabelWords(reading.get("positive"), reading.get("negative"), reading.get("skip"))


def required(text: str | None, role: str, where: str) -> str:
    """Return an id; raise InvalidInputError for one that is not there."""
    if not text:
        raise InvalidInputError(f"{where}: the {role} is {'null' if text is None else 'empty'}; it must be text")
    return text


def whole(text: str | None, role: str, where: str) -> int:
    """Return the whole number that a text is; raise InvalidInputError for another and for one beyond 2^53."""
    plain = (text or "").strip()
    if not (plain.isascii() and plain.isdigit()):
        raise InvalidInputError(f"{where}: {role} is {quoted(text or '')}; it must be a whole number, 0 or above")
    if len(plain.lstrip("0")) > 16 or int(plain) > _MOST:
        raise InvalidInputError(f"{where}: {role} is {quoted(plain)}; the most is 2^53, {_MOST:,}")
    return int(plain)


def _require_named(item: Answer, choice: Choice, where: str) -> None:
    """Raise InvalidInputError if what a result lacks is a field that the user has named."""
    for role, value, name in (("task", item.task, choice.task), ("label", item.label, choice.label)):
        if value is None and name is not None:
            raise InvalidInputError(f"{where}: there is no {quoted(name)}, which --{role}-col names")


def _value(item: Answer, form: Format, words: LabelWords, source: str) -> float | None:
    """Return what the label of a result means, None for one to skip."""
    if isinstance(item.label, float):
        if words:
            raise InvalidInputError(f"{source} is read as {form.name}, which knows what is 1 and what is 0 by itself")
        return item.label
    if not words and item.label is not None and item.label in form.meanings:
        return form.meanings[item.label]
    return words.value(item.label, source, item.line)
