"""What contributors are told is there: the targets, the files and the Pythons that are named."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOLD = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
WORKFLOW = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")


def targets() -> set[str]:
    """The targets that the Makefile offers."""
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    return set(phony[1].split())


def test_every_target_that_is_named_is_in_the_makefile() -> None:
    named = set(re.findall(r"(?:^|`)make (\w+)", TOLD, re.MULTILINE))
    assert named >= {"quick", "test", "check", "bench"}
    assert named <= targets()


def test_every_file_that_is_named_is_there() -> None:
    named = set(re.findall(r"[`(]([\w./-]+(?:/|\.(?:py|md|toml|txt|cff)))[`)]", TOLD))
    assert len(named) > 20
    assert {path for path in named if not (ROOT / path).exists()} == set()


def test_a_commit_is_checked_by_what_make_check_runs() -> None:
    hooks = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    assert re.findall(r"entry: (.*)", hooks) == ["make --silent check"]
    assert "check" in targets()


def test_the_workflow_runs_every_python_that_the_package_names_and_the_lowest_with_the_lowest_versions() -> None:
    named = [text.rpartition(" ")[2] for text in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", text)]
    assert sorted(set(re.findall(r'"(3\.\d+)"', WORKFLOW))) == named
    assert PROJECT["requires-python"] == f">={named[0]}"
    assert f'{{ python: "{named[0]}", resolution: lowest-direct }}' in WORKFLOW
