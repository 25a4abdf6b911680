"""Rows as text: aligned columns for people, JSON for programs."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import click

from cutline.text import aligned, shown

_SOME = 1000

format_option = click.option(
    "--format",
    "form",
    type=click.Choice(["table", "json"]),
    default="table",
    show_default=True,
    help="How the result is written.",
)


def table(header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> str:
    """Return lines of aligned columns, each cell on one line; the first ``left`` stand to the left, the rest right."""
    return "\n".join(aligned(([shown(text) for text in row] for row in (header, *rows)), left)) + "\n"


def as_json(value: Any) -> str:
    """Return a value as JSON, NaN as null."""
    return json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n"


def rows_as_json(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the JSON of a list of rows in pieces, which together are what ``as_json`` returns."""
    every, begin = iter(rows), "["
    while some := list(islice(every, _SOME)):
        yield begin + as_json(some)[1:-3]
        begin = ","
    yield "[]\n" if begin == "[" else "\n]\n"


def counted(count: int, what: str) -> str:
    """Return a number with what it counts: 1 arm, 2,000 arms."""
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
