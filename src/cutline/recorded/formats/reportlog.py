"""Logs of pytest-reportlog, JSON Lines: a line a report, three a test: setup, call and teardown.

Source: pytest-reportlog's own output; $report_type is TestReport, outcome passed, failed or skipped, and an expected
failure is a skipped test with ``wasxfail``. A test that failed in its setup has no call.
"""

from collections.abc import Iterator

from cutline.recorded.documents import objects
from cutline.recorded.formats._fields import text_at
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File


class ReportLog(Format):
    """A log of pytest-reportlog."""

    name = "pytest-reportlog"
    tool = "pytest-reportlog (JSON Lines)"
    task = "the node id"
    label = "the outcome: passed is 1, failed is 0, in the setup, too"
    worker = "none"
    key = "the node id and when it started"
    leaves_out = "skipped and expected failures"
    asks = frozenset()

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("{") and beginning.has("$report_type")

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        for line, row in objects(file):
            where = f"{file.name}, line {line}"
            when, outcome = row.get("when"), row.get("outcome")
            if row.get("$report_type") != "TestReport" or (when != "call" and outcome == "passed"):
                continue
            test = text_at(row, "nodeid", "node id", where)
            if "wasxfail" in row:
                yield LeftOut(line, "expected to fail")
            elif outcome == "skipped":
                yield LeftOut(line, "skipped")
            elif when == "teardown":
                yield LeftOut(line, "failed in their teardown")
            else:
                start = text_at(row, "start", "start", where)
                yield Answer(line, test, float(outcome == "passed"), None, start and f"{test} {start}")
