"""Sets of recorded labels that ship with the package, each a folder of ``data/`` with its licence and source."""

from pathlib import Path

from cutline.errors import NotFoundError
from cutline.recorded.observations import Observations
from cutline.recorded.readers import read_gold, read_observations

_DATA = Path(__file__).parent / "data"


def names() -> tuple[str, ...]:
    """Return the names of the sets, in alphabetical order."""
    return tuple(sorted(folder.name for folder in _DATA.iterdir() if (folder / "labels.csv").is_file()))


def folder(name: str) -> Path:
    """Return the folder of a set: labels.csv, gold.csv, LICENSE and NOTICE.

    Raises NotFoundError, which lists the sets, for any other name.
    """
    if name not in names():
        raise NotFoundError(f"no set of labels is called {name!r}; there is {', '.join(names())}")
    return _DATA / name


def load(name: str) -> tuple[Observations, dict[str, bool]]:
    """Return the labels of a set and its gold answers, as ``read_observations`` and ``read_gold`` do.

    Raises NotFoundError, which lists the sets, for an unknown name.
    """
    path = folder(name)
    return read_observations(path / "labels.csv"), read_gold(path / "gold.csv")
