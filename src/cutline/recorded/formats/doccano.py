"""Exports of doccano, JSON Lines: a line an example, in a file for each user unless they share their labels.

Source: doccano's own output: id, the text, and label, a list of the categories; the file is called like the user, or
``all.jsonl`` where labels are shared.
"""

from collections.abc import Iterator
from pathlib import PurePath

from cutline.errors import InvalidInputError
from cutline.recorded.documents import objects, text_of
from cutline.recorded.formats._fields import items, text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File

_SHARED = "all"


class Doccano(Format):
    """An export of a project of doccano for text or image classification."""

    name = "doccano"
    tool = "doccano, export (JSON Lines)"
    task = "`id`, or a field such as `text`"
    label = "the category in `label`"
    worker = "the file's name, unless it is `all.jsonl`"
    key = "task and worker"
    leaves_out = "examples without a category, or with several"
    asks = frozenset(("task", "label"))

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("{") and beginning.has("id", "label", "Comments")

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        user = PurePath(file.name).name.removesuffix(".gz").removesuffix(".jsonl")
        worker = None if user == _SHARED or file.path == "-" else user
        for line, row in objects(file):
            where = f"{file.name}, line {line}"
            found = items(row, choice.label or "label", where)
            if len(found) != 1:
                yield LeftOut(line, "several categories" if found else "no category")
                continue
            if isinstance(found[0], (list, dict)):
                raise InvalidInputError(f"{where}: the label is a span or a region; only categories can be read")
            task = text_at(row, choice.task or "id", "task", where)
            yield Answer(line, task, text_of(found[0], "label", where), worker)
