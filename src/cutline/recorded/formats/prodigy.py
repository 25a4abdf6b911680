"""Annotations of Prodigy, JSON Lines as ``prodigy db-out`` writes them: a line a decision.

Source: Prodigy documentation, "Annotation interfaces" and "Built-in recipes": _input_hash and _task_hash are of the
input and of the question about it, answer is accept, reject or ignore, _annotator_id and _session_id say who; ``label``
is the question, no answer.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from cutline.errors import InvalidInputError
from cutline.recorded.documents import objects
from cutline.recorded.formats._fields import text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File


class Prodigy(Format):
    """A dataset of Prodigy."""

    name = "prodigy"
    tool = "Prodigy, db-out (JSON Lines)"
    task = "`_task_hash`, or a field such as `_input_hash` or `text`"
    label = "`answer`: accept is 1, reject is 0"
    worker = "`_annotator_id` or `_session_id`"
    key = "task and worker"
    leaves_out = "ignored ones"
    meanings: ClassVar[Mapping[str, float]] = {"accept": 1.0, "reject": 0.0}

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("{") and beginning.has("answer") and (beginning.has("_task_hash"))

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        for line, row in objects(file):
            where = f"{file.name}, line {line}"
            answer = text_at(row, choice.label or "answer", "answer", where)
            if text_at(row, "answer", "answer", where) == "ignore":
                yield LeftOut(line, "ignored")
            else:
                task = text_at(row, _task(row, choice, where), "task", where)
                yield Answer(line, task, answer, _worker(row, choice, where))


def _task(row: dict[str, Any], choice: Choice, where: str) -> str:
    for name in [choice.task] if choice.task is not None else ["_task_hash", "_input_hash"]:
        if text_at(row, name, "task", where) is not None:
            return name
    raise InvalidInputError(f"{where}: no {choice.task or '_task_hash or _input_hash'}; --task-col names a field")


def _worker(row: dict[str, Any], choice: Choice, where: str) -> str | None:
    if choice.worker is not None:
        return text_at(row, choice.worker, "worker", where)
    return text_at(row, "_annotator_id", "worker", where) or text_at(row, "_session_id", "worker", where)
