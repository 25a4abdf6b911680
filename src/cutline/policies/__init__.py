"""The policies, found by looking into this folder: adding one means adding its file, and nothing else."""

import importlib
import inspect
import pkgutil
import re
from dataclasses import fields
from functools import cache

from cutline.errors import InvalidInputError, NotFoundError
from cutline.policies.policy import Policy

__all__ = ["Policy", "available", "parse"]

_CALL = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


@cache
def _found(path: tuple[str, ...]) -> tuple[type[Policy], ...]:
    classes: list[type[Policy]] = []
    for module in pkgutil.iter_modules(path):
        if module.name != "policy":
            namespace = vars(importlib.import_module(f"{__name__}.{module.name}"))
            classes += [
                item
                for item in namespace.values()
                if inspect.isclass(item) and issubclass(item, Policy) and item.__module__ == namespace["__name__"]
            ]
    return tuple(sorted(classes, key=lambda item: (item.yardstick, item.name != "LSA", item.name.lower())))


def available() -> tuple[type[Policy], ...]:
    """Return every policy class in this folder: LSA, the others by name, the yardsticks last."""
    return _found(tuple(__path__))


def parse(text: str) -> Policy:
    """Make a policy from what it prints: ``APT(0.05)``, ``Opt-KG(1,1)``, ``LSA``, ``LSA(alpha=2)``.

    Case, hyphens and underscores in the name do not matter; parameters left out take their defaults. Raises
    NotFoundError for an unknown name and InvalidInputError for bad parameters; both list what exists.
    """
    match = _CALL.fullmatch(text)
    if match is None:
        raise InvalidInputError(f"cannot read the policy {text!r}; write one of {_signatures()}")
    name, arguments = match.groups()
    by_name = {_plain(item.name): item for item in available()}
    if _plain(name) not in by_name:
        raise NotFoundError(f"no policy is called {name!r}; there are {_signatures()}")
    chosen = by_name[_plain(name)]
    positional: list[float] = []
    named: dict[str, float] = {}
    for part in arguments.split(",") if arguments and arguments.strip() else []:
        key, equals, value = part.rpartition("=")
        try:
            number = float(value)
        except ValueError:
            raise InvalidInputError(
                f"{text!r}: {value.strip()!r} is not a number; write {_signature(chosen)}"
            ) from None
        if equals and key.strip() in named:
            raise InvalidInputError(f"{text!r}: {key.strip()} is given twice; write {_signature(chosen)}")
        if equals:
            named[key.strip()] = number
        elif named:
            raise InvalidInputError(f"{text!r}: a plain number after a named one; write {_signature(chosen)}")
        else:
            positional.append(number)
    names = [item.name for item in fields(chosen)]
    unknown = [key for key in named if key not in names[len(positional) :]]
    if unknown or len(positional) > len(names):
        raise InvalidInputError(f"{text!r}: the parameters do not fit; write {_signature(chosen)}")
    return chosen(*positional, **named)


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")


def _signature(policy: type[Policy]) -> str:
    names = ", ".join(item.name for item in fields(policy))
    return f"{policy.name}({names})" if names else policy.name


def _signatures() -> str:
    return ", ".join(_signature(item) for item in available())
