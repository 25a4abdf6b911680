"""A file of arms: one id a line, exactly as it stands; or JSON Lines, which have payloads and known answers."""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, NamedTuple

from cutline.errors import InvalidInputError
from cutline.recorded.opening import StrPath, open_lines
from cutline.text import quoted

_JSON_LINES = (".jsonl", ".ndjson")
_EXAMPLE = '{"id": "a", "payload": "what to show"}'


class ArmsFile(NamedTuple):
    """What a file of arms says: the payload of each arm, None where is none, and the answers that are known, by arm."""

    payloads: dict[str, Any]
    known: dict[str, bool]

    def answers(self, others: Mapping[str, bool] | None) -> dict[str, bool] | None:
        """Return the answers known here and elsewhere, None for none; raise InvalidInputError where they differ."""
        for arm, answer in (others or {}).items():
            if self.known.get(arm, answer) != answer:
                raise InvalidInputError(
                    f"the known answer of {quoted(arm)} is {self.known[arm]:d} in the file of arms and {answer:d} in "
                    "that of known answers; it must be the same"
                )
        both = self.known | dict(others or {})
        return both or None if others is None else both


def read_arms(path: StrPath) -> ArmsFile:
    """Return the arms in a file, or standard input for ``-``, in its order.

    The file is UTF-8 text, gzipped or not, with any line ends, with or without a byte order mark; blank lines are none.
    If its name ends in ``.jsonl`` or ``.ndjson``, each line is JSON: an id as a text, or an object with ``id`` and, if
    there are, ``payload`` and ``known``, 0 or 1; or it is of an export of decisions, with ``arm``. Raises
    InvalidInputError for an id that comes twice, with both lines, for another line, and for a file without ids.
    """
    seen: dict[str, int] = {}
    arms = ArmsFile({}, {})
    with open_lines(path) as (name, lines):
        as_json = PurePath(name.lower().removesuffix(".gz")).suffix in _JSON_LINES
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            where = f"{name}, line {number}"
            arm, payload, known = _parsed(line, where) if as_json else (line.rstrip("\r\n"), None, None)
            if seen.setdefault(arm, number) != number:
                raise InvalidInputError(f"{where}: {quoted(arm)} stands in line {seen[arm]} already")
            arms.payloads[arm] = payload
            if known is not None:
                arms.known[arm] = known
    if not arms.payloads:
        raise InvalidInputError(f"{name} is empty; it must have an id a line")
    return arms


def _parsed(line: str, where: str) -> tuple[str, Any, bool | None]:
    """Return the id, the payload and the known answer of a line of JSON, None where there is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{where}: not JSON ({error}); it must be like {_EXAMPLE}") from None
    if isinstance(row, str):
        return row, None, None
    arm = row.get("id", row.get("arm")) if isinstance(row, dict) else None
    if not isinstance(arm, str):
        raise InvalidInputError(f"{where}: {quoted(line.strip())} has no id that is a text; it must be like {_EXAMPLE}")
    return arm, row.get("payload"), _known(row, where)


def _known(row: dict[str, Any], where: str) -> bool | None:
    """Return the known answer of an arm. A row of decisions says in ``known`` whether its decision is one."""
    known = row.get("known")
    if "id" not in row:
        return row.get("decision") == "above" if known is True else None
    if known is None or known in (0, 1):
        return None if known is None else bool(known)
    raise InvalidInputError(f"{where}: known is {quoted(json.dumps(known))}; it must be 0 or 1, or be left out")
