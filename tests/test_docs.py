"""Everything that README.md and docs/ show is run, by the convention in documents.py."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import documents
from surroundings import PATIENCE

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
SCRIPT = Path(documents.__file__)


def run(document: Path, folder: Path, *commands: Path) -> list[str]:
    """Play a document in a folder of its own, in a process of its own, with warnings as errors.

    ``commands``: folders whose commands stand for those of the same names.
    What it installs with pip is built without the network, and goes into that folder, for this document only.
    """
    text = document.read_text(encoding="utf-8")
    path = os.pathsep.join([*map(str, commands), str(Path(sys.executable).parent), os.environ["PATH"]])
    settings = {**os.environ, "PATH": path, "MPLBACKEND": "agg", "COLUMNS": "100", "TERM": "dumb"}
    installed = folder / "installed"
    installed.mkdir()
    settings["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"  # a pytest starts in a third of the time
    settings |= {"PIP_TARGET": str(installed), "PYTHONPATH": str(installed)}
    settings |= {"PIP_NO_BUILD_ISOLATION": "0", "PIP_NO_DEPS": "1", "PIP_NO_INDEX": "1"}  # 0: there is no isolation
    if any(block.file.startswith("src/") for block in documents.blocks(text)):
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy(ROOT / "pyproject.toml", folder)
        settings["PYTHONPATH"] = str(folder / "src")
    command = [sys.executable, "-W", "error", str(SCRIPT), str(document)]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, env=settings, start_new_session=True, **pipes) as process:
        try:
            out, talk = process.communicate(timeout=PATIENCE)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)  # a document that stopped half way may have left servers
    assert process.returncode == 0, talk
    found: list[str] = json.loads(out)
    return found


@pytest.mark.long
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_shows_is_what_happens(document: Path, tmp_path: Path, begun_commands: Path) -> None:
    assert "\n".join(run(document, tmp_path, begun_commands)) == ""


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("```python\nx = 1\n```\n```python\nprint(x + 1)\n# 2\n```", ""),
        ("```python\nprint(1)\n# 2\n```", "line 1: it prints\n1\n"),
        ("```python\nprint(1)\nprint(2)\n# 2\n```", "line 1: it prints\n1\n2\n"),
        ("```python\n1 / 0\n```", "ZeroDivisionError: division by zero"),
        ("\n\n```python\n\n1 / 0\n```", 'File "document", line 5'),
        ("```python\nimport warnings\nwarnings.warn('old')\n```", "UserWarning: old"),
        ("```python no-run\n1 / 0\n```", "line 1: 'no-run' is not the name of a file"),
        ("```console\n$ echo a; echo b >&2\na\nb\n```", ""),
        ("```console\n$ echo a\nb\n```", "line 1: 'echo a' ends with status 0 and writes\na\n"),
        ("```console\n$ echo a b c\na ... c\n$ echo anything\n```", ""),
        ("```console\n$ false\n```", "line 1: 'false' ends with status 1"),
        ("```console\n$ cat <<EOF\n> two\n> lines\n> EOF\ntwo\nlines\n```", ""),
        ("```csv a/b.csv\nmean\n0.5\n```\n```console\n$ cat a/b.csv\nmean\n0.5\n```", ""),
        ("```python\nopen('f', 'w').write('x')\n```\n```console\n$ cat f\nx\n```", ""),
        ("```console\ncutline policies\n```", "console begins with a command"),
        ("```sh\nmake paper\npip install cutline\n```", ""),
        ("```sh\ncutline policies\n```", "'cutline policies' is not set-up"),
        ("```bash\ncutline policies\n```", "a block is one of python, console, sh, text, or has the name of a file"),
        ("```\ncutline policies\n```", "a block is one of python, console, sh, text, or has the name of a file"),
        ("```text\nanything\n```", ""),
    ],
)
def test_the_convention_notices_what_does_not_happen(text: str, complaint: str, tmp_path: Path) -> None:
    document = tmp_path / "document.md"
    document.write_text(text, encoding="utf-8")
    found = run(document, tmp_path)
    assert found == [] if not complaint else complaint in "".join(found)


def test_a_block_that_does_not_end_is_an_error() -> None:
    with pytest.raises(ValueError, match="line 2: a block that does not end"):
        documents.blocks("text\n```python\nx = 1\n")
