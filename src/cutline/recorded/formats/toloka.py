"""Assignments of Toloka, TSV: ``INPUT:x`` what was shown, ``OUTPUT:y`` the answer, ``GOLDEN:y`` set on control tasks.

Source: Toloka documentation, "Viewing results": the columns INPUT:, OUTPUT:, GOLDEN:, HINT: and ASSIGNMENT:; the status
of an assignment is SUBMITTED, APPROVED, REJECTED and others. Control tasks are those with a GOLDEN: value.
"""

from collections.abc import Iterator

from cutline.recorded.formats._fields import named, only
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File


class Toloka(Format):
    """Assignments of a pool of Toloka."""

    name = "toloka"
    tool = "Toloka, assignments (TSV)"
    task = "the `INPUT:` column"
    label = "the `OUTPUT:` column"
    worker = "`ASSIGNMENT:worker_id`"
    key = "`ASSIGNMENT:assignment_id` with the task"
    leaves_out = "control tasks, rejected assignments"
    flat = True

    def recognises(self, beginning: Beginning) -> bool:
        header = beginning.header()
        return "ASSIGNMENT:worker_id" in header and any(name.startswith("OUTPUT:") for name in header)

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        table = choice.table(file)
        golden = [name for name in table.header if name.startswith("GOLDEN:")]
        columns = [
            only(table, _of(table.header, "INPUT:"), "task", "--task-col", choice.task, "INPUT:"),
            only(table, _of(table.header, "OUTPUT:"), "label", "--label-col", choice.label, "OUTPUT:"),
            named(choice.worker or "ASSIGNMENT:worker_id", "worker"),
            named("ASSIGNMENT:assignment_id", "key", optional=True),
            named("ASSIGNMENT:status", "status", optional=True),
            *(named(name, "answer of a control task") for name in golden),
        ]
        for line, (task, label, worker, assignment, status, *control) in table.fields(columns):
            if any(control):
                yield LeftOut(line, "control tasks")
            elif (status or "").strip().upper() == "REJECTED":
                yield LeftOut(line, "rejected")
            else:
                yield Answer(line, task, label, worker, f"{assignment} {task}" if assignment else None)


def _of(header: tuple[str, ...], prefix: str) -> list[str]:
    return [name for name in header if name.startswith(prefix)]
