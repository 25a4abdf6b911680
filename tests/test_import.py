"""Importing cutline costs nothing until something is used."""

import subprocess
import sys

import pytest

import cutline
from cutline import errors

HEAVY = ("numba", "scipy", "matplotlib", "sqlalchemy", "rich", "fastapi", "distributed", "pandas")


def modules_after(program: str) -> set[str]:
    code = f"import sys\n{program}\nprint(*sorted(name.partition('.')[0] for name in sys.modules))"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_importing_cutline_imports_nothing_heavy_and_not_even_numpy() -> None:
    loaded = modules_after("import cutline; cutline.__version__; dir(cutline)")
    assert "cutline" in loaded
    assert not loaded & {*HEAVY, "numpy"}


def test_naming_policies_and_problems_does_not_import_the_compiler() -> None:
    loaded = modules_after("from cutline import Problem, parse; parse('LSA'); Problem([0.2, 0.7]).hardness")
    assert not loaded & set(HEAVY)


def test_the_check_would_notice_the_compiler() -> None:
    assert "numba" in modules_after("from cutline import simulate")


@pytest.mark.parametrize("name", cutline.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(cutline, name).__name__ == name
    assert name in dir(cutline)


def test_every_error_that_it_raises_can_be_caught_by_a_name_of_the_package() -> None:
    raised = {error for error in vars(errors).values() if isinstance(error, type)}
    assert raised == {item for name in cutline.__all__ if name.endswith("Error") for item in [getattr(cutline, name)]}


def test_a_name_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="module 'cutline' has no attribute 'LSE'"):
        _ = cutline.LSE
