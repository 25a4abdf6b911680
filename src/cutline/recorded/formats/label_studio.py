"""Exports of Label Studio, JSON: an array of tasks, each with its annotations.

Source: Label Studio documentation, "Label Studio JSON format of annotated tasks": annotations have id, completed_by,
was_cancelled, ground_truth and result, a list of regions with from_name, type and value; drafts stand beside them.
"""

from collections.abc import Iterator
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.documents import objects, text_of
from cutline.recorded.formats._fields import is_true, objects_in, text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File
from cutline.text import quoted


class LabelStudio(Format):
    """A JSON export of a project of Label Studio."""

    name = "label-studio"
    tool = "Label Studio, JSON export"
    task = "the task's `id`, or a field of its data"
    label = "the choice of the control, by its `from_name`"
    worker = "`completed_by`"
    key = "the annotation's `id` with the task's"
    leaves_out = "cancelled and ground truth annotations, drafts, annotations without such a choice"
    asks = frozenset(("task", "label"))

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("[") and beginning.has("data", "annotations")

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        for line, row in objects(file):
            where = f"{file.name}, line {line}"
            number = text_at(row, "id", "id of the task", where)
            task = number if choice.task is None else text_at(row, f"data.{choice.task}", "task", where)
            for annotation in objects_in(row, "annotations", where):
                why, label = _label(annotation, choice.label, where)
                if label is None:
                    yield LeftOut(line, why)
                    continue
                key = text_at(annotation, "id", "id of the annotation", where)
                yield Answer(line, task, label, _worker(annotation, where), key and f"{number} {key}")
            for _ in objects_in(row, "drafts", where):
                yield LeftOut(line, "drafts")


def _label(annotation: dict[str, Any], control: str | None, where: str) -> tuple[str, str | None]:
    """Return the label of an annotation, or why it has none."""
    if is_true(annotation.get("was_cancelled")):
        return "cancelled", None
    if is_true(annotation.get("ground_truth")):
        return "ground truth", None
    regions = [item for item in objects_in(annotation, "result", where) if isinstance(item.get("value"), dict)]
    if control is not None:
        regions = [item for item in regions if item.get("from_name") == control]
    names = {str(item.get("from_name")) for item in regions}
    if len(names) > 1:
        some = ", ".join(quoted(name) for name in sorted(names))
        raise InvalidInputError(f"{where}: the controls {some} are answered; --label-col says which counts")
    values = [value for item in regions for value in _values(item)]
    if not values:
        return "no choice", None
    if len(values) > 1:
        return "several choices", None
    return "", text_of(values[0], "label", where)


def _values(region: dict[str, Any]) -> list[Any]:
    value = region["value"].get(region.get("type"))
    return value if isinstance(value, list) else [] if value is None else [value]


def _worker(annotation: dict[str, Any], where: str) -> str | None:
    by = annotation.get("completed_by")
    if isinstance(by, dict):
        return text_at(by, "email", "worker", where) or text_at(by, "id", "worker", where)
    return text_of(by, "worker", where)
