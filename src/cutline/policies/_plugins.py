"""Policies from elsewhere: classes that installed packages declare as entry points of the group ``cutline.policies``.

A package whose policy cannot be used must not get in the way of the others. Each such policy is left out, and one line
says which package declares it, what is wrong, and what would be right.
"""

import inspect
import re
import types
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from cutline.plugins import UnusableError, declaration, declared, described, load, package
from cutline.policies.policy import Policy

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "cutline.policies"

_NAME = re.compile(r"[A-Za-z][\w-]*")
_MOST_PARAMETERS = 3  # what cutline.compiled.with_parameters spells out


def plain(name: str) -> str:
    """Return a policy's name as names are compared: without case, hyphens and underscores."""
    return name.lower().replace("-", "").replace("_", "")


def from_packages(taken: Iterable[type[Policy]]) -> tuple[list[type[Policy]], list[str]]:
    """Return the policies that installed packages declare, and a line for each that cannot be used.

    The names of the policies in ``taken`` are taken; of several packages that declare one name none is used.
    """
    owners = {plain(policy.name): "Cutline itself" for policy in taken}
    faults: list[str] = []
    loaded: list[tuple[EntryPoint, type[Policy]]] = []
    for entry in declared(GROUP):
        try:
            loaded.append((entry, _load(entry)))
        except UnusableError as error:
            faults.append(f"{declaration(entry, 'policy')} cannot be used: {error}")
    usable: list[type[Policy]] = []
    for entry, policy in loaded:
        others = [package(other) for other, same in loaded if other is not entry and _same_name(same, policy)]
        owner = owners.get(plain(policy.name)) or ", ".join(others)
        if owner:
            what = f"its name {policy.name} is also that of a policy of {owner}; rename it, or uninstall one of them"
            faults.append(f"{declaration(entry, 'policy')} cannot be used: {what}")
        else:
            usable.append(policy)
    return usable, faults


def _same_name(one: type[Policy], other: type[Policy]) -> bool:
    return plain(one.name) == plain(other.name)


def _load(entry: "EntryPoint") -> type[Policy]:
    """Return the class that an entry point names; raise UnusableError for whatever is wrong with it."""
    found = load(entry)
    for fault in _faults(found):
        raise UnusableError(fault)
    policy: type[Policy] = found
    try:
        policy()
    except Exception as error:
        raise UnusableError(f"{policy.__name__}() fails with {described(error)}; its defaults must be good") from error
    return policy


def _faults(found: Any) -> Iterator[str]:
    """Yield what is wrong with a class that should be a policy, the most fundamental first."""
    if not (inspect.isclass(found) and issubclass(found, Policy) and found is not Policy):
        yield "it is no class derived from cutline.Policy; it must be one"
        return
    if "__dataclass_params__" not in vars(found) or not is_dataclass(found):
        yield f"{found.__name__} is no dataclass; write @dataclass(frozen=True) above it"
        return
    for attribute in ("name", "formula", "source"):
        text = getattr(found, attribute, None)
        if not isinstance(text, str) or not text.strip() or len(text.splitlines()) > 1:
            yield f"{found.__name__}.{attribute} is {text!r}; it must be one line of text"
    if not _NAME.fullmatch(found.name):
        yield f"its name is {found.name!r}; it must be a letter, then letters, digits and hyphens"
    for item in fields(found):
        if item.default is MISSING or isinstance(item.default, bool) or not isinstance(item.default, (int, float)):
            yield f"the field {item.name} of {found.__name__} has no number as its default; it must have one"
    yield from _faults_of_index(found)


def _faults_of_index(policy: type[Policy]) -> Iterator[str]:
    """Yield what is wrong with the index: its being there, its kind, its arguments."""
    names = [item.name for item in fields(policy)]
    own = policy.parameters is not Policy.parameters
    wanted = ", ".join(["pulls", "total", "threshold", *(["*parameters"] if own else names)])
    right = f"write index = staticmethod(a function of {wanted})"
    index = getattr(policy, "index", None)
    if index is None:
        yield f"{policy.__name__} has no index; {right}"
        return
    if not isinstance(inspect.getattr_static(policy, "index"), staticmethod) or not isinstance(
        index, types.FunctionType
    ):
        yield f"{policy.__name__}.index is no static method; {right}"
        return
    code = index.__code__
    given = list(code.co_varnames[: code.co_argcount])
    variable = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS) or code.co_kwonlyargcount
    counts = range(3, 4 + _MOST_PARAMETERS) if own else [3 + len(names)]
    if variable or len(given) not in counts:
        yield f"its index takes {inspect.signature(index)}; {right}"
    elif len(given) > 3 + _MOST_PARAMETERS:
        yield f"its index takes {len(given) - 3} parameters; it may take {_MOST_PARAMETERS} at most"
