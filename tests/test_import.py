"""Importing cutline costs nothing until something is used."""

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import cutline
from cutline import errors
from cutline.cli import cutline as command_line
from cutline.defaults import POLICY


def packages_after(program: str) -> set[str]:
    """The packages from elsewhere that Python has loaded after a program: neither its own nor those it starts with."""
    code = f"import sys\n{program}\nprint(*sorted(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return set(done.stdout.split()) - sys.stdlib_module_names - {"__main__"}


@pytest.fixture(scope="module")
def at_start() -> set[str]:
    """What Python loads without any program."""
    return packages_after("")


@pytest.mark.process
def test_importing_cutline_imports_no_other_package_and_not_even_numpy(at_start: set[str]) -> None:
    assert packages_after("import cutline; cutline.__version__; dir(cutline)") - at_start == {"cutline"}


@pytest.mark.process
def test_naming_a_policy_of_the_papers_formula_imports_not_even_numpy(at_start: set[str]) -> None:
    assert packages_after("from cutline import parse; str(parse('LSA'))") - at_start == {"cutline"}


@pytest.mark.process
def test_naming_policies_and_problems_imports_numpy_and_no_compiler(at_start: set[str]) -> None:
    program = "from cutline import Problem, parse; parse('Gap-Oracle'); Problem([0.2, 0.7]).hardness"
    assert packages_after(program) - at_start == {"cutline", "numpy"}


@pytest.mark.process
def test_the_check_would_notice_the_compiler() -> None:
    assert {"numba", "llvmlite"} <= packages_after("from cutline import simulate")


def modules_after(arguments: list[str], where: Path) -> set[str]:
    """The modules that Python has loaded at the end of a command of the command line, which must succeed."""
    code = (
        "import atexit, os, sys\n"
        "from cutline.__main__ import main\n"
        "atexit.register(lambda: print(*sys.modules, file=open('modules.txt', 'w')))\n"
        f"sys.argv = ['cutline', *{arguments!r}]\n"
        "main()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=where)
    return set((where / "modules.txt").read_text(encoding="utf-8").split())


@pytest.mark.process
def test_naming_the_policy_of_a_new_campaign_imports_not_even_numpy(at_start: set[str]) -> None:
    program = "from cutline.defaults import POLICY; from cutline import parse; parse(POLICY).index(3.0, 1.0, 0.5)"
    assert packages_after(program) - at_start == {"cutline"}


@pytest.mark.process
def test_help_loads_the_command_line_and_nothing_else(tmp_path: Path, at_start: set[str]) -> None:
    loaded = {name.partition(".")[0] for name in modules_after(["--help"], tmp_path)} - at_start
    assert loaded - sys.stdlib_module_names - {"__main__"} == {"click", "cutline"}


@pytest.mark.process
@pytest.mark.parametrize("command", ["ask", "status"])
def test_a_campaign_loads_neither_arrays_nor_migrations_nor_the_dialect_of_another_database_nor_other_rooms(
    command: str, tmp_path: Path
) -> None:
    with cutline.Campaign.create(tmp_path / "labels.db", "main", ["a", "b"], 0.5, POLICY, 10):
        pass
    loaded = modules_after(["campaign", command, "--db", "labels.db"], tmp_path)
    assert "sqlalchemy.dialects.sqlite" in loaded
    heavy = {"alembic", "numpy", "scipy", "numba", "rich", "psutil", "sqlalchemy.dialects.postgresql"}
    assert not heavy & loaded
    rooms = {"cutline.planning", "cutline.simulation", "cutline.server", "cutline.campaign.running"}
    assert not (rooms | {"sqlalchemy.orm", "tenacity", "urllib3"}) & loaded


@pytest.mark.process
def test_a_command_is_not_held_up_by_searches_for_garbage_while_it_loads_or_ends(tmp_path: Path) -> None:
    """With Python's own threshold there are some hundred, and more at its end, each through all objects."""
    with cutline.Campaign.create(tmp_path / "labels.db", "main", ["a", "b"], 0.5, "LSA", 10):
        pass
    code = (
        "import atexit, gc, os, sys\n"
        "from cutline.__main__ import main\n"
        "said = lambda: (gc.get_stats()[0]['collections'], gc.get_freeze_count(), len(gc.get_objects()))\n"
        "atexit.register(lambda: print(*said(), file=open('searches.txt', 'w')))\n"
        "sys.argv = ['cutline', 'campaign', 'ask', '--db', 'labels.db']\n"
        "main()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=tmp_path)
    searches, passed_over, looked_at = map(int, (tmp_path / "searches.txt").read_text(encoding="utf-8").split())
    assert searches < 20
    assert passed_over > 100 * looked_at


@pytest.mark.process
def test_a_first_simulation_loads_what_runs_kernels_and_not_what_compiles_them(tmp_path: Path) -> None:
    simulation = ["simulate", "--means", "0.2,0.7", "--budgets", "10", "--runs", "2", "--policy", "Uniform"]
    modules_after(simulation, tmp_path)  # compiles them, where nobody has
    loaded = modules_after(simulation, tmp_path)
    assert "numba" in loaded
    heavy = {"scipy.special", "scipy.linalg", "numba.np.arraymath", "rich", "asyncio", "psutil", "sqlalchemy"}
    assert not heavy & loaded
    assert "cutline.simulation.ranking.by_rank" not in loaded


@pytest.mark.process
def test_a_computed_plan_loads_what_runs_kernels_and_no_special_functions(tmp_path: Path) -> None:
    planning = ["plan", "--prior", "2,2", "--arms", "1000", "--errors", "200"]
    modules_after(planning, tmp_path)
    loaded = modules_after(planning, tmp_path)
    assert "numba" in loaded
    assert not {"scipy.special", "scipy.linalg", "numba.np.arraymath", "rich", "asyncio", "sqlalchemy"} & loaded
    assert not {"cutline.simulation.engines", "cutline.planning.simulator"} & loaded


@pytest.mark.parametrize("name", cutline.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(cutline, name).__name__ == name
    assert name in dir(cutline)


def test_the_version_is_what_a_citation_names_and_the_command_line_prints() -> None:
    citation = (Path(__file__).parents[1] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {cutline.__version__}\n" in citation
    printed = CliRunner().invoke(command_line, ["--version"], prog_name="cutline")
    assert printed.output == f"cutline, version {cutline.__version__}\n"


def test_every_error_that_it_raises_can_be_caught_by_a_name_of_the_package() -> None:
    raised = {error for error in vars(errors).values() if isinstance(error, type)}
    assert raised == {item for name in cutline.__all__ if name.endswith("Error") for item in [getattr(cutline, name)]}


def test_a_name_that_is_not_there_is_said_to_be_missing() -> None:
    with pytest.raises(AttributeError, match="module 'cutline' has no attribute 'LSE'"):
        _ = cutline.LSE
