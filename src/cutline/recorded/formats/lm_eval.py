"""Samples of the lm-evaluation-harness, JSON Lines as ``--log_samples`` writes them: a line a document and filter.

Source: lm_eval's own output, ``samples_TASK_DATE.jsonl``: doc_id, filter, metrics (their names), and a value for each
metric. The name of the file says which run it was.
"""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.documents import objects, text_of
from cutline.recorded.formats._fields import items, text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File
from cutline.text import quoted


class LmEval(Format):
    """The samples of a task of the lm-evaluation-harness."""

    name = "lm-eval"
    tool = "lm-evaluation-harness, samples (JSON Lines)"
    task = "`doc_id`, or a field such as `doc_hash` or `doc.question`"
    label = "the metric"
    worker = "none"
    key = "the file's name and `doc_id`"
    leaves_out = "filters other than the first, or the one of `--where filter=NAME`"
    flat = True
    asks = frozenset(("task", "label"))

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("{") and beginning.has("doc_id", "filtered_resps")

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        source = PurePath(file.name).name.removesuffix(".gz")
        conditions = choice.conditions
        first: str | None = None
        for line, row in objects(file):
            where = f"{file.name}, line {line}"
            if conditions.columns and not conditions.hold(
                [text_at(row, name, f"field {name}", where) for name in conditions.columns]
            ):
                continue
            name = text_at(row, "filter", "filter", where)
            first = first or name
            if name != first:
                yield LeftOut(line, "other filters")
                continue
            document = text_at(row, "doc_id", "doc_id", where)
            task = document if choice.task is None else text_at(row, choice.task, "task", where)
            yield Answer(line, task, _value(row, choice.label, where), None, f"{source} {name} {document}")
        conditions.finish(file.name)


def _value(row: dict[str, Any], metric: str | None, where: str) -> str | None:
    names = [str(name) for name in items(row, "metrics", where)]
    if metric is None and len(names) != 1:
        some = ", ".join(quoted(name) for name in names) or "none"
        raise InvalidInputError(f"{where}: of the metrics ({some}) one counts; --label-col says which")
    name = metric or names[0]
    if name not in row:
        raise InvalidInputError(f"{where}: no {quoted(name)}; the metrics are {', '.join(names)}")
    return text_of(row[name], "label", where)
