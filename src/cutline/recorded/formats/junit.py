"""JUnit XML, as pytest, Maven's surefire, go-junit-report, gotestsum, jest-junit and others write it.

A ``testcase`` with a ``failure`` or an ``error`` inside has failed, one with ``skipped`` was not run. Surefire writes
attempts before the last as ``flakyFailure``, ``flakyError``, ``rerunFailure`` or ``rerunError``: each is a result
of its own (Maven Surefire Plugin, "Rerun Failing Tests").

The file is read by expat piece by piece. A document type is refused: no report has one, and without it there are no
entities that could be expanded or fetched. So nothing that a file can hold makes it grow in memory.
"""

from collections import Counter
from collections.abc import Iterator
from xml.parsers import expat

from cutline.errors import InvalidInputError
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File

_PIECE = 1 << 16
_WRONG = {"failure", "error"}
_ATTEMPTS = {"flakyFailure", "flakyError", "rerunFailure", "rerunError"}


class JUnit(Format):
    """A report of tests in JUnit's XML."""

    name = "junit"
    tool = "JUnit XML: pytest, surefire, go, jest"
    task = "`classname::name`"
    label = "passed is 1; failure or error is 0"
    worker = "none"
    key = "what the file holds, by its SHA-256, and the test"
    leaves_out = "skipped tests"
    asks = frozenset()

    def recognises(self, beginning: Beginning) -> bool:
        return beginning.begins("<") and any(tag in beginning.text for tag in ("<testsuite", "<testcase"))

    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        cases = _Cases(file.digest())
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = lambda tag, attributes: cases.start(tag, attributes, parser.CurrentLineNumber)
        parser.EndElementHandler = cases.end

        def refuse(*_: object) -> None:
            where = f"{file.name}, line {parser.CurrentLineNumber}"
            raise InvalidInputError(
                f"{where}: a document type; a report of tests has none, and its entities are not read"
            )

        parser.StartDoctypeDeclHandler = refuse
        while True:
            piece = file.read(_PIECE)
            try:
                parser.Parse(piece, not piece)
            except expat.ExpatError as error:
                what = expat.ErrorString(error.code)
                raise InvalidInputError(f"{file.name}, line {error.lineno}: not XML: {what}") from None
            yield from cases.take()
            if not piece:
                return


class _Cases:
    """Puts together what is said of each test, element by element."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._found: list[Answer | LeftOut] = []
        self._times: Counter[str] = Counter()
        self._test: str | None = None
        self._line = 0
        self._outcome = ""
        self._failures = 0

    def start(self, tag: str, attributes: dict[str, str], line: int) -> None:
        """Take note of the beginning of an element."""
        if tag == "testcase":
            group, name = attributes.get("classname", ""), attributes.get("name", "")
            self._test = f"{group}::{name}" if group else name
            self._line, self._outcome, self._failures = line, "", 0
        elif tag in _ATTEMPTS:
            self._failures += 1
        elif tag in _WRONG:
            self._outcome = "wrong"
        elif tag == "skipped" and not self._outcome:
            self._outcome = "skipped"

    def end(self, tag: str) -> None:
        """Take note of the end of an element."""
        if tag != "testcase" or self._test is None:
            return
        for _ in range(self._failures):
            self._add(0.0)
        if self._outcome == "skipped":
            self._found.append(LeftOut(self._line, "skipped"))
        else:
            self._add(float(self._outcome != "wrong"))
        self._test = None

    def take(self) -> list[Answer | LeftOut]:
        """Return what was found since the last time."""
        found, self._found = self._found, []
        return found

    def _add(self, label: float) -> None:
        test = self._test or ""
        self._times[test] += 1
        key = f"{self._run} {test}" if self._times[test] == 1 else f"{self._run} {test} {self._times[test]}"
        self._found.append(Answer(self._line, test, label, None, key))
