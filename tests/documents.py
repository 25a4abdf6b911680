"""Runs what a document shows. Imports nothing that is not in Python itself; run as a script, it plays one document.

The convention, for README.md and everything in docs/:

* ```` ```python ```` is run, all blocks of a document in order, with the same names. A comment right below a ``print``
  at the beginning of a line is what it prints.
* ```` ```console ```` is run in the same folder: a line with ``$`` is a command (``>`` continues it), the lines below
  are all that it writes. Nothing below means that it does not matter. Commands must succeed.
* ```` ```LANGUAGE FILE ```` is a file: it is written under that name before anything below it runs.
* ```` ```sh ```` sets up the machine (git, make, pip and the like) and is not run; no other command may stand there.
* ```` ```text ```` is not run.

In what is expected, ``...`` stands for anything. Each document starts in an empty folder; one that holds a file below
``src/`` starts in a copy of the project, as somebody who changes Cutline would.
"""

import contextlib
import io
import json
import re
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_FENCE = re.compile(r"^```(.*)$")
_SETUP = re.compile(r"^(#|git |make\b|cd |pip |python3? -m |\S+/(pip|uv) |sudo |apt )")
_FILE = re.compile(r"[\w./-]+\.\w+")
_PRINT = re.compile(r"^print\(")
KINDS = ("python", "console", "sh", "text")


@dataclass(frozen=True)
class Block:
    """A fenced block: the line it begins on, its language, its file if it is one, and its text."""

    line: int
    kind: str
    file: str
    text: str


def blocks(text: str) -> list[Block]:
    """Return the fenced blocks of a Markdown text in order."""
    found: list[Block] = []
    opened: tuple[int, str] | None = None
    inside: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        fence = _FENCE.match(line)
        if fence and opened is None:
            opened, inside = (number, fence[1]), []
        elif fence and opened:
            kind, _, file = opened[1].strip().partition(" ")
            found.append(Block(opened[0], kind, file.strip(), "\n".join(inside) + "\n"))
            opened = None
        else:
            inside.append(line)
    if opened:
        raise ValueError(f"line {opened[0]}: a block that does not end")
    return found


def complaints(block: Block) -> list[str]:
    """Return what is wrong with a block before it is run."""
    if block.file:
        named = _FILE.fullmatch(block.file)
        return [] if named else [f"line {block.line}: {block.file!r} is not the name of a file, such as means.csv"]
    if block.kind not in KINDS:
        return [f"line {block.line}: a block is one of {', '.join(KINDS)}, or has the name of a file"]
    if block.kind == "console" and not block.text.startswith("$ "):
        return [f"line {block.line}: console begins with a command: $ cutline ..."]
    if block.kind == "sh":
        return [
            f"line {block.line}: {line!r} is not set-up; use console, which is run"
            for line in block.text.splitlines()
            if line.strip() and not _SETUP.match(line)
        ]
    return []


def commands(text: str) -> list[tuple[str, str]]:
    """Return the commands of a console block, each with the output that is shown."""
    found: list[tuple[str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (f"{found[-1][0]}\n{line[2:]}", [])
        else:
            found[-1][1].append(line)
    return [(command, "\n".join(lines).rstrip()) for command, lines in found]


def printed(text: str) -> str:
    """Return what the comments below the prints of a python block say."""
    shown: list[str] = []
    after = False
    for line in text.splitlines():
        if _PRINT.match(line):
            after = True
        elif after and line.startswith("#"):
            shown.append(line[1:].removeprefix(" "))
        elif not line.startswith((" ", ")", "]", "}")):
            after = False
    return "\n".join(shown).rstrip()


def matches(shown: str, real: str) -> bool:
    """Whether an output is what is shown, where ``...`` stands for anything, and nothing shown for anything too."""
    plain = "\n".join(line.rstrip() for line in real.splitlines()).rstrip()
    pattern = ".*".join(re.escape(part) for part in shown.split("..."))
    return not shown or re.fullmatch(pattern, plain, re.DOTALL) is not None


def play(text: str) -> list[str]:
    """Run a document in the folder that this process is in; return what went wrong, with lines."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(text):
        wrong = complaints(block)
        if wrong:
            return wrong
        if block.file:
            Path(block.file).parent.mkdir(parents=True, exist_ok=True)
            Path(block.file).write_text(block.text, encoding="utf-8")
        elif block.kind == "python":
            wrong = _play_python(block, namespace)
        elif block.kind == "console":
            wrong = _play_console(block)
        if wrong:
            return wrong
    return []


def _play_python(block: Block, namespace: dict[str, Any]) -> list[str]:
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            exec(compile("\n" * block.line + block.text, "document", "exec"), namespace)
    except BaseException:
        return [f"line {block.line}: {traceback.format_exc()}"]
    if matches(printed(block.text), out.getvalue()):
        return []
    return [f"line {block.line}: it prints\n{out.getvalue()}"]


def _play_console(block: Block) -> list[str]:
    for command, shown in commands(block.text):
        with tempfile.TemporaryFile("w+", encoding="utf-8") as out:  # what it leaves in the background may hold it open
            status = subprocess.run(["bash", "-c", command], stdout=out, stderr=out, check=False).returncode
            out.seek(0)
            written = out.read()
        if status or not matches(shown, written):
            return [f"line {block.line}: {command!r} ends with status {status} and writes\n{written}"]
    return []


if __name__ == "__main__":
    result = play(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print(json.dumps(result))
