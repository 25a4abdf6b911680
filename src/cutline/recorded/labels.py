"""What the text of a label means: a number from 0 to 1, or with words that the user names 1, 0 or nothing."""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypedDict

from cutline.errors import InvalidInputError
from cutline.text import quoted

Words = str | Iterable[str] | None

_PLAIN = {"0": 0.0, "1": 1.0, "false": 0.0, "true": 1.0}
_SHOWN = 10
_COUNTED = 1000


class Reading(TypedDict, total=False):
    """How a file of labels is written; whatever is left out is found as ``iter_observations`` says.

    ``task_col``, ``worker_col``, ``label_col``: the names of the columns. ``positive``, ``negative``, ``skip``: a word
    or several that stand for 1, for 0, and for no label at all: rows with the last are left out. ``remark`` is called
    with a sentence about the file that its reader should know although nothing is wrong. ``format`` is the name of the
    format, see ``cutline.recorded.formats``. ``where`` is a condition ``COLUMN=VALUE`` or several: only rows of a flat
    file for which they hold count.
    """

    task_col: str | None
    worker_col: str | None
    label_col: str | None
    positive: Words
    negative: Words
    skip: Words
    format: str | None
    where: Words
    remark: Callable[[str], object] | None


class LabelWords:
    """The words of a file's labels: what each means, and how often each was met.

    With ``positive`` alone every other word is 0; with ``negative`` too any other is refused. Raises InvalidInputError
    for a word with two meanings, and for ``negative`` without ``positive``.
    """

    def __init__(self, positive: Words = None, negative: Words = None, skip: Words = None) -> None:
        self._values: dict[str, float | None] = {}
        self._role: dict[str, str] = {}
        for role, words, value in (("positive", positive, 1.0), ("negative", negative, 0.0), ("skip", skip, None)):
            for word in [words] if isinstance(words, str) else words or ():
                plain = word.strip()
                if self._role.setdefault(plain, role) != role:
                    raise InvalidInputError(f"the label {quoted(word)} is both {self._role[plain]} and {role}")
                self._values[plain] = value
        roles = set(self._role.values())
        if "negative" in roles and "positive" not in roles:
            raise InvalidInputError("negative words go with positive words: give both, or positive alone")
        self._numbers = "positive" not in roles
        self._others_are_0 = "positive" in roles and "negative" not in roles
        self._met: Counter[str] = Counter()

    def __bool__(self) -> bool:
        return bool(self._values)

    def __contains__(self, text: str | None) -> bool:
        return (text or "").strip() in self._values

    def value(self, text: str | None, source: str, line: int) -> float | None:
        """Return what a label means, None for one to leave out.

        Raises InvalidInputError, with source and line, for one that means nothing.
        """
        if not self._values and text in _PLAIN:  # nearly all, and they need no more looking at
            return _PLAIN[text]
        plain = "" if text is None else text.strip()
        if self._values and (len(self._met) < _COUNTED or plain in self._values):
            self._met[plain] += 1
        if plain in self._values:
            return self._values[plain]
        if self._others_are_0 and plain:
            return 0.0
        if self._numbers:
            number = _PLAIN.get(plain.lower())
            number = to_number(plain) if number is None else number
            if 0.0 <= number <= 1.0:
                return number
        wanted = "0, 1, true, false, a number in [0, 1], or a word named with --positive"
        if not self._numbers:
            wanted = f"{', '.join(map(quoted, self._values))}, or a word named with --skip"
        shown = "null" if text is None else quoted(text)
        raise InvalidInputError(f"{source}, line {line}: the label is {shown}; it must be {wanted}")

    def finish(self, source: str) -> str | None:
        """Return what should be known of the words once all are read, or None.

        Raises InvalidInputError for a word that never occurred where another one may have been taken for it.
        """
        absent = [word for word in self._values if not self._met[word]]
        others = [word for word in self._met if word not in self._values]
        if absent:
            never = f"{source}: no label is {' or '.join(map(quoted, absent))}; there are {self._counts(self._met)}"
            if not self._numbers and not self._others_are_0:
                return never
            raise InvalidInputError(never)
        labels = [word for word in self._met if self._role.get(word) != "skip"]
        if self._others_are_0 and len(labels) > 2 and others:
            zero = self._counts(others)
            return f"{source}: counted as 0: {zero}; --skip leaves such labels out, --negative says which alone are 0"
        return None

    def _counts(self, words: Iterable[str]) -> str:
        some = sorted(words, key=lambda word: (-self._met[word], word))
        listed = ", ".join(f"{quoted(word)} ({self._met[word]:,})" for word in some[:_SHOWN])
        return listed + (", ..." if len(some) > _SHOWN else "")


def to_number(text: str | None) -> float:
    """Return the number that a text is, NaN if it is none."""
    return float(text) if text is not None and is_number(text) else math.nan


def is_number(text: str) -> bool:
    """Say whether a text is a number, NaN included; the underscores and foreign digits that Python allows make none."""
    if "_" in text or not text.isascii():
        return False
    try:
        float(text)
    except ValueError:
        return False
    return True
