"""Ids that nobody expects, from the file that they come in to the file that they go out to."""

import csv
import io
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rough.calls import many_calls

IDS = {
    "a tab": "a\tb",
    "a line feed": "a\nb",
    "a carriage return": "a\rb",
    "a line of Windows": "a\r\nb",
    "a form feed": "a\fb",
    "a next line": "a\x85b",
    "a line separator": "a\u2028b",
    "NUL": "a\0b",
    "escape": "\x1b[31mred",
    "10 kB": "x" * 10_000,
    "10 kB of Chinese": "\N{CJK UNIFIED IDEOGRAPH-732B}" * 3_400,
    "a lone surrogate": "a\udcffb",
    "half of an emoji": "a\ud83d",
    "an emoji": "\N{GRINNING FACE}",
    "right to left": "\N{RIGHT-TO-LEFT OVERRIDE}abc",
    "quotes": "\"a\" 'b'",
    "a comma": "a,b",
    "a formula": "=cmd|' /C calc'!A0",
    "an option": "--help",
    "spaces around": "  a  ",
    "only a space": " ",
    "a brace": "{arm}",
    "a percent": "100%s%(x)s",
    "a byte order mark": "\ufeffa",
    "not a number": "nan",
    "a number": "007",
}

FORMS = ("csv", "jsonl")


def written(arm: str, form: str) -> bytes:
    """A file of labels with that task and another, as bytes; a lone surrogate is what UTF-8 cannot have."""
    if form == "jsonl":
        return "".join(json.dumps({"task": task, "worker": "w", "label": 1}) + "\n" for task in (arm, "other")).encode()
    rows = [[arm, "w", "1"], ["other", "w", "1"]]
    quoted = "\n".join(",".join('"' + field.replace('"', '""') + '"' for field in row) for row in rows)
    return f"task,worker,label\n{quoted}\n".encode("utf-8", "surrogatepass")


def read(path: Path) -> list[str]:
    """The tasks in a file that was exported, read without Cutline."""
    text = path.read_bytes().decode("utf-8")
    if path.suffix == ".jsonl":
        return [json.loads(line)["task"] for line in text.split("\n") if line]
    return [row["task"] for row in csv.DictReader(io.StringIO(text, newline=""))]


def complaints(call: Any, folder: Path, arm: str, form: str) -> Iterator[str]:
    """Import labels of an arm, ask for it, tell, and export; yield what must not have come of it."""
    folder.mkdir()
    (folder / f"in.{form}").write_bytes(written(arm, form))

    def cutline(*words: str) -> Any:
        outcome = call(folder, list(words))
        if "Traceback" in outcome.talk or not outcome.talk.replace("\n", "").isprintable():
            yielded.append(f"{words[:2]}: {outcome.talk[-3000:]!r}")
        return outcome

    yielded: list[str] = []
    made = cutline("import", f"in.{form}", "--db", "x.db", "--threshold", "0.5", "--budget", "9")
    if made.status == 2:
        if len(made.talk.splitlines()) != 1 or (folder / "x.db").exists():
            yielded.append(f"refused, but not whole: {made.talk!r}, {sorted(path.name for path in folder.iterdir())}")
        yield from yielded
        return
    asked = cutline("campaign", "ask", "-n", "2", "--db", "x.db", "--format", "json")
    pulls = json.loads(asked.out)["pulls"]
    if {pull["arm"] for pull in pulls} != {arm, "other"}:
        yielded.append(f"asked for {[pull['arm'] for pull in pulls]!r:.300}")
    told = cutline("campaign", "tell", "--db", "x.db", *(word for pull in pulls for word in (pull["pull"], "1")))
    cutline("campaign", "decisions", "--db", "x.db")
    for ending in FORMS:
        out = cutline("export", "observations", "--db", "x.db", "--out", f"out.{ending}")
        if (told.status, out.status) != (0, 0) or sorted(set(read(folder / f"out.{ending}"))) != sorted({arm, "other"}):
            yielded.append(f"exported to {ending}: {out.talk!r}, {read(folder / f'out.{ending}')!r:.300}")
        again = cutline("import", f"out.{ending}", "--db", "x.db")
        if again.status or "nothing new" not in again.talk:
            yielded.append(f"imported again from {ending}: {again.talk!r}")
    run = cutline("run", "--db", "x.db", "--on-crash", "abandon", "--", "true", "{arm}")
    if run.status not in (0, 1):
        yielded.append(f"run: {run.status}, {run.talk[-300:]!r}")
    yield from yielded


CASES = [(name, form) for name in IDS for form in FORMS]


@pytest.mark.process
def test_some_strange_ids(tmp_path: Path) -> None:
    with many_calls(tmp_path) as call:
        for name, form in random.Random(5).sample(CASES, 4):
            assert list(complaints(call, tmp_path / f"{name} {form}", IDS[name], form)) == [], (name, form)


@pytest.mark.rough
@pytest.mark.parametrize(("name", "form"), CASES)
def test_every_strange_id(tmp_path: Path, name: str, form: str) -> None:
    with many_calls(tmp_path) as call:
        assert list(complaints(call, tmp_path / "here", IDS[name], form)) == []
