"""Formats from elsewhere: classes that installed packages declare as entry points of the group ``cutline.formats``."""

import inspect
import re
from collections.abc import Iterable
from typing import Any

from cutline.plugins import UnusableError, declaration, declared, described, load
from cutline.recorded.formats.format import Format

GROUP = "cutline.formats"

_NAME = re.compile(r"[a-z][a-z0-9-]*")
_TEXTS = ("tool", "task", "label", "worker", "key", "leaves_out")


def from_packages(taken: Iterable[str]) -> tuple[list[Format], list[str]]:
    """Return the formats that installed packages declare, and a line for each that cannot be used.

    The names in ``taken`` are taken; of several packages that declare one name the first is used.
    """
    names, usable, faults = set(taken), [], []
    for entry in declared(GROUP):
        try:
            found = _checked(load(entry))
            if found.name in names:
                raise UnusableError(f"there is a format of the name {found.name} already; rename it")
        except UnusableError as error:
            faults.append(f"{declaration(entry, 'format')} cannot be used: {error}")
        else:
            names.add(found.name)
            usable.append(found)
    return usable, faults


def _checked(found: Any) -> Format:
    """Return an instance of a class that should be a format; raise UnusableError for what is wrong with it."""
    if not (inspect.isclass(found) and issubclass(found, Format) and found is not Format):
        raise UnusableError("it is no class derived from cutline.recorded.formats.Format; it must be one")
    if not _NAME.fullmatch(str(getattr(found, "name", ""))):
        raise UnusableError("its name must be lower-case letters, digits and hyphens, such as label-studio")
    for attribute in _TEXTS:
        if not isinstance(getattr(found, attribute, None), str):
            raise UnusableError(f"{found.__name__}.{attribute} is missing; it must be a few words")
    try:
        return found()
    except Exception as error:
        raise UnusableError(f"{found.__name__}() fails with {described(error)}") from error
