"""What somebody names as recorded labels: a file, or a set that ships with the package."""

from pathlib import Path

from cutline.errors import InvalidInputError
from cutline.recorded import bundled
from cutline.recorded.observations import Counts, Observations
from cutline.recorded.readers import read_gold, read_recorded
from cutline.recorded.rows import open_table


def open_source(
    name: str,
    gold: str | None = None,
    *,
    task_col: str | None = None,
    worker_col: str | None = None,
    label_col: str | None = None,
    positive: str | None = None,
) -> tuple[Observations | Counts, dict[str, bool] | None]:
    """Return recorded labels and gold answers by task, None without gold.

    ``name`` is a file, or - for standard input; where there is no such file, a set that ships, which brings its own
    gold. ``gold`` is a file. Raises InvalidInputError for what cannot be read, with file and line.
    """
    path = name
    if name in bundled.names() and not Path(name).exists():
        path = str(bundled.folder(name) / "labels.csv")
        gold = gold or str(bundled.folder(name) / "gold.csv")
    elif name != "-" and not Path(name).exists():
        raise InvalidInputError(f"cannot read {name}: there is no such file; the sets that ship: {_sets()}")
    if path == gold == "-":
        raise InvalidInputError("labels and gold cannot both come from standard input; name a file for one of them")
    recorded = read_recorded(path, task_col=task_col, worker_col=worker_col, label_col=label_col, positive=positive)
    return recorded, None if gold is None else _gold(gold, task_col, positive)


def _gold(path: str, task_col: str | None, positive: str | None) -> dict[str, bool]:
    """Read gold that may be written like the labels, or have the usual header and plain answers beside them."""
    if path == "-":
        return read_gold(path, positive=positive)
    if task_col is not None:
        with open_table(path) as table:
            task_col = task_col if task_col in table.header else None
    gold = read_gold(path, task_col=task_col, positive=positive)
    return gold if positive is None or any(gold.values()) else read_gold(path, task_col=task_col)


def _sets() -> str:
    return ", ".join(bundled.names())
