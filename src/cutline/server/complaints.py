"""What is wrong with a request that does not fit its model, in one line: where, what, and what would be right."""

from collections.abc import Mapping, Sequence
from typing import Any

from cutline.text import shown

_MUST = {
    "string_type": "must be text",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length:,} letters",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "int_parsing": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number that is not infinite",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "list_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object, with the header Content-Type: application/json",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be {le} or less",
    "too_long": "must have at most {max_length:,} items",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "extra_forbidden": "is not known here; /api/v1/openapi.json says what is",
    "json_invalid": "must be JSON: {error}",
}
"""What is said of a value, by pydantic's type of the error; the names in braces are in the error's context."""

_KINDS = {
    "str": "text",
    "bytes": "text",
    "bool": "true or false",
    "NoneType": "null",
    "list": "a list",
    "dict": "an object",
}
"""What a value is called, by its type in Python; numbers, the others, are shown as they are."""

_ALTERNATIVES = frozenset({"constrained-float", "constrained-str", "bool", "Arm"})
"""What pydantic puts into the place of an error for what a value could have been, where it may be of several kinds."""

_WIDEST = 200
"""So many letters of a place are shown."""


def line_of(errors: Sequence[Mapping[str, Any]]) -> str:
    """Return the first thing that is wrong; of what a value could have been, what it comes nearest to."""
    first = _place(errors[0])
    alike = (error for error in errors if _place(error)[: len(first)] == first)
    nearest = max(alike, key=lambda error: len(_place(error)))  # the first of those that lead furthest
    return f"{_where(_place(nearest))} {_of(nearest)}"


def _of(error: Mapping[str, Any]) -> str:
    place, kind = _place(error), str(error["type"])
    if kind == "missing":
        if place == ("body",):
            return "is empty; it must be a JSON object"
        if place[0] == "query":
            return f"is missing; the address must have it, as in ?{place[-1]}=..."
        return "is missing; it must be given"
    limits = {
        name: int(value) if isinstance(value, float) and value.is_integer() else value
        for name, value in error.get("ctx", {}).items()
    }
    must = _MUST[kind].format(**limits) if kind in _MUST else f"is wrong: {error['msg']}"
    found = error.get("input")
    if not kind.endswith("_type") or "input" not in error:
        return must
    return f"{must}, not {_KINDS.get(type(found).__name__, found)}"


def _place(error: Mapping[str, Any]) -> tuple[int | str, ...]:
    if error["type"] == "json_invalid":
        return tuple(part for part in error["loc"] if isinstance(part, str)) or ("body",)
    return tuple(part for part in error["loc"] if part not in _ALTERNATIVES)


def _where(place: tuple[int | str, ...]) -> str:
    """Return a place as query.campaign or body.rewards[1].pull."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return shown(text.removeprefix("."), _WIDEST)
