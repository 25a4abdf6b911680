"""The settings that figures are drawn and saved with, and their files."""

import io
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutline.errors import InvalidInputError, MissingDependencyError
from cutline.files import require_writable, whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_METADATA: dict[str, dict[str, Any]] = {  # no dates and no versions: the same curves give the same bytes
    ".svg": {"Date": None, "Creator": "cutline"},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": "cutline", "Producer": "cutline"},
}
_STYLE = {
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": "#e4e4e4",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "savefig.dpi": 160.0,
    "svg.hashsalt": "cutline",
}


def figure_bytes(figure: "Figure", ending: str) -> bytes:
    """Return a figure as the content of a file with this ending; figures of the same curves give the same bytes."""
    content = io.BytesIO()
    with figure_style():
        figure.savefig(content, format=ending[1:], metadata=_METADATA[ending])
    return content.getvalue()


def save_figure(figure: "Figure", path: str | os.PathLike[str]) -> None:
    """Write a figure as its file's ending says: .svg, .png or .pdf.

    Raises InvalidInputError for another ending and where the file cannot be written.
    """
    content = figure_bytes(figure, _ending(path))
    with whole_file(path, "wb") as file:
        file.write(content)


def drawn(draw: Callable[[], "Figure"], path: str | os.PathLike[str] | None) -> "Figure":
    """Return the figure that ``draw`` makes, and write it to a path if one is given; raise before if it cannot be."""
    if path is not None:
        require_drawable(path)
    figure = draw()
    if path is not None:
        save_figure(figure, path)
    return figure


def require_drawable(path: str | os.PathLike[str]) -> None:
    """Raise now what drawing into this file would raise later: for its ending, its folder, or matplotlib missing."""
    _ending(path)
    figure_style()
    require_writable(path)


def _ending(path: str | os.PathLike[str]) -> str:
    ending = Path(path).suffix.lower()
    if ending not in _METADATA:
        raise InvalidInputError(f"{os.fspath(path)}: a figure's name must end in one of {', '.join(_METADATA)}")
    return ending


def figure_style() -> AbstractContextManager[None]:
    """Return the settings to draw and save with, whatever the user's own matplotlib settings are."""
    try:
        _import_matplotlib()
        from matplotlib import style
    except ImportError:
        raise MissingDependencyError('figures need matplotlib; get it with pip install "cutline[plot]"') from None
    return style.context(["default", _STYLE])


def _import_matplotlib() -> None:
    """Import matplotlib even where MPLBACKEND names a backend that is not there, such as that of a Jupyter cell.

    A file needs no backend. One that is there is set, as matplotlib would have done.
    """
    if "matplotlib" in sys.modules:
        return
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    if backend:
        with suppress(ValueError):
            matplotlib.rcParams["backend"] = backend
