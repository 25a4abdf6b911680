"""What installed packages declare as entry points: found, loaded, and described where they cannot be used."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class UnusableError(Exception):
    """What is wrong with something that a package declares, and what would be right."""


def declared(group: str) -> "list[EntryPoint]":
    """Return the entry points of a group, by package and name."""
    from importlib.metadata import entry_points  # takes long to import, and is needed late

    return sorted(entry_points(group=group), key=lambda entry: (package(entry), entry.name))


def package(entry: "EntryPoint") -> str:
    """Return the name and the version of the package that declares it."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unnamed package"


def declaration(entry: "EntryPoint", kind: str) -> str:
    """Return how a message calls an entry point; ``kind`` is what it should be, such as policy."""
    return f"the {kind} {entry.name} = {entry.value!r} of the package {package(entry)}"


def load(entry: "EntryPoint") -> Any:
    """Return what an entry point names; raise UnusableError where importing it fails."""
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # importing runs the package's own code
        raise UnusableError(
            f"loading it fails with {described(error)}; it must name a class as 'module:Class'"
        ) from error


def described(error: BaseException) -> str:
    """Return the kind and the message of an exception on one line."""
    return ": ".join(filter(None, (type(error).__name__, " ".join(str(error).split()))))
