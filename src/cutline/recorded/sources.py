"""What somebody names as recorded labels: a file, or a set that ships with the package."""

from collections.abc import Sequence
from pathlib import Path
from typing import Unpack

from cutline.errors import InvalidInputError
from cutline.recorded import bundled
from cutline.recorded.labels import Reading
from cutline.recorded.observations import Counts, Observations
from cutline.recorded.readers import read_gold, read_recorded
from cutline.recorded.rows import open_table


def open_source(
    names: str | Sequence[str], gold: str | None = None, **reading: Unpack[Reading]
) -> tuple[Observations | Counts, dict[str, bool] | None]:
    """Return recorded labels and gold answers by task, None without gold.

    ``names`` are files, or - for standard input; where there is no such file, one is a set that ships, which brings its
    own gold. ``gold`` is a file. Raises InvalidInputError for what cannot be read, with file and line.
    """
    paths = [names] if isinstance(names, str) else list(names)
    for place, name in enumerate(paths):
        if name == "-" or Path(name).exists():
            continue
        if name not in bundled.names() or len(paths) > 1:
            raise InvalidInputError(f"cannot read {name}: there is no such file; the sets that ship: {_sets()}")
        paths[place] = str(bundled.folder(name) / "labels.csv")
        gold = gold or str(bundled.folder(name) / "gold.csv")
    if gold == "-" and "-" in paths:
        raise InvalidInputError("labels and gold cannot both come from standard input; name a file for one of them")
    recorded = read_recorded(paths, **reading)
    return recorded, None if gold is None else read_answers(gold, **reading)


def read_answers(path: str, **reading: Unpack[Reading]) -> dict[str, bool]:
    """Read true answers; their column of tasks may be called what that of the labels is, or have a usual name."""
    task_col = reading.get("task_col")
    if task_col is not None and path != "-":
        with open_table(path) as table:
            task_col = task_col if task_col in table.header else None
    reading["task_col"], reading["label_col"] = task_col, None
    return read_gold(path, **reading)


def _sets() -> str:
    return ", ".join(bundled.names())
