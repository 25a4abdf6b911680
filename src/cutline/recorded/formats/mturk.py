"""Batches of Amazon Mechanical Turk, CSV: a row an assignment, ``Input.x`` what was shown, ``Answer.y`` the answer.

Source: Amazon Mechanical Turk Requester UI Guide, "Download Your Results"; AssignmentStatus is Submitted, Approved or
Rejected.
"""

from collections.abc import Iterator

from cutline.recorded.formats._fields import named, only
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File


class MTurk(Format):
    """A batch of Mechanical Turk."""

    name = "mturk"
    tool = "Amazon Mechanical Turk, batch results (CSV)"
    task = "`HITId`, or an `Input.` column"
    label = "the `Answer.` column"
    worker = "`WorkerId`"
    key = "`AssignmentId`"
    leaves_out = "rejected assignments"
    flat = True

    def recognises(self, beginning: Beginning) -> bool:
        return {"HITId", "AssignmentId", "WorkerId"} <= set(beginning.header())

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        table = choice.table(file)
        answers = [name for name in table.header if name.startswith("Answer.")]
        columns = [
            only(table, ["HITId"], "task", "--task-col", choice.task, "Input."),
            only(table, answers, "label", "--label-col", choice.label, "Answer."),
            named(choice.worker or "WorkerId", "worker"),
            named("AssignmentId", "key"),
            named("AssignmentStatus", "status", optional=True),
        ]
        for line, (task, label, worker, key, status) in table.fields(columns):
            if (status or "").strip().lower() == "rejected":
                yield LeftOut(line, "rejected")
            else:
                yield Answer(line, task, label, worker, key)
