"""Full reports of Appen (Figure Eight, CrowdFlower), CSV: a row a judgment, columns of the platform begin with _.

Source: Appen Success Center, "Guide to: Reports": _unit_id, _id of the judgment, _worker_id, _golden: test questions,
_tainted for judgments of contributors who were flagged; beside a question ``x`` of the job stands ``x_gold``.
"""

from collections.abc import Iterator

from cutline.recorded.formats._fields import is_true, named, only
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File


class Appen(Format):
    """A full report of a job of Appen."""

    name = "appen"
    tool = "Appen, Figure Eight, CrowdFlower: full report (CSV)"
    task = "`_unit_id`, or a column"
    label = "the column with an `_gold` beside it"
    worker = "`_worker_id`"
    key = "`_id`"
    leaves_out = "`_golden` and `_tainted` rows"
    flat = True

    def recognises(self, beginning: Beginning) -> bool:
        return {"_unit_id", "_worker_id"} <= set(beginning.header())

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        table = choice.table(file)
        questions = [name for name in table.header if f"{name}_gold" in table.header]
        columns = [
            only(table, ["_unit_id"], "task", "--task-col", choice.task),
            only(table, questions, "label", "--label-col", choice.label),
            named(choice.worker or "_worker_id", "worker"),
            named("_id", "key", optional=True),
            named("_golden", "mark of test questions", optional=True),
            named("_tainted", "mark of tainted judgments", optional=True),
        ]
        for line, (task, label, worker, key, golden, tainted) in table.fields(columns):
            if is_true(golden):
                yield LeftOut(line, "test questions")
            elif is_true(tainted):
                yield LeftOut(line, "tainted")
            else:
                yield Answer(line, task, label, worker, key)
