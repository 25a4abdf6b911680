"""Rows as text: aligned columns for people, JSON for programs."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import click

format_option = click.option(
    "--format", "form", type=click.Choice(["table", "json"]), default="table", show_default=True, help="Output."
)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return lines of aligned columns; the first ``left`` of them stand to the left, numbers to the right.

    Control characters are escaped and long texts cut: this is to be looked at.
    """
    cells = [[shown(text) for text in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = [
        "  ".join(
            text.ljust(width) if column < left else text.rjust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in cells
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def as_json(value: Any) -> str:
    """Return a value as JSON, NaN as null."""
    return json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def number(value: float | None, digits: int = 4) -> str:
    """Return a number with so many decimals, - for none."""
    return "-" if value is None or math.isnan(value) else f"{value:,.{digits}f}"


def counted(count: int, what: str) -> str:
    """Return a number with what it counts: 1 arm, 2,000 arms."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def shown(text: str, widest: int = 60) -> str:
    """Return a text as it can be shown on one line of a terminal: control characters escaped, the rest cut."""
    text = "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
    return text if len(text) <= widest else text[: widest - 3] + "..."


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
