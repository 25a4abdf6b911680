"""Policies of installed packages: found by their entry points, and in nobody's way where they are broken."""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import cutline
from cutline import InvalidInputError, NotFoundError, Problem, parse, policies, simulate
from cutline.policies import available, unusable
from surroundings import PATIENCE

WHOLE = '''
"""A policy of a user."""

import math
from dataclasses import dataclass

import weights_of_a_user as weights
from cutline.policies import Policy, check_parameter, excess, settle


def mine_index(pulls, total, threshold, power):
    """Return |S - theta T| T^power."""
    return settle(weights.FACTOR * abs(excess(pulls, total, threshold)) + power * math.log(pulls))


@dataclass(frozen=True)
class Mine(Policy):
    """Source: a user."""

    name = "Mine-Own"
    formula = "|S - theta T| + power ln T"
    source = "a user"

    power: float = 0.25

    index = staticmethod(mine_index)

    def __post_init__(self):
        check_parameter(self, "power", lambda value: 0 <= value <= 1e6, "a number from 0 to 1e6")
'''

Install = Callable[..., None]


def write_package(folder: Path, source: str, name: str = "mine", target: str = "Mine") -> None:
    """Lay down a package of one module as an installer does: its file, and what it declares."""
    module = f"{name}_of_a_user"
    (folder / f"{module}.py").write_text(source, encoding="utf-8")
    (folder / "weights_of_a_user.py").write_text("FACTOR = 1.0\n", encoding="utf-8")
    declared = folder / f"{name}-1.2.dist-info"
    declared.mkdir()
    (declared / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.2\n", encoding="utf-8")
    (declared / "entry_points.txt").write_text(f"[cutline.policies]\nMine-Own = {module}:{target}\n", encoding="utf-8")


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Install packages for this process, as long as the test runs."""
    monkeypatch.syspath_prepend(tmp_path)
    policies._from_packages.cache_clear()

    def lay_down(*arguments: str) -> None:
        write_package(tmp_path, *arguments)
        importlib.invalidate_caches()  # else a folder that changes twice in one tick of the clock looks as before

    yield lay_down
    policies._from_packages.cache_clear()
    for module in [name for name in sys.modules if name.endswith("_of_a_user")]:
        del sys.modules[module]


def test_a_policy_of_an_installed_package_is_one_of_the_policies(install: Install) -> None:
    before = available()
    policies._from_packages.cache_clear()
    install(WHOLE)
    mine: Any
    (mine,) = set(available()) - set(before)
    assert unusable() == ()
    assert mine.name == "Mine-Own"
    assert [item for item in available() if item is not mine] == list(before)
    assert parse("mine_own(power=2)") == mine(2)
    assert str(parse("Mine-Own")) == "Mine-Own(0.25)"


BROKEN = [
    (
        "import nothing_like_it",
        "Mine",
        "loading it fails with ModuleNotFoundError: No module named 'nothing_like_it'; ",
    ),
    ("class Mine(", "Mine", "loading it fails with SyntaxError: '(' was never closed (mine_of_a_user.py, line 1); "),
    ("raise SystemExit(3)", "Mine", "loading it fails with SystemExit: 3; it must name a class as 'module:Class'"),
    ("raise ValueError('two\\nlines')", "Mine", "loading it fails with ValueError: two lines; "),
    (WHOLE, "Yours", "loading it fails with AttributeError: module 'mine_of_a_user' has no attribute 'Yours'; "),
    (WHOLE, "mine_index", "it is no class derived from cutline.Policy; it must be one"),
    (WHOLE, "Policy", "it is no class derived from cutline.Policy; it must be one"),
    (WHOLE.replace("@dataclass(frozen=True)\n", ""), "Mine", "Mine is no dataclass; write @dataclass(frozen=True) abo"),
    (WHOLE.replace("    source = ", "    paper = "), "Mine", "Mine.source is None; it must be one line of text"),
    (
        WHOLE.replace('"Mine-Own"', '"7 (seven)"'),
        "Mine",
        "its name is '7 (seven)'; it must be a letter, then letters, ",
    ),
    (WHOLE.replace(" = 0.25", ""), "Mine", "the field power of Mine has no number as its default; it must have one"),
    (
        WHOLE.replace(" = 0.25", " = -1.0"),
        "Mine",
        "Mine() fails with InvalidInputError: Mine-Own: power is -1.0; it mu",
    ),
    (
        WHOLE.replace("    index = ", "    indices = "),
        "Mine",
        "Mine has no index; write index = staticmethod(a function of pulls, total, threshold, power)",
    ),
    (
        WHOLE.replace("staticmethod(mine_index)", "mine_index"),
        "Mine",
        "Mine.index is no static method; write index = staticmethod(a function of pulls, total, threshold, power)",
    ),
    (
        WHOLE.replace("def mine_index(pulls, total, threshold, power)", "def mine_index(pulls, total, power)"),
        "Mine",
        "its index takes (pulls, total, power); write index = staticmethod(a function of pulls, total, threshold, ",
    ),
    (
        WHOLE.replace("threshold, power)", "threshold, *power)"),
        "Mine",
        "its index takes (pulls, total, threshold, *power); write index = staticmethod(a function of pulls, ",
    ),
    (
        WHOLE.replace("threshold, power)", "threshold, power, a, b, c)").replace(
            "power: float = 0.25", "power: float = 0.25\n    a: float = 0\n    b: float = 0\n    c: float = 0"
        ),
        "Mine",
        "its index takes 4 parameters; it may take 3 at most",
    ),
    (
        WHOLE.replace('"Mine-Own"', '"Opt_KG"'),
        "Mine",
        "its name Opt_KG is also that of a policy of Cutline itself; rename it, or uninstall one of them",
    ),
]


@pytest.mark.parametrize(("source", "target", "fault"), BROKEN)
def test_a_broken_policy_is_one_line_and_the_others_work(
    install: Install, source: str, target: str, fault: str
) -> None:
    before = available()
    policies._from_packages.cache_clear()
    install(source, "mine", target)
    assert available() == before
    (line,) = unusable()
    begins = f"the policy Mine-Own = 'mine_of_a_user:{target}' of the package mine 1.2 cannot be used: {fault}"
    assert line.startswith(begins), line
    assert "\n" not in line
    with pytest.raises(NotFoundError) as caught:
        parse("Mine-Own")
    assert str(caught.value).endswith(f"; {line}")
    assert str(parse("Opt-KG")) == "Opt-KG(1,1)"


@pytest.mark.compile
def test_an_index_that_cannot_be_compiled_is_one_line(install: Install) -> None:
    install(
        WHOLE.replace("import weights_of_a_user as weights", "WEIGHTS = {'FACTOR': 1.0}").replace(
            "weights.", "WEIGHTS."
        )
    )
    with pytest.raises(InvalidInputError) as caught:
        simulate(Problem([0.2, 0.7]), "Mine-Own", 9, runs=2)
    assert re.fullmatch(
        r"Mine-Own\(0\.25\) cannot be compiled: Untyped global name 'WEIGHTS'.* in File "
        r"\".*mine_of_a_user.py\", line 13; it may use numbers, math, and plain functions that do so, too",
        str(caught.value),
    )


def test_of_two_packages_with_one_name_neither_is_used_and_each_is_told_of_the_other(install: Install) -> None:
    install(WHOLE)
    install(WHOLE, "other")
    assert [item.name for item in available() if item.name == "Mine-Own"] == []
    assert [line.partition("cannot be used: ")[2] for line in unusable()] == [
        f"its name Mine-Own is also that of a policy of {other} 1.2; rename it, or uninstall one of them"
        for other in ("other", "mine")
    ]


def cutline_with(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run the command line with the packages in a folder."""
    settings = {**os.environ, "PYTHONPATH": str(folder)}
    command = [sys.executable, "-m", "cutline", *arguments]
    return subprocess.run(command, env=settings, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.process
def test_the_command_line_names_a_broken_policy_beside_those_that_work(tmp_path: Path) -> None:
    write_package(tmp_path, "import nothing_like_it")
    listed = cutline_with(tmp_path, "policies")
    line = (
        "cutline: the policy Mine-Own = 'mine_of_a_user:Mine' of the package mine 1.2 cannot be used: loading it fails "
        "with ModuleNotFoundError: No module named 'nothing_like_it'; it must name a class as 'module:Class'\n"
    )
    assert (listed.returncode, listed.stderr) == (1, line)
    assert listed.stdout.startswith("LSA(alpha=1.35)\n")


PROGRAM = """
import importlib
import json
from cutline import Problem, parse, simulate
from cutline.simulation.stepping import stepping_kernel
mine = parse("Mine-Own")
curves = simulate(Problem([0.3, 0.45, 0.6]), mine, [60, 90], runs=50, seed=3)
stats = stepping_kernel(type(mine)).stats
print(json.dumps([curves.errors.tolist(), sum(stats.cache_hits.values())]))
"""


@pytest.mark.compile
def test_kernels_of_a_policy_from_elsewhere_are_cached_until_what_its_index_reaches_changes(tmp_path: Path) -> None:
    write_package(tmp_path, WHOLE)

    def play() -> tuple[list[list[int]], int]:
        settings = {**os.environ, "PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "-B", "-c", PROGRAM]
        done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=PATIENCE, check=True)
        errors, hits = json.loads(done.stdout)
        return errors, hits

    first, loaded = play(), play()
    assert (first[1], loaded[1]) == (0, 1)
    assert loaded[0] == first[0]
    (tmp_path / "weights_of_a_user.py").write_text("FACTOR = 0.0\n", encoding="utf-8")
    changed = play()
    assert changed[1] == 0
    assert changed[0] != first[0]


@pytest.mark.process
def test_a_policy_is_also_found_by_its_file_among_those_of_cutline(tmp_path: Path) -> None:
    shutil.copytree(Path(cutline.__file__).parent, tmp_path / "cutline", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "cutline" / "policies" / "mine.py").write_text(WHOLE, encoding="utf-8")
    (tmp_path / "weights_of_a_user.py").write_text("FACTOR = 1.0\n", encoding="utf-8")
    listed = cutline_with(tmp_path, "policies")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert "\nMine-Own(power=0.25)\n    pulls the arm with the smallest  |S - theta T| + power ln T\n" in listed.stdout
