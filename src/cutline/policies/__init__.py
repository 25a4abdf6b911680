"""The policies, found by looking into this folder: adding one means adding its file, and nothing else.

An installed package adds one without touching Cutline, by an entry point of the group ``cutline.policies``
(docs/new_policy.md).
"""

import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import fields
from functools import cache

from cutline.errors import InvalidInputError, NotFoundError
from cutline.policies._plugins import from_packages, plain
from cutline.policies.policy import (
    LearningPolicy,
    Policy,
    Tally,
    above_rounding,
    below_rounding,
    check_parameter,
    excess,
    log_above,
    settle,
    tally,
)

__all__ = [
    "LearningPolicy",
    "Policy",
    "Tally",
    "above_rounding",
    "available",
    "below_rounding",
    "check_parameter",
    "check_usable_on_data",
    "excess",
    "log_above",
    "parse",
    "settle",
    "tally",
    "unusable",
]

_CALL = re.compile(r"\s*([A-Za-z][\w-]*)\s*(?:\((.*)\))?\s*", re.DOTALL)


def available() -> tuple[type[Policy], ...]:
    """Return every policy class, Cutline's and those of installed packages: LSA, the others by name, yardsticks last.

    What a package declares and what cannot be used is left out; ``unusable`` says why.
    """
    found = [*_own(), *_from_packages()[0]]
    return tuple(sorted(found, key=lambda item: (item.yardstick, item.name != "LSA", item.name.lower())))


def unusable() -> tuple[str, ...]:
    """Return a line for each policy of an installed package that cannot be used: which, why, what would be right."""
    return tuple(_from_packages()[1])


@cache
def _own() -> tuple[type[Policy], ...]:
    """Return the policy classes in this folder."""
    return tuple(policy for module in _modules() for policy in _of_module(module))


def _modules() -> list[str]:
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return [name for name in names if name != "policy" and not name.startswith("_")]


@cache
def _of_module(name: str) -> tuple[type[Policy], ...]:
    """Return the policy classes that a module of this folder defines."""
    namespace = vars(importlib.import_module(f"{__name__}.{name}"))
    return tuple(
        item
        for item in namespace.values()
        if inspect.isclass(item) and issubclass(item, Policy) and item.__module__ == namespace["__name__"]
    )


@cache
def _from_packages() -> tuple[list[type[Policy]], list[str]]:
    return from_packages(_own())


def _likely_first(name: str) -> Iterator[type[Policy]]:
    """Yield all policies, those first whose file has that name: whoever finds one there need not load the others.

    Other packages are looked at last.
    """
    for module in sorted(_modules(), key=lambda module: plain(module) != plain(name)):
        yield from _of_module(module)
    yield from available()


def _named(name: str) -> type[Policy]:
    """Return the policy of that name."""
    for policy in _likely_first(name):
        if plain(policy.name) == plain(name):
            return policy
    broken = "".join(f"; {line}" for line in unusable())
    raise NotFoundError(f"no policy is called {name!r}; there are {_signatures()}{broken}")


def parse(text: str) -> Policy:
    """Make a policy from what it prints: ``APT(0.05)``, ``Opt-KG(1,1)``, ``LSA``, ``LSA(alpha=2)``.

    Case, hyphens and underscores in the name do not matter; parameters left out take their defaults. Raises
    NotFoundError for an unknown name and InvalidInputError for bad parameters; both list what exists.
    """
    match = _CALL.fullmatch(text)
    if match is None:
        raise InvalidInputError(f"cannot read the policy {text!r}; write one of {_signatures()}")
    name, arguments = match.groups()
    chosen = _named(name)
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


def check_usable_on_data(policy: Policy) -> Policy:
    """Return the policy; raise InvalidInputError for one that must be told what only a simulation knows."""
    if policy.anytime and not policy.needs_truth:
        return policy
    told = "the true means" if policy.needs_truth else "the budget in advance"
    usable = ", ".join(item.name for item in available() if item.anytime and not item.needs_truth)
    raise InvalidInputError(f"{policy} needs {told}, which nobody has who collects labels; use one of {usable}")


def _signature(policy: type[Policy]) -> str:
    names = ", ".join(item.name for item in fields(policy))
    return f"{policy.name}({names})" if names else policy.name


def _signatures() -> str:
    return ", ".join(_signature(item) for item in available())
