"""Which rows of a file count: those with the values that the user asks for, ``COLUMN=VALUE``."""

from collections import Counter
from collections.abc import Iterable, Sequence

from cutline.errors import InvalidInputError
from cutline.text import quoted

_SHOWN = 10
_COUNTED = 1000


class Conditions:
    """Conditions such as ``language=en``: each column that is named must have one of the values given for it.

    ``columns`` are the names of the columns, in order; ``left_out`` says of how many rows, and why, they did not hold.
    Raises InvalidInputError for a condition that is not ``COLUMN=VALUE``.
    """

    def __init__(self, conditions: str | Iterable[str] | None = None) -> None:
        self._wanted: dict[str, list[str]] = {}
        self.left_out: Counter[str] = Counter()
        for text in [conditions] if isinstance(conditions, str) else conditions or ():
            column, equals, value = text.partition("=")
            if not (equals and column.strip()):
                raise InvalidInputError(f"the condition {quoted(text)} is not COLUMN=VALUE, such as language=en")
            self._wanted.setdefault(column.strip(), []).append(value.strip())
        self.columns = tuple(self._wanted)
        self._met: list[Counter[str]] = [Counter() for _ in self.columns]

    def hold(self, values: Sequence[str | None]) -> bool:
        """Whether a row with these values in the columns counts; take note of it if it does not."""
        for met, text, (column, wanted) in zip(self._met, values, self._wanted.items(), strict=True):
            value = (text or "").strip()
            if len(met) < _COUNTED or value in met:
                met[value] += 1
            if value not in wanted:
                self.left_out[f"without {column}={' or '.join(wanted)}"] += 1
                return False
        return True

    def finish(self, source: str) -> None:
        """Raise InvalidInputError for a value that no row had, where columns before it let some through."""
        for met, (column, wanted) in zip(self._met, self._wanted.items(), strict=True):
            absent = [value for value in wanted if not met[value]]
            if met and absent and len(met) < _COUNTED:
                some = sorted(met, key=lambda value: (-met[value], value))
                there = ", ".join(f"{quoted(value)} ({met[value]:,})" for value in some[:_SHOWN] if met[value])
                more = ", ..." if len(some) > _SHOWN else ""
                raise InvalidInputError(
                    f"{source}: no row has {column}={absent[0]}; in that column there is {there}{more}"
                )
