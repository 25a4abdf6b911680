"""The wide matrix that cleanlab's ``multiannotator`` takes, CSV: a row an example, a column an annotator.

Source: cleanlab documentation, ``cleanlab.multiannotator``: labels_multiannotator is a DataFrame with an example a row,
an annotator a column, and NaN where an annotator has no label; pandas writes its index as a first column without name.
"""

from collections.abc import Iterator

from cutline.recorded.formats._fields import named
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.labels import is_number
from cutline.recorded.opening import File
from cutline.recorded.rows import Column

_NONE = ("", "nan")


class Cleanlab(Format):
    """A matrix of labels, as pandas writes it."""

    name = "cleanlab"
    tool = "cleanlab, labels_multiannotator (CSV)"
    task = "the first column"
    label = "the values"
    worker = "the other columns"
    key = "task and worker"
    leaves_out = "nothing; an empty field is no label"
    flat = True
    asks = frozenset(("task",))

    def recognises(self, beginning: Beginning) -> bool:
        header = beginning.header()
        second = beginning.text.lstrip("\r\n").split("\n")[1:2]
        values = second[0].rstrip("\r").split(",")[1:] if second else []
        numbers = [value for value in values if value]
        return header[:1] == ("",) and len(header) == len(values) + 1 > 2 and all(map(is_number, numbers))

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        table = choice.table(file)
        task = Column("task", (table.header[0],)) if choice.task is None else named(choice.task, "task")
        workers = [name for name in table.header if name not in (table.header[0], choice.task)]
        columns = [task, *(named(name, "worker") for name in workers)]
        for line, (example, *labels) in table.fields(columns):
            for worker, label in zip(workers, labels, strict=True):
                text = (label or "").strip()
                if text.lower() not in _NONE:
                    yield Answer(line, example, text.removesuffix(".0"), worker)
