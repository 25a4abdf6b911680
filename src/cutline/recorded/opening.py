"""An open file of recorded labels, gzipped or not, or standard input: its beginning, its lines, its text.

Whatever cannot be read raises InvalidInputError with file and line.
"""

import gzip
import hashlib
import io
import sys
import tempfile
import zlib
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

from cutline.errors import InvalidInputError

StrPath = str | PathLike[str]

_LONGEST = 2**25
"""Characters that a line may have: a device such as /dev/zero has no line ends."""
_PIECE = 1 << 16
_NOT_TEXT = {
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard",
    b"BZh": "compressed by bzip2",
    b"\xfd7zXZ": "compressed by xz",
    b"PAR1": "a Parquet file",
    b"SQLite format 3": "an SQLite database",
}
"""What a file is, by its first bytes."""


@dataclass
class File:
    """An open file, to be read once: its path, its name for messages, and its bytes, unzipped.

    ``beginning`` is what it starts with, up to 64 KiB; looking at that reads nothing. ``ends`` is left when the file is
    closed.
    """

    path: str
    name: str
    binary: io.BufferedReader
    beginning: bytes
    ends: ExitStack

    def lines(self) -> Iterator[str]:
        """Yield the lines with their ends: UTF-8, without a byte order mark."""
        return self._while_open(self._text(lambda text: iter(partial(text.readline, _LONGEST), "")))

    def pieces(self) -> Iterator[str]:
        """Yield the same text in pieces of some 64 KiB, wherever its lines end."""
        return self._while_open(self._text(lambda text: iter(partial(text.read, _PIECE), ""), whole_lines=False))

    def read(self, size: int) -> bytes:
        """Return the next bytes, unzipped, none at the end."""
        with _readable(self.name, lambda: 0):
            return self.binary.read(size)

    def digest(self) -> str:
        """Return the first 16 hexadecimal digits of the SHA-256 of all bytes, and go back to the beginning.

        What cannot be read twice is kept in a temporary file.
        """
        found = hashlib.sha256()
        start = self.binary.tell() if self.binary.seekable() else None
        copy: Any = None
        if start is None:
            copy = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with this file
            self.ends.callback(copy.close)
        while piece := self.read(_PIECE):
            found.update(piece)
            if copy is not None:
                copy.write(piece)
        if copy is not None:
            copy.seek(0)
            self.binary = copy
        else:
            self.binary.seek(start or 0)
        return found.hexdigest()[:16]

    def _while_open(self, text: Generator[str]) -> Iterator[str]:
        self.ends.callback(text.close)
        return text

    def _text(self, parts: Callable[[io.TextIOWrapper], Iterator[str]], whole_lines: bool = True) -> Generator[str]:
        for signature, what in _NOT_TEXT.items():
            if self.beginning.startswith(signature):
                raise InvalidInputError(
                    f"{self.name} is {what}; unpack or export it: CSV, TSV and JSON Lines can be read"
                )
        text = io.TextIOWrapper(self.binary, encoding="utf-8", errors="surrogateescape", newline="")
        before, first = 0, True
        try:
            with _readable(self.name, lambda: before):
                for part in parts(text):
                    if len(part) == _LONGEST and not part.endswith(("\n", "\r")):
                        where = f"{self.name}, line {before + 1}"
                        raise InvalidInputError(f"{where}: more than {_LONGEST:,} characters; is this text?")
                    if not part.isascii():
                        _check_encoding(part, self.name, before)
                    if "\0" in part:
                        line = before + 1 + part[: part.index("\0")].count("\n")
                        raise InvalidInputError(f"{self.name}, line {line}: a NUL byte; the file must be UTF-8 text")
                    before += 1 if whole_lines else part.count("\n")
                    yield part.removeprefix("\ufeff") if first else part
                    first = False
        finally:
            text.detach()


@contextmanager
def open_file(path: StrPath) -> Iterator[File]:
    """Open a file, gzipped or not, or standard input for ``-``; gzip is known by its first bytes.

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
        stream = io.BufferedReader(raw, _PIECE)
        stack.callback(stream.detach)
        with _readable(name, lambda: 0):
            beginning = stream.peek(_PIECE)
            if beginning.startswith(b"\x1f\x8b"):
                zipped: Any = gzip.GzipFile(fileobj=stream)
                stream = io.BufferedReader(zipped, _PIECE)
                stack.callback(stream.detach)
                beginning = stream.peek(_PIECE)
        yield File(str(path), name, stream, beginning, stack)


@contextmanager
def open_lines(path: StrPath) -> Iterator[tuple[str, Iterator[str]]]:
    """Open a file as ``open_file`` does; return its name, and its lines with their ends."""
    with open_file(path) as file:
        yield file.name, file.lines()


@contextmanager
def _readable(name: str, lines_before: Callable[[], int]) -> Iterator[None]:
    """Turn what goes wrong while a file is read into InvalidInputError, with the line that it was at."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        where = f"{name}, line {lines_before() + 1}"
        raise InvalidInputError(f"{where}: the gzip data are cut off or damaged ({error})") from None
    except OSError as error:
        where = f"{name}, line {lines_before() + 1}"
        raise InvalidInputError(f"{where}: cannot read on: {error.strerror or error}") from None


def _check_encoding(text: str, name: str, lines_before: int) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        byte = ord(text[error.start]) - 0xDC00
        begin = text.rfind("\n", 0, error.start) + 1
        line = lines_before + 1 + text.count("\n", 0, error.start)
        place = len(text[begin : error.start].encode()) + 1
        raise InvalidInputError(
            f"{name}, line {line}, byte {place}: 0x{byte:02x} is not UTF-8; save the file as UTF-8"
        ) from None
