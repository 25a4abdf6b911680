"""Records of Argilla 2, JSON as ``dataset.records.to_json`` writes them: an array of records with their responses.

Source: argilla's own output: id, fields, and responses, for each question a list of {"value", "user_id"}. It does
not say whether a response was submitted: ask Argilla for those alone, with a filter of ``response.status``.
"""

from collections.abc import Iterator
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.documents import objects, text_of
from cutline.recorded.formats._fields import objects_in, text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File
from cutline.text import quoted


class Argilla(Format):
    """The records of a dataset of Argilla."""

    name = "argilla"
    tool = "Argilla, records (JSON)"
    task = "`id`, or a field such as `fields.text`"
    label = "the value of the question"
    worker = "`user_id`"
    key = "task and worker"
    leaves_out = "responses without a value, or with several"
    asks = frozenset(("task", "label"))

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("[") and beginning.has("fields", "responses", "suggestions")

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        for line, row in objects(file):
            where = f"{file.name}, line {line}"
            task = text_at(row, choice.task or "id", "task", where)
            for response in _responses(row, choice.label, where):
                value = response.get("value")
                if value is None or isinstance(value, (list, dict)):
                    yield LeftOut(line, "no value" if value is None else "several values")
                else:
                    label = text_of(value, "label", where)
                    yield Answer(line, task, label, text_at(response, "user_id", "worker", where))


def _responses(row: dict[str, Any], question: str | None, where: str) -> list[dict[str, Any]]:
    found = row.get("responses") or {}
    if not isinstance(found, dict):
        raise InvalidInputError(f"{where}: responses must be an object, a question a key")
    if question is None and len(found) > 1:
        some = ", ".join(quoted(name) for name in found)
        raise InvalidInputError(f"{where}: the questions {some} are answered; --label-col says which counts")
    return objects_in(found, question or next(iter(found), ""), where)
