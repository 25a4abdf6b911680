"""What the command of a batch reports of its arms: JSON Lines, or JUnit XML as test runners write it."""

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from cutline.campaign.checks import check_note, check_reward
from cutline.errors import InvalidInputError
from cutline.text import quoted

Format: TypeAlias = Literal["junit", "jsonl"]


@dataclass
class Report:
    """What is said of arms: their rewards, why they are skipped, why they could not be measured.

    ``begun``: those of which only the beginning is known, in order, with the output that was reported then. ``output``:
    what was kept of failures; ``notes`` come with rewards. The first thing that is said of an arm counts. ``others``:
    ids that are none of the batch.
    """

    rewards: dict[str, float] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    begun: dict[str, str] = field(default_factory=dict)
    output: dict[str, str] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    others: dict[str, None] = field(default_factory=dict)

    def names(self, arm: str) -> bool:
        """Whether it is said what came of an arm."""
        return arm in self.rewards or arm in self.skipped or arm in self.errors


class JsonLines:
    """Reads lines such as ``{"arm": "a", "reward": 1}`` as they are written.

    A reward may have a ``note``, a text. Instead of a reward a line may have ``skipped`` or ``error``, each with a
    reason, or neither, when the arm only begins; ``output`` is kept of a failure, that of the beginning if nothing
    follows.
    """

    def __init__(self, arms: Iterable[str]) -> None:
        self.report = Report()
        self._arms = frozenset(arms)
        self._rest = b""
        self._line = 0

    def feed(self, data: bytes) -> None:
        """Take in more of the report; raise InvalidInputError for a line that cannot be read.

        A last line that has no end yet waits for it.
        """
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line += 1
            if line.strip():
                self._take(line)

    def finish(self) -> Report:
        """Return what was said; a last line without an end counts if it is whole."""
        rest, self._rest = self._rest, b""
        try:
            json.loads(rest)
        except ValueError:  # somebody was killed while writing it
            return self.report
        self._line += 1
        self._take(rest)
        return self.report

    def _take(self, line: bytes) -> None:
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or not isinstance(row.get("arm"), str):
            text = quoted(line.decode(errors="replace"))
            raise InvalidInputError(
                f'the report, line {self._line}: {text}; it must be like {{"arm": "a", "reward": 1}}'
            )
        self._note(row["arm"], row)

    def _note(self, arm: str, row: dict[str, Any]) -> None:
        report = self.report
        if arm not in self._arms:
            report.others[arm] = None
            return
        if report.names(arm):
            return
        if "reward" in row:
            try:
                note = check_note(row.get("note"))
                report.rewards[arm] = check_reward(row["reward"])
            except InvalidInputError as error:
                raise InvalidInputError(f"the report, line {self._line}: {error}") from None
            if note is not None:
                report.notes[arm] = note
        elif "skipped" in row:
            report.skipped[arm] = str(row["skipped"])
        elif "error" in row:
            report.errors[arm] = str(row["error"])
        else:
            report.begun[arm] = str(row.get("output") or "")
            return
        report.begun.pop(arm, None)
        if row.get("output"):
            report.output[arm] = str(row["output"])


def read_junit(data: bytes, arms: Sequence[str]) -> Report:
    """Return what a JUnit XML file says: 0 for a case with a failure or an error, 1 for one without, or skipped.

    A case is the arm whose id is its name, its class and name with ``.``, ``::`` or ``#`` between them, or the id
    that pytest makes this class and name of. An arm with several cases has failed if one of them has. Raises
    InvalidInputError if it is no XML.
    """
    try:
        root = ET.fromstring(data)
    except ET.ParseError as error:
        raise InvalidInputError(f"the report is no JUnit XML: {error}") from None
    report = Report()
    by_name = _by_name(arms)
    for case in root.iter("testcase"):
        arm = next((by_name[name] for name in _names(case) if name in by_name), None)
        if arm is None:
            report.others[_names(case)[-1]] = None
            continue
        wrong = [child for child in case if child.tag in ("failure", "error")]
        skipped = case.find("skipped")
        if wrong:
            report.rewards[arm] = 0.0
            report.skipped.pop(arm, None)
        elif skipped is not None:
            if arm not in report.rewards:
                report.skipped[arm] = skipped.get("message") or ""
        elif arm not in report.skipped:
            report.rewards.setdefault(arm, 1.0)
    return report


def _by_name(arms: Iterable[str]) -> dict[str, str]:
    """Return the arm that each name means; a name of several arms means none of them, unless it is an id."""
    found: dict[str, str | None] = {}
    for arm in arms:
        name = _pytest_name(arm)
        found[name] = None if name in found else arm
    unique = {name: arm for name, arm in found.items() if arm is not None}
    return unique | {arm: arm for arm in arms}


def _pytest_name(arm: str) -> str:
    """Return the class and name, with a dot between, that pytest writes for the id tests/test_a.py::test_b[1]."""
    path, bracket, parameters = arm.partition("[")
    file, *inner = path.split("::")
    return ".".join([re.sub(r"\.py$", "", file.replace("/", ".")), *inner]) + bracket + parameters


def _names(case: "ET.Element") -> Sequence[str]:
    return list(_possible_names(case.get("classname") or "", case.get("name") or ""))


def _possible_names(group: str, name: str) -> Iterator[str]:
    if group:
        for between in ("::", "#", "."):
            yield f"{group}{between}{name}"
    yield name
