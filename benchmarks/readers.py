"""How long each format takes for 100,000 rows, and how much memory: python benchmarks/readers.py [ROWS].

The files are those of the tests, their rows repeated and laid out as the tools do it; each is read in a process of its
own. The output is the table of docs/formats.md.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

FILES = Path(__file__).parents[1] / "tests" / "recorded" / "formats" / "files"
READ = """
import resource, sys, time
from cutline.recorded.labelling import Labelled
begin = time.process_time()
words = dict(positive=sys.argv[2]) if sys.argv[2] else {}
rows = sum(1 for _ in Labelled(sys.argv[1], **words).rows())
print(rows, time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""
POSITIVE = {"label-studio": "positive", "argilla": "positive", "mturk": "yes", "toloka": "yes", "appen": "yes"}
POSITIVE |= {"zooniverse": "Yes", "ann": "positive"}


def repeated(path: Path, rows: int) -> Iterator[str]:
    """Yield the text of a file whose rows are repeated until there are so many."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".csv", ".tsv", ".jsonl"):
        lines = text.splitlines(keepends=True)
        header = [] if path.suffix == ".jsonl" else [lines.pop(0)]
        yield from [*header, *islice(cycle(lines), rows)]
    elif path.suffix == ".xml":
        start, end = text.index("<testcase"), text.rindex("</testcase>") + len("</testcase>")
        cases = text[start:end]
        yield from [text[:start], *[cases + "\n"] * (rows // cases.count("<testcase")), text[end:]]
    else:
        found = json.loads(text)
        where = found
        for key in {"promptfoo": ["results", "results"], "inspect": ["samples"]}.get(path.stem, []):
            where = where[key]
        items, where[:] = list(where), ["HERE"]
        indent = None if text.startswith("[") else 2
        before, after = json.dumps(found, indent=indent).split('"HERE"')
        margin = "\n" + before.rpartition("\n")[2] if indent else "\n"
        laid_out = [json.dumps(item, indent=indent).replace("\n", margin) for item in items]
        yield before
        for number, item in enumerate(islice(cycle(laid_out), rows)):
            yield ("," + margin if number else "") + item
        yield after


def main() -> None:
    """Print a row of the table for each file: rows of the tool, size, results, processor time, peak memory."""
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print("| file | rows | MB | results | seconds | MB of memory |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(FILES.rglob("*.*")):
            if path.suffix == ".eval" or path.stem == "bob":
                continue
            made = Path(folder) / path.name
            with made.open("w", encoding="utf-8") as file:
                file.writelines(repeated(path, rows))
            size = made.stat().st_size / 1e6
            command = [sys.executable, "-c", READ, str(made), POSITIVE.get(path.stem, "")]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            results, seconds, memory = done.stdout.split()
            found = f"{size:,.0f} | {int(results):,} | {float(seconds):.1f} | {float(memory):.0f}"
            print(f"| {path.name} | {rows:,} | {found} |", flush=True)
            made.unlink()


if __name__ == "__main__":
    main()
