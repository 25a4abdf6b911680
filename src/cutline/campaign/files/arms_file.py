"""A file of arms: one id a line, exactly as it stands; or JSON Lines, which have payloads."""

import json
from pathlib import PurePath
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.opening import StrPath, open_lines
from cutline.text import quoted

_JSON_LINES = (".jsonl", ".ndjson")
_EXAMPLE = '{"id": "a", "payload": "what to show"}'


def read_arms(path: StrPath) -> dict[str, Any]:
    """Return the ids in a file, or standard input for ``-``, in its order, with their payloads; None where is none.

    The file is UTF-8 text, gzipped or not, with any line ends, with or without a byte order mark; blank lines are none.
    If its name ends in ``.jsonl`` or ``.ndjson``, each line is JSON: an id as a text, or an object with ``id`` and
    ``payload``, as an export of decisions has them (``arm`` and ``payload``). Raises InvalidInputError for an id that
    comes twice, with both lines, for a line that is not so, and for a file without ids.
    """
    seen: dict[str, int] = {}
    arms: dict[str, Any] = {}
    with open_lines(path) as (name, lines):
        as_json = PurePath(name.lower().removesuffix(".gz")).suffix in _JSON_LINES
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            arm, payload = _parsed(line, f"{name}, line {number}") if as_json else (line.rstrip("\r\n"), None)
            if seen.setdefault(arm, number) != number:
                raise InvalidInputError(f"{name}, line {number}: {quoted(arm)} stands in line {seen[arm]} already")
            arms[arm] = payload
    if not arms:
        raise InvalidInputError(f"{name} is empty; it must have an id a line")
    return arms


def _parsed(line: str, where: str) -> tuple[str, Any]:
    """Return the id and the payload of a line of JSON."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{where}: not JSON ({error}); it must be like {_EXAMPLE}") from None
    if isinstance(row, str):
        return row, None
    arm = row.get("id", row.get("arm")) if isinstance(row, dict) else None
    if not isinstance(arm, str):
        raise InvalidInputError(f"{where}: {quoted(line.strip())} has no id that is a text; it must be like {_EXAMPLE}")
    return arm, row.get("payload")
