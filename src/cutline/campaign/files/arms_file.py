"""A file of arms: one id a line, exactly as it stands."""

from cutline.errors import InvalidInputError
from cutline.recorded.opening import StrPath, open_lines
from cutline.text import quoted


def read_arms(path: StrPath) -> list[str]:
    """Return the ids in a file, or standard input for ``-``, in its order; blank lines are none.

    The file is UTF-8 text, gzipped or not, with any line ends, with or without a byte order mark. Raises
    InvalidInputError for an id that comes twice, with both lines, and for a file without ids.
    """
    seen: dict[str, int] = {}
    with open_lines(path) as (name, lines):
        for number, line in enumerate(lines, 1):
            arm = line.rstrip("\r\n")
            if not arm.strip():
                continue
            if seen.setdefault(arm, number) != number:
                raise InvalidInputError(f"{name}, line {number}: {quoted(arm)} stands in line {seen[arm]} already")
    if not seen:
        raise InvalidInputError(f"{name} is empty; it must have an id a line")
    return list(seen)
