"""The notebooks in docs/notebooks run, and show what is kept in them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

pytestmark = [pytest.mark.docs, pytest.mark.process]

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"


def results(cell: Any) -> Iterator[tuple[str, list[str], str]]:
    """Yield what a cell shows: how, in which kinds, and what as a table or text, unless that is up to chance."""
    for output in cell.get("outputs", []):
        kinds = output.get("data", {"text/plain": output.get("text", "")})
        fixed = "chance" not in cell.metadata.get("tags", []) and "image/svg+xml" not in kinds
        yield output.output_type, sorted(kinds), kinds.get("text/html", kinds["text/plain"]) if fixed else ""


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the packages that start a kernel
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_shows_what_is_kept_in_it(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    kept = nbformat.read(path, 4)
    again = nbformat.read(path, 4)
    client = NotebookClient(again, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    assert [list(results(cell)) for cell in again.cells] == [list(results(cell)) for cell in kept.cells]
    assert sum(len(list(results(cell))) for cell in kept.cells) >= 5
