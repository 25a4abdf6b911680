"""Classification exports of Zooniverse, CSV: a row a classification, whose annotations are JSON.

Source: Zooniverse, "Data exports" (help.zooniverse.org) and the tests of panoptes_aggregation: annotations is a list of
{"task": "T0", "task_label": "...", "value": "Yes"}; subject_ids has several subjects with ; between them.
"""

import json
from collections.abc import Iterator
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.documents import text_of
from cutline.recorded.formats._fields import named
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File
from cutline.text import quoted


class Zooniverse(Format):
    """A classification export of a project of Zooniverse."""

    name = "zooniverse"
    tool = "Zooniverse, classification export (CSV)"
    task = "`subject_ids`"
    label = "the value of the task, such as `T0`, in `annotations`"
    worker = "`user_name`"
    key = "`classification_id`"
    leaves_out = "classifications without an answer to the task"
    flat = True

    def recognises(self, beginning: Beginning) -> bool:
        return {"classification_id", "annotations", "subject_ids"} <= set(beginning.header())

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        table = choice.table(file)
        columns = [
            named(choice.task or "subject_ids", "task"),
            named("annotations", "annotations"),
            named(choice.worker or "user_name", "worker"),
            named("classification_id", "key"),
        ]
        for line, (task, annotations, worker, key) in table.fields(columns):
            where = f"{table.name}, line {line}"
            answers = _answers(annotations or "", where)
            if choice.label is None and len(answers) > 1:
                some = ", ".join(quoted(name) for name in answers)
                raise InvalidInputError(f"{where}: the tasks {some} are answered; --label-col says which counts")
            value = answers.get(choice.label or next(iter(answers), ""))
            if value is None or value == []:
                yield LeftOut(line, "no answer")
            elif isinstance(value, list) and len(value) > 1:
                yield LeftOut(line, "several values")
            else:
                label = text_of(value[0] if isinstance(value, list) else value, "label", where)
                yield Answer(line, task, label, worker, key)


def _answers(text: str, where: str) -> dict[str, Any]:
    """Return the value of each task that is answered."""
    try:
        found = json.loads(text, parse_int=str, parse_float=str)
        return {str(item["task"]): item["value"] for item in found}
    except (ValueError, RecursionError, TypeError, KeyError):
        raise InvalidInputError(
            f'{where}: annotations are {quoted(text)}; they must be like [{{"task": "T0", "value": "Yes"}}]'
        ) from None
