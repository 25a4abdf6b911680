"""Measures prompts once each by promptfoo, on one of the tests drawn at random: measure.py REPORT PROMPT ..."""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ERROR = 2
"""The failureReason of a result that is none: the model could not be asked."""

report, *prompts = sys.argv[1:]
pattern = "^(" + "|".join(map(re.escape, prompts)) + ")$"
with tempfile.TemporaryDirectory() as folder:
    output = Path(folder) / "results.json"
    command = ["promptfoo", "eval", "--no-cache", "--no-write", "--no-table", "--no-progress-bar"]
    command += ["--filter-prompts", pattern, "--filter-sample", "1", "--output", str(output)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    if not output.exists():
        sys.exit(done.returncode or 1)
    results = json.loads(output.read_text(encoding="utf-8"))["results"]["results"]
with open(report, "w", encoding="utf-8") as file:
    for result in results:
        row = {"arm": result["prompt"]["label"]}
        row |= {"error": result["error"]} if result["failureReason"] == ERROR else {"reward": int(result["success"])}
        file.write(json.dumps(row) + "\n")
