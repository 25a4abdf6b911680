"""The formats, found by looking into this folder: adding one means adding its file, and nothing else.

An installed package adds one without touching Cutline, by an entry point of the group ``cutline.formats``
(docs/formats.md).
"""

import importlib
import inspect
import pkgutil
from functools import cache

from cutline.errors import InvalidInputError, NotFoundError
from cutline.recorded.formats._plugins import from_packages
from cutline.recorded.formats.format import Answer, Beginning, Choice, Format, LeftOut
from cutline.recorded.opening import File

__all__ = [
    "TABLE",
    "Answer",
    "Beginning",
    "Choice",
    "Format",
    "LeftOut",
    "available",
    "named",
    "recognised",
    "unusable",
]

TABLE = "table"
"""The name of what is no format: columns that the user or their usual names find."""


def available() -> tuple[Format, ...]:
    """Return every format, Cutline's and those of installed packages, by name.

    What a package declares and what cannot be used is left out; ``unusable`` says why.
    """
    return tuple(sorted([*_own(), *_from_packages()[0]], key=lambda item: item.name))


def unusable() -> tuple[str, ...]:
    """Return a line for each format of an installed package that cannot be used: which, why, what would be right."""
    return tuple(_from_packages()[1])


def named(name: str) -> Format | None:
    """Return the format of that name, None for ``table``; raise NotFoundError, with all names, for another."""
    if name == TABLE:
        return None
    for item in available():
        if item.name == name:
            return item
    broken = "".join(f"; {line}" for line in unusable())
    there = ", ".join([*(item.name for item in available()), TABLE])
    raise NotFoundError(f"no format is called {name!r}; there is {there}{broken}")


def recognised(file: File) -> Format | None:
    """Return the format that a file is in, by its beginning; None if there is none that surely is.

    Raises InvalidInputError where several formats recognise it.
    """
    beginning = Beginning(file.name, file.beginning.decode("utf-8", "replace").removeprefix("\ufeff"))
    found = [item for item in available() if item.recognises(beginning)]
    if len(found) > 1:
        names = " or ".join(item.name for item in found)
        raise InvalidInputError(f"{file.name} may be {names}; --from says which")
    return found[0] if found else None


@cache
def _own() -> tuple[Format, ...]:
    """Return the formats in this folder."""
    modules = [item.name for item in pkgutil.iter_modules(__path__)]
    return tuple(
        item()
        for name in modules
        if name != "format" and not name.startswith("_")
        for item in vars(importlib.import_module(f"{__name__}.{name}")).values()
        if inspect.isclass(item) and issubclass(item, Format) and item.__module__ == f"{__name__}.{name}"
    )


@cache
def _from_packages() -> tuple[list[Format], list[str]]:
    return from_packages(item.name for item in _own())
