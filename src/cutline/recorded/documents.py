"""JSON as it comes: one object a line, or the elements of an array one by one, each with the line where it begins.

Python's own decoder is used on a window of the text, so that a file of any length takes the memory of its largest
element, and an error has its line; the streaming parsers for Python know no lines. Numbers stay the text that they are.
"""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from cutline.errors import InvalidInputError
from cutline.recorded.opening import File

_LONGEST = 1 << 28
"""A single value of more characters than that is refused: it would not fit into memory."""
_NEAR_THE_END = 16
"""An error so near the end of what was read may come from the rest that was not: ``fals``, ``\\u12``."""
_NO_SPACE = re.compile(r"[^ \t\r\n]")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


_STRICT = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str, object_pairs_hook=_object)
_QUICK = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
"""For what tools write: it does not look for keys that stand twice, and is several times as fast."""


def is_array(file: File) -> bool:
    """Whether a file begins as a JSON array does."""
    return file.beginning.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"["


def objects(file: File, at: Sequence[str] = (), *, strict: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) for every object of a file; ``strict`` refuses keys that stand twice in one.

    A file that begins with ``[`` is an array of them. In another one an object stands on each line; but if ``at`` names
    keys, the file is one object that has the array there, such as ``{"results": {"results": [...]}}``. Raises
    InvalidInputError with the line for whatever is not so.
    """
    if is_array(file):
        window = _Window(file, strict)
        yield from window.elements()
        window.end()
    elif at:
        window = _Window(file, strict)
        window.descend(at)
        yield from window.elements()
    else:
        yield from objects_of_lines(file.lines(), file.name, strict)


def decode(text: str, where: str, strict: bool = False) -> dict[str, Any]:
    """Return the object that a text is."""
    try:
        row = (_STRICT if strict else _QUICK).decode(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{where}: not a whole JSON object ({error})") from None
    return _checked(row, where)


def objects_of_lines(lines: Iterator[str], name: str, strict: bool = False) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, object) for lines that each hold one, blank lines aside."""
    for number, text in enumerate(lines, 1):
        if text.strip():
            yield number, decode(text, f"{name}, line {number}", strict)


def _checked(row: Any, where: str) -> dict[str, Any]:
    if not isinstance(row, dict):
        raise InvalidInputError(f'{where}: not a JSON object such as {{"task": "a", "label": 1}}')
    return row


class _Window:
    """The part of a JSON document that is looked at, and the place in it that reading has come to."""

    def __init__(self, file: File, strict: bool) -> None:
        self._decoder = _STRICT if strict else _QUICK
        self._name = file.name
        self._pieces = file.pieces()
        self._text = ""
        self._place = 0
        self._line = 1
        self._counted = 0
        self._whole = False

    def elements(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield (line, object) for the elements of the array that begins here."""
        self._take("[", "an array")
        if self._next() == "]":
            self._take("]", "the end of the array")
            return
        size = 0
        while True:
            self._next()
            line = self._line_here()
            if len(self._text) - self._place < size:  # one as long as the last would be decoded in vain
                self._more()
            begin = self._place
            value = self._value()
            size = self._place - begin
            yield line, _checked(value, f"{self._name}, line {line}")
            if self._take(",]", "a comma or the end of the array") == "]":
                return

    def end(self) -> None:
        """Make sure that nothing follows."""
        if self._next():
            self._wrong("something follows the end of the array")

    def descend(self, keys: Sequence[str]) -> None:
        """Go to what the keys name, one below the other."""
        for key in keys:
            self._take("{", "an object")
            while self._next() != "}":
                found = self._value()
                self._take(":", "a colon")
                if found == key:
                    break
                self._value()
                if self._take(",}", "a comma or the end of the object") == "}":
                    self._wrong(f"there is no {'.'.join(keys)} in this file")
            else:
                self._wrong(f"there is no {'.'.join(keys)} in this file")

    def _next(self) -> str:
        """Return the next character that is no space, without taking it; empty at the end."""
        while True:
            found = _NO_SPACE.search(self._text, self._place)
            self._place = len(self._text) if found is None else found.start()
            if found is not None:
                return found[0]
            if not self._more():
                return ""

    def _take(self, wanted: str, what: str) -> str:
        letter = self._next()
        if not letter or letter not in wanted:
            self._wrong(f"{what} should be here" if letter else f"the file ends where {what} should be")
        self._place += 1
        return letter

    def _value(self) -> Any:
        self._next()
        while True:
            try:
                value, end = self._decoder.raw_decode(self._text, self._place)
            except json.JSONDecodeError as error:
                cut = error.msg.startswith("Unterminated string") or error.pos >= len(self._text) - _NEAR_THE_END
                ahead = error.pos - self._place
                if not cut or not self._more(grow=True):
                    self._place += ahead
                    self._wrong(f"not JSON: {error.msg}")
            except (ValueError, RecursionError) as error:
                self._wrong(f"not JSON that can be read: {error}")
            else:
                if end < len(self._text) or not self._more(grow=True):
                    self._place = end
                    return value

    def _more(self, grow: bool = False) -> bool:
        """Read on, with ``grow`` as much as there is already; return False at the end of the file."""
        if self._whole:
            return False
        self._line_here()
        kept = self._text[self._place :]
        if len(kept) > _LONGEST:
            self._wrong(f"a value of more than {_LONGEST:,} characters")
        parts = [kept]
        wanted = len(kept) if grow else 0
        for piece in self._pieces:
            parts.append(piece)
            wanted -= len(piece)
            if wanted <= 0:
                break
        else:
            self._whole = True
        self._text, self._place, self._counted = "".join(parts), 0, 0
        return len(self._text) > len(kept)

    def _line_here(self) -> int:
        self._line += self._text.count("\n", self._counted, self._place)
        self._counted = self._place
        return self._line

    def _wrong(self, what: str) -> NoReturn:
        raise InvalidInputError(f"{self._name}, line {self._line_here()}: {what}")


def text_of(value: Any, role: str, where: str) -> str | None:
    """Return a JSON value as text: a number as it stands, true and false, None for null; refuse a list or an object."""
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
    return value
