"""From a file to the text of the wanted fields: CSV, TSV or JSON Lines, gzipped or not, or standard input.

Nothing is guessed about values: a field is the text that stands in the file, a JSON number included.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import PurePath
from typing import Any

from cutline.errors import InvalidInputError
from cutline.recorded.conditions import Conditions
from cutline.recorded.documents import is_array, objects, objects_of_lines, text_of
from cutline.recorded.opening import File, StrPath, open_file
from cutline.text import quoted

Fields = tuple[str | None, ...]
Row = list[str] | dict[str, Any]

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True)
class Column:
    """A wanted column: the names that it may have, in lower case, the documented one first.

    ``chosen`` is the header that the user named, with the option ``choice`` of the command line; then no other name
    will do. An ``optional`` column that is not there reads as None.
    """

    role: str
    names: tuple[str, ...]
    chosen: str | None = None
    choice: str = ""
    optional: bool = False

    def place(self, header: Sequence[str], where: str, objects: bool = False) -> int | None:
        """Return the column's number in a header, None if it is optional and absent, or raise InvalidInputError."""
        plain = [name.strip() for name in header]
        if self.chosen is not None:
            names = plain if self.chosen not in header else header
            places = [i for i, name in enumerate(names) if name == self.chosen]
        else:
            lower = [name.lower() for name in plain]
            places = [i for i, name in enumerate(lower) if name == self.names[0]]
            places = places or [i for i, name in enumerate(lower) if name in self.names]
        if len(places) > 1:
            both = " and ".join(f"{i + 1} ({header[i]!r})" for i in places[:2])
            raise InvalidInputError(f"{where}: columns {both} could both be the {self.role}; choose or rename one")
        if places:
            return places[0]
        if self.optional and self.chosen is None:
            return None
        there = ", ".join(quoted(name) for name in header)
        what = "key" if objects else "column"
        hint = f"; {self.choice} says which it is" if self.choice and self.chosen is None else ""
        if len(header) == 1 and not objects:
            hint += "; a header line comes first, fields are parted by commas or tabs"
        raise InvalidInputError(f"{where}: no {what} {self.chosen or self.names[0]!r}; there is {there}{hint}")


@dataclass(frozen=True)
class Table:
    """An open file: its name for messages, the column names of its first row, and the rows, to be read once."""

    name: str
    header: tuple[str, ...]
    header_line: int
    rows: Iterator[tuple[int, Row]]
    objects: bool = False
    """Whether the rows are JSON objects, each with names of its own."""
    conditions: Conditions = field(default_factory=Conditions)
    """Which rows count."""

    def fields(self, columns: Sequence[Column], *, headless: bool = False) -> Iterator[tuple[int, Fields]]:
        """Yield (line, text of each wanted column) for every row that counts; blank lines are no rows.

        With ``headless`` the header is a row as well. Raises InvalidInputError, with file and line, at the
        first thing that is wrong, no rows at all included.
        """
        wanted = len(columns)
        columns = [*columns, *(Column(f"column of {name}=", (name.lower(),), name) for name in self.conditions.columns)]
        for line, found in self._fields(columns, headless):
            if wanted == len(columns):
                yield line, found
            elif self.conditions.hold(found[wanted:]):
                yield line, found[:wanted]
        self.conditions.finish(self.name)

    def _fields(self, columns: Sequence[Column], headless: bool) -> Iterator[tuple[int, Fields]]:
        where = f"{self.name}, line {self.header_line}"
        places = [column.place(self.header, where, self.objects) for column in columns]
        known = {self.header: places}
        width = len(self.header)
        line = 0
        for line, row in chain([(self.header_line, list(self.header))] if headless else [], self.rows):
            if isinstance(row, dict):
                where = f"{self.name}, line {line}"
                keys = tuple(row)
                if keys not in known:
                    known[keys] = [column.place(keys, where, self.objects) for column in columns]
                found = zip(columns, known[keys], strict=True)
                yield line, tuple([None if i is None else text_of(row[keys[i]], c.role, where) for c, i in found])
            elif len(row) == width:
                yield line, tuple([None if place is None else row[place] for place in places])
            else:
                raise InvalidInputError(f"{self.name}, line {line}: {len(row)} fields where the first row has {width}")
        if not line:
            raise InvalidInputError(f"{self.name} has a header and no rows")


_OBJECT = re.compile(rb'(\xef\xbb\xbf)?\s*\[?\s*\{\s*"')
"""How a JSON object begins, or an array of them; an id in brackets does not."""


@contextmanager
def open_table(path: StrPath) -> Iterator[Table]:
    """Open a file, or standard input for ``-``, as a Table; raise what ``open_file`` and ``table_of`` raise."""
    with open_file(path) as file:
        yield table_of(file)


def table_of(file: File, conditions: Conditions | None = None) -> Table:
    """Return the rows of an open file; ``conditions`` say which of them count.

    The file's ending says what it is; without a known one its beginning does. Raises InvalidInputError for a file that
    is empty.
    """
    rows: Iterator[tuple[int, Row]]
    suffix = PurePath(file.name.lower().removesuffix(".gz")).suffix
    if suffix in _DELIMITERS and _OBJECT.match(file.beginning):
        raise InvalidInputError(
            f"{file.name} begins as JSON does, not as {suffix[1:].upper()}; name it .json or .jsonl"
        )
    if is_array(file) and suffix not in _DELIMITERS:
        rows, as_objects = objects(file, strict=True), True
    else:
        lines = file.lines()
        head: list[str] = []
        for line in lines:
            head.append(line)
            if line.strip():
                break
        delimiter = _delimiter(suffix, head[-1] if head else "")
        every, as_objects = chain(head, lines), delimiter is None
        rows = (
            objects_of_lines(every, file.name, strict=True)
            if delimiter is None
            else _csv_rows(every, file.name, delimiter)
        )
    number, first = next(rows, (0, []))
    if not first:
        raise InvalidInputError(f"{file.name} is empty; it must have rows")
    every_row = chain([(number, first)], rows) if as_objects else rows
    return Table(file.name, tuple(first), number, every_row, as_objects, conditions or Conditions())


def _delimiter(suffix: str, first_line: str) -> str | None:
    """Return what parts the fields, or None for JSON Lines."""
    if suffix in _DELIMITERS:
        return _DELIMITERS[suffix]
    if suffix in _JSON_LINES or first_line.lstrip().startswith("{"):
        return None
    return "\t" if first_line.count("\t") > first_line.count(",") else ","


def _csv_rows(lines: Iterator[str], name: str, delimiter: str) -> Iterator[tuple[int, Row]]:
    """Yield (line where it begins, fields) for every row that is not blank."""
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            reason = str(error)
            if "unexpected end" in reason:
                reason = "a quote opens in this row and is never closed"
            elif "field limit" in reason:
                reason = f"a field of more than {csv.field_size_limit():,} characters; is a quote never closed?"
            elif "expected after" in reason:
                reason = "text follows a closing quote; inside quotes a quote is written twice"
            raise InvalidInputError(f"{name}, line {line}: {reason}") from None
        if row and (len(row) > 1 or row[0].strip()):
            yield line, row
