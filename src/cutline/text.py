"""Texts made fit to be looked at: one line, not too long, and in aligned columns; and rows as CSV.

Widths are those of a terminal, where a Chinese character takes two places; rich knows them. Its tables are not used:
they take more than a millisecond a row, and a campaign may have 100,000 arms.
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

WIDEST = 60
"""How wide an id is shown at most, in a table or in a message."""


def printable(text: str) -> str:
    """Return a text on one line, with control characters escaped: a terminal takes some of them for orders."""
    return "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)


def shown(text: str, widest: int = WIDEST) -> str:
    """Return a text as it can be shown on one line: control characters escaped, the middle of a long one left out.

    Both ends stay, since ids of one family begin alike: tests/unit/test_a.py::test_b[1].
    """
    return _shortened(printable(text), widest)


def quoted(text: str, widest: int = WIDEST) -> str:
    """Return a text as a message quotes it: between quotes, the middle of a long one left out."""
    return repr(_shortened(text, widest))


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many decimals, - for none."""
    return "-" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def moment(seconds: float | None) -> str:
    """Return a time in seconds since 1970 as UTC has it, to the second, - for none."""
    if seconds is None:
        return "-"
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def aligned(rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Return one line a row, all in the same columns: the first ``left`` stand to the left, the others to the right."""
    cells = list(rows)
    widths = [max(map(_width, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(_padded, row, widths, [True] * left + [False] * len(row))).rstrip() for row in cells]


def as_csv(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as CSV with a header; what is not known, None or NaN, is an empty field."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: None if value != value else value for name, value in row.items()})
    return text.getvalue()


def _padded(text: str, width: int, left: bool) -> str:
    room = " " * (width - _width(text))
    return text + room if left else room + text


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _shortened(text: str, widest: int) -> str:
    if _width(text) <= widest:
        return text
    from rich.cells import set_cell_size

    before = (widest - 3) // 2
    after = widest - 3 - before
    return set_cell_size(text, before) + "..." + set_cell_size(text[::-1], after)[::-1]
