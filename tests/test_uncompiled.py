"""The kernel tests once more with NUMBA_DISABLE_JIT=1, where bounds and overflows are Python's."""

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from surroundings import PATIENCE

pytestmark = pytest.mark.process

TESTS = Path(__file__).parent


def pytest_on_kernels(*options: str, **environment: str) -> str:
    command = [sys.executable, "-m", "pytest", "-m", "kernel", "-p", "no:cacheprovider", "-q", *options]
    result = subprocess.run(
        [*command, str(TESTS / "simulation"), str(TESTS / "policies")],
        cwd=TESTS.parent,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.long
def test_every_kernel_test_passes_uncompiled_and_none_is_skipped(tmp_path: Path) -> None:
    listed = [line for line in pytest_on_kernels("--collect-only").splitlines() if "::" in line]
    pytest_on_kernels(f"--junitxml={tmp_path / 'report.xml'}", NUMBA_DISABLE_JIT="1")
    suite = ElementTree.parse(tmp_path / "report.xml").getroot().find("testsuite")
    assert suite is not None
    counts = {name: int(suite.attrib[name]) for name in ("tests", "errors", "failures", "skipped")}
    assert counts == {"tests": len(listed), "errors": 0, "failures": 0, "skipped": 0}
    files = {line.split("::")[0].rpartition("/")[2] for line in listed}
    assert files >= {"test_rewards.py", "test_stepping.py", "test_contract.py"}


def test_kernels_are_plain_functions_there() -> None:
    program = "import types; from cutline import LSA; from cutline.simulation.stepping import stepping_kernel as make; "
    program += "print(isinstance(make(LSA), types.FunctionType))"
    for off, plain in (("1", "True"), ("0", "False")):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": off}
        out = subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        assert out.stdout.strip() == plain
