"""Rows of a file on their way to a server: gzipped JSON Lines.

The first line says what all rows have in common: the files that they are from, whether they are totals, the source or
why there is none, the options, and the settings of a campaign that is to be made of them. Each further line is a row.
"""

import gzip
import json
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import IO, Any, NamedTuple, Protocol

from cutline.campaign.checks import check_note, check_reward, check_text
from cutline.campaign.files.staging import Staging
from cutline.campaign.operations.observing.joining import Source
from cutline.campaign.settings import Settings
from cutline.errors import InvalidInputError

_LONGEST_LINE = 2**24
"""So many bytes a line may have."""


class Origin(Protocol):
    """Where rows come from, as ``importing.Origin``."""

    def source(self) -> Source:
        """Return the source of rows; raise InvalidInputError if it has no name."""
        ...


def written(
    staging: Staging, origin: Origin, options: Mapping[str, Any], settings: Settings | None = None
) -> IO[bytes]:
    """Return a temporary file with the rows, at its beginning; with ``settings`` a campaign is to be made of them."""
    source, why_not = None, ""
    try:
        source = origin.source()
    except InvalidInputError as error:
        why_not = str(error)
    head = {
        "files": staging.files,
        "totals": staging.totals,
        "source": source,
        "why_no_source": why_not,
        "replace": bool(options.get("replace")),
        "add_arms": bool(options.get("add_arms")),
        "settings": None if settings is None else settings.as_dict(),
    }
    with ExitStack() as opened:
        file = opened.enter_context(tempfile.TemporaryFile())
        with gzip.open(file, "wt", compresslevel=3, encoding="ascii") as text:
            text.write(json.dumps(head) + "\n")
            for row in staging.sent():
                text.write(json.dumps(row) + "\n")
        file.seek(0)
        opened.pop_all()  # it is for whoever sends it to close
        return file


class Received(NamedTuple):
    """What the first line says; ``settings`` are those of a campaign to be made, None for one that is there."""

    files: list[str]
    totals: bool
    origin: Source | None
    why_no_source: str
    replace: bool
    add_arms: bool
    settings: dict[str, Any] | None

    def source(self) -> Source:
        """Return the source of rows; raise InvalidInputError if it has no name."""
        if self.origin is None:
            raise InvalidInputError(self.why_no_source)
        return self.origin


def received(file: IO[bytes], staging: Staging) -> Received:
    """Stage the rows in a file that ``written`` has made, and return what they have in common.

    Raises InvalidInputError, with the line, for what it has not made.
    """
    number = 0

    def lines() -> Iterator[Any]:
        nonlocal number
        with gzip.open(file) as text:
            while line := text.readline(_LONGEST_LINE):
                number += 1
                yield json.loads(line)

    every = lines()
    try:
        head = _head(next(every))
        staging.fill_with(head.files, head.totals, (_row(row, len(head.files)) for row in every))
    except (StopIteration, EOFError, OSError, zlib.error, ValueError, TypeError, LookupError, RecursionError) as error:
        what = str(error) or "it ends too early"
        raise InvalidInputError(
            f"body, line {number}: these are no rows as cutline import sends them, gzipped JSON Lines: {what}"
        ) from None
    return head


def _head(given: Any) -> Received:
    files, source, settings = given["files"], given["source"], given["settings"]
    origin = None
    if source is not None:
        name, path, named = source
        origin = Source(check_text("source", name), str(path), bool(named))
    if not files or not (settings is None or isinstance(settings, dict)):
        raise ValueError("the first line is another")
    files = [check_text("file", name) for name in files]
    totals, replace, add_arms = (bool(given[name]) for name in ("totals", "replace", "add_arms"))
    return Received(files, totals, origin, str(given["why_no_source"]), replace, add_arms, settings)


def _row(given: Any, files: int) -> tuple[Any, ...]:
    file, line, task, worker, label, key, note, times = given
    whole = (file, line, times)
    if not all(type(number) is int and 0 <= number < 2**53 for number in whole) or file >= files:
        raise ValueError(f"{whole} are no number of a file, of a line, and of results")
    return (
        file,
        line,
        check_text("task", task),
        None if worker is None else check_text("worker", worker),
        check_reward(label),
        None if key is None else check_text("key", key),
        None if note is None else check_note(note),
        times,
    )
