"""The example for promptfoo: what it calls promptfoo with, and what it reports of the results."""

import json
import shutil
import stat
import sys
from pathlib import Path

import pytest

from cutline.campaign import BatchCommand, Campaign
from cutline.errors import MeasurementError

pytestmark = pytest.mark.process

EXAMPLE = Path(__file__).parents[2] / "examples" / "promptfoo"
STUB = f"""#!{sys.executable} -S
import json, re, sys
given = sys.argv[1:]
with open("calls", "a") as file:
    file.write(json.dumps(given) + "\\n")
options = dict(zip(given, given[1:]))
labels = [line.strip() for line in open("prompts.txt")]
chosen = [label for label in labels if re.search(options["--filter-prompts"], label)]
results = [{{"prompt": {{"label": label}}, "success": label == "one word", "error": "busy"}} for label in chosen]
for result, label in zip(results, chosen):
    result["failureReason"] = 2 if label == "order" else 1
if len(chosen) > 3:
    sys.exit("cannot read promptfooconfig.yaml")
json.dump({{"results": {{"results": results}}}}, open(options["--output"], "w"))
sys.exit(100)
"""
"""Stands for promptfoo: one prompt passes, another has an error, and it ends with 100, as it does where one fails."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLE, tmp_path, dirs_exist_ok=True)
    stub = tmp_path / "promptfoo"
    stub.write_text(STUB, encoding="utf-8")
    stub.chmod(stub.stat().st_mode | stat.S_IXUSR)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


def test_each_prompt_of_a_batch_is_measured_on_one_test_and_what_could_not_be_asked_counts_for_nothing() -> None:
    command = BatchCommand([sys.executable, "measure.py", "{report}", "{arms}"], report="jsonl")
    prompts = Path("prompts.txt").read_text(encoding="utf-8").splitlines()
    with Campaign.create(None, "prompts", prompts, 0.8, "LSA", 6) as campaign:
        report = campaign.run_batches(command, 3, on_crash="abandon")
        means = {item.arm: item.mean for item in campaign.decisions()}
    assert means == {"terse": 0.0, "question": 0.0, "order": None, "one word": 1.0}
    assert report.told == 6
    calls = [json.loads(line) for line in Path("calls").read_text(encoding="utf-8").splitlines()]
    assert {tuple(call[-4:-2]) for call in calls} == {("--filter-sample", "1")}
    assert all(call[call.index("--filter-prompts") + 1].startswith("^(") for call in calls)


def test_a_batch_of_which_promptfoo_writes_nothing_is_halved_and_an_error_ends_the_run() -> None:
    command = BatchCommand([sys.executable, "measure.py", "{report}", "{arms}"], report="jsonl", crash_exits=[1])
    prompts = Path("prompts.txt").read_text(encoding="utf-8").splitlines()
    with (
        Campaign.create(None, "prompts", [*prompts[:3], "one word"], 0.8, "LSA", 4) as campaign,
        pytest.raises(MeasurementError, match=r"^arm 'order': busy$"),
    ):
        campaign.run_batches(command, 4)
