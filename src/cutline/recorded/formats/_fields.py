"""What several formats do with their columns and values."""

from collections.abc import Sequence
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.documents import text_of
from cutline.recorded.rows import Column, Table
from cutline.text import quoted


def named(name: str, role: str, *, optional: bool = False) -> Column:
    """Return the column of that name."""
    return Column(role, (name.lower(),), name if not optional else None, optional=optional)


def only(
    table: Table, candidates: Sequence[str], role: str, option: str, chosen: str | None, prefix: str = ""
) -> Column:
    """Return the column that the user chose, with or without its prefix, or the only one that it can be.

    Raises InvalidInputError where several could be, or none is.
    """
    where = f"{table.name}, line {table.header_line}"
    if chosen is not None:
        name = prefix + chosen if prefix + chosen in table.header else chosen
        return Column(role, (name.lower(),), name, option)
    if len(candidates) == 1:
        return named(candidates[0], role)
    if candidates:
        some = ", ".join(quoted(name) for name in candidates)
        raise InvalidInputError(f"{where}: {some} could each be the {role}; {option} says which it is")
    there = ", ".join(quoted(name) for name in table.header)
    raise InvalidInputError(f"{where}: no column can be the {role}; there is {there}; {option} says which it is")


def text_at(row: Any, path: str, role: str, where: str) -> str | None:
    """Return the text at a key of an object, or at keys with dots between them; None if there is none."""
    if isinstance(row, dict) and path in row:
        return text_of(row[path], role, where)
    for key in path.split("."):
        row = row.get(key) if isinstance(row, dict) else None
    return text_of(row, role, where)


def items(row: dict[str, Any], key: str, where: str) -> list[Any]:
    """Return the list at a key of an object, empty if there is none; raise InvalidInputError if it is no list."""
    found = row.get(key)
    if found is None:
        return []
    if not isinstance(found, list):
        raise InvalidInputError(f"{where}: {key} is no list; it must be one")
    return found


def objects_in(row: dict[str, Any], key: str, where: str) -> list[dict[str, Any]]:
    """Return the list of objects at a key of an object; raise InvalidInputError if it is something else."""
    found = items(row, key, where)
    if not all(isinstance(item, dict) for item in found):
        raise InvalidInputError(f"{where}: {key} must be a list of objects")
    return found


def is_true(value: Any) -> bool:
    """Whether a JSON value or a field of a flat file says yes."""
    return value is True or (isinstance(value, str) and value.strip().lower() in ("true", "1", "yes"))
