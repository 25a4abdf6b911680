"""Rows that are written while they are read, in blocks."""

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from enum import StrEnum
from itertools import chain, islice
from typing import Any

from cutline.campaign.campaign import Campaign
from cutline.campaign.decisions import DECISION_COLUMNS, decision_rows
from cutline.campaign.files.exporting import (
    RESULT_COLUMNS,
    result_rows,
    write_csv,
    write_jsonl,
)

_ROWS = 1000
"""So many rows are written at a time."""

Row = Mapping[str, Any]


class What(StrEnum):
    """What is exported."""

    OBSERVATIONS = "observations"
    DECISIONS = "decisions"


class Form(StrEnum):
    """How it is written."""

    CSV = "csv"
    JSONL = "jsonl"

    @property
    def media(self) -> str:
        """The media type."""
        return "text/csv" if self is Form.CSV else "application/x-ndjson"


def exported(campaign: Campaign, what: What, form: Form, confidence: float) -> Iterator[bytes]:
    """Return the blocks of an export; what can go wrong goes wrong before the first."""
    columns: tuple[str, ...] = RESULT_COLUMNS
    if what is What.OBSERVATIONS:
        rows = result_rows(campaign)
    else:
        rows, columns = decision_rows(campaign.decisions(confidence=confidence)), DECISION_COLUMNS
    if form is Form.JSONL:
        return _blocks(rows, write_jsonl)
    head = io.StringIO()
    write_csv([], columns, head)
    return chain([head.getvalue().encode()], _blocks(rows, lambda some, file: _without_header(some, columns, file)))


def result_lines(campaign: Campaign) -> Iterator[bytes]:
    """Return the blocks of all results as JSON Lines."""
    return _blocks((asdict(item) for item in campaign.results()), write_jsonl)


def _without_header(rows: Iterable[Row], columns: tuple[str, ...], file: io.StringIO) -> None:
    whole = io.StringIO()
    write_csv(rows, columns, whole)
    file.write(whole.getvalue().split("\n", 1)[1])


def _blocks(rows: Iterable[Row], write: Callable[[Iterable[Row], io.StringIO], None]) -> Iterator[bytes]:
    """Return the blocks; the first is made at once."""
    following = iter(rows)

    def block() -> bytes:
        file = io.StringIO()
        write(islice(following, _ROWS), file)
        return file.getvalue().encode()

    return chain([block()], iter(block, b""))
