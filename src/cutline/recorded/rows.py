"""From a file to the text of the wanted fields: CSV, TSV or JSON Lines, gzipped or not, or standard input.

Nothing is guessed about values: a field is the text that stands in the file, a JSON number included.
"""

import csv
import gzip
import io
import json
import sys
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from os import PathLike
from pathlib import PurePath
from typing import Any

from cutline.errors import InvalidInputError
from cutline.text import quoted

StrPath = str | PathLike[str]
Fields = tuple[str | None, ...]
Row = list[str] | dict[str, Any]

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".tab": "\t"}
_JSON_LINES = (".jsonl", ".ndjson")
_NOT_TEXT = {
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
}
"""What a file is, by its first bytes."""

_LONGEST = 2**25
"""Characters that a line may have: a device such as /dev/zero has no line ends."""


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

    def fields(self, columns: Sequence[Column], *, headless: bool = False) -> Iterator[tuple[int, Fields]]:
        """Yield (line, text of each wanted column) for every row; blank lines are no rows.

        With ``headless`` the header is a row as well. Raises InvalidInputError, with file and line, at the
        first thing that is wrong, no rows at all included.
        """
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
                yield line, tuple([None if i is None else _json_text(row[keys[i]], c.role, where) for c, i in found])
            elif len(row) == width:
                yield line, tuple([None if place is None else row[place] for place in places])
            else:
                raise InvalidInputError(f"{self.name}, line {line}: {len(row)} fields where the first row has {width}")
        if not line:
            raise InvalidInputError(f"{self.name} has a header and no rows")


@contextmanager
def open_table(path: StrPath) -> Iterator[Table]:
    """Open a file, or standard input for ``-``, as a Table.

    The file's ending says what it is; without a known one its first line does. Raises InvalidInputError for a
    file that cannot be read or is empty.
    """
    with open_lines(path) as (name, lines):
        head: list[str] = []
        for line in lines:
            head.append(line)
            if line.strip():
                break
        delimiter = _delimiter(name, head[-1] if head else "")
        if head and head[-1].lstrip().startswith("[") and PurePath(name).suffix not in _DELIMITERS:
            raise InvalidInputError(f"{name} is a JSON array; it must be JSON Lines, one object a line (jq -c '.[]')")
        every = chain(head, lines)
        rows = _json_rows(every, name) if delimiter is None else _csv_rows(every, name, delimiter)
        number, first = next(rows, (0, []))
        if not first:
            raise InvalidInputError(f"{name} is empty; it must have rows")
        objects = delimiter is None
        yield Table(name, tuple(first), number, chain([(number, first)], rows) if objects else rows, objects)


def _delimiter(name: str, first_line: str) -> str | None:
    """Return what parts the fields, or None for JSON Lines."""
    suffix = PurePath(name.lower().removesuffix(".gz")).suffix
    if suffix in _DELIMITERS:
        return _DELIMITERS[suffix]
    if suffix in _JSON_LINES or first_line.lstrip().startswith("{"):
        return None
    return "\t" if first_line.count("\t") > first_line.count(",") else ","


@contextmanager
def open_lines(path: StrPath) -> Iterator[tuple[str, Iterator[str]]]:
    """Open a file of UTF-8 text, gzipped or not, or standard input for ``-``: its name, and its lines with their ends.

    Raises InvalidInputError, with file and line, for a file that cannot be read.
    """
    standard_input = str(path) == "-"
    name = "standard input" if standard_input else str(path)
    with ExitStack() as stack:
        if standard_input and sys.stdin is None:
            raise InvalidInputError("cannot read standard input: it is closed")
        try:
            raw: Any = sys.stdin.buffer if standard_input else stack.enter_context(open(path, "rb", buffering=0))
        except (OSError, ValueError) as error:
            raise InvalidInputError(f"cannot read {name}: {getattr(error, 'strerror', None) or error}") from None
        stream = io.BufferedReader(raw)
        lines = _lines(stream, name)
        try:
            yield name, lines
        finally:
            lines.close()
            stream.detach()


def _lines(stream: io.BufferedReader, name: str) -> Generator[str]:
    """Yield the lines with their ends: UTF-8, without a byte order mark; gzip is known by its first bytes."""
    number = 0
    try:
        begin = stream.peek(16)
        for signature, what in _NOT_TEXT.items():
            if begin.startswith(signature):
                raise InvalidInputError(f"{name} is {what}; unpack or export it: CSV, TSV and JSON Lines can be read")
        zipped = begin.startswith(b"\x1f\x8b")
        binary: Any = gzip.GzipFile(fileobj=stream) if zipped else stream
        text = io.TextIOWrapper(binary, encoding="utf-8", errors="surrogateescape", newline="")
        try:
            for number, line in enumerate(iter(partial(text.readline, _LONGEST), ""), 1):
                if len(line) == _LONGEST and not line.endswith(("\n", "\r")):
                    raise InvalidInputError(f"{name}, line {number}: more than {_LONGEST:,} characters; is this text?")
                if not line.isascii():
                    _check_encoding(line, f"{name}, line {number}")
                if "\0" in line:
                    raise InvalidInputError(f"{name}, line {number}: a NUL byte; the file must be UTF-8 text")
                yield line.removeprefix("\ufeff") if number == 1 else line
        finally:
            text.detach()
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InvalidInputError(f"{name}, line {number + 1}: the gzip data are cut off or damaged ({error})") from None
    except OSError as error:
        raise InvalidInputError(f"{name}, line {number + 1}: cannot read on: {error.strerror or error}") from None


def _check_encoding(line: str, where: str) -> None:
    try:
        line.encode()
    except UnicodeEncodeError as error:
        byte = ord(line[error.start]) - 0xDC00
        place = len(line[: error.start].encode()) + 1
        raise InvalidInputError(f"{where}, byte {place}: 0x{byte:02x} is not UTF-8; save the file as UTF-8") from None


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


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


_JSON = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_object)


def _json_rows(lines: Iterator[str], name: str) -> Iterator[tuple[int, Row]]:
    for number, text in enumerate(lines, 1):
        if text.strip():
            where = f"{name}, line {number}"
            try:
                row = _JSON.decode(text)
            except (ValueError, RecursionError) as error:
                raise InvalidInputError(f"{where}: not a whole JSON object ({error})") from None
            if not isinstance(row, dict):
                raise InvalidInputError(f'{where}: not a JSON object such as {{"task": "a", "label": 1}}')
            yield number, row


def _json_text(value: Any, role: str, where: str) -> str | None:
    if value is None:
        return None
    if value is True or value is False:
        return "true" if value else "false"
    if not isinstance(value, str):
        raise InvalidInputError(f"{where}: the {role} must be text or a number, not a list or an object")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            raise InvalidInputError(f"{where}: the {role} holds half a surrogate pair, which is no text") from None
    if "\0" in value:
        raise InvalidInputError(f"{where}: the {role} holds a NUL character")
    return str(value)
