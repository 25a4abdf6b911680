"""The contract of a format: a file that some tool writes, and which results stand in it."""

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import ClassVar, NamedTuple

from cutline.recorded.conditions import Conditions
from cutline.recorded.opening import File
from cutline.recorded.rows import Table, table_of


class Answer(NamedTuple):
    """One result: the line where it stands, its task, its label as text, or a number where the format knows which.

    ``worker`` and ``key`` are None where there is none; a key says which result it is, wherever it is read from.
    """

    line: int
    task: str | None
    label: str | float | None
    worker: str | None = None
    key: str | None = None


class LeftOut(NamedTuple):
    """Something in the file that is no result, and in a few words why: ``cancelled``."""

    line: int
    why: str


class Choice(NamedTuple):
    """What the user says of a file: the fields of the task, the worker and the label, and which rows count.

    What a field is, a format says; None is what the format takes by itself.
    """

    task: str | None = None
    worker: str | None = None
    label: str | None = None
    conditions: Conditions = Conditions()

    def table(self, file: File) -> Table:
        """Return the rows of a flat file, or of JSON Lines, that count."""
        return table_of(file, self.conditions)


class Beginning(NamedTuple):
    """The first 64 KiB of a file, by which its format is recognised: its name, and the text."""

    name: str
    text: str

    def has(self, *keys: str) -> bool:
        """Whether each of these stands there as the key of a JSON object."""
        return all(f'"{key}":' in self.text or f'"{key}" :' in self.text for key in keys)

    def begins(self, letter: str) -> bool:
        """Whether the text begins with a character, spaces aside."""
        return self.text.lstrip().startswith(letter)

    def header(self) -> tuple[str, ...]:
        """Return the fields of the first line, as of a CSV or TSV file."""
        first = self.text.lstrip("\r\n").split("\n", 1)[0].rstrip("\r")
        delimiter = "\t" if first.count("\t") > first.count(",") else ","
        try:
            return tuple(next(csv.reader([first], delimiter=delimiter), ()))
        except csv.Error:  # as by what is no text
            return ()


class Format(ABC):
    """A format; a subclass is one file of this folder, or of another package, which declares it as an entry point.

    ``name`` is what ``--from`` takes, ``tool`` whose files these are. ``task``, ``label``, ``worker``, ``key`` and
    ``leaves_out`` say in a few words what these are in such a file, for docs/formats.md; ``task`` and ``label`` also
    what ``--task-col`` and ``--label-col`` name. ``meanings`` are the labels that are 1 or 0 unless the user names
    others; ``flat`` says whether conditions on columns can be asked of it, ``asks`` which parts of a ``Choice`` are
    looked at: a user who names another part is told so.
    """

    name: ClassVar[str]
    tool: ClassVar[str]
    task: ClassVar[str]
    label: ClassVar[str]
    worker: ClassVar[str]
    key: ClassVar[str]
    leaves_out: ClassVar[str]
    meanings: ClassVar[Mapping[str, float]] = {}
    flat: ClassVar[bool] = False
    asks: ClassVar[frozenset[str]] = frozenset(("task", "worker", "label"))

    @abstractmethod
    def recognises(self, beginning: Beginning) -> bool:
        """Whether a file that begins like this is surely one of these."""

    @abstractmethod
    def read(self, file: File, choice: Choice) -> Iterator[Answer | LeftOut]:
        """Yield what stands in a file, in its order and in constant memory.

        Raises InvalidInputError with file and line for whatever is wrong.
        """
