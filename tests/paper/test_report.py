"""The whole paper in a folder: which files, what they hold, and what an interruption leaves."""

import csv
import hashlib
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from cutline.errors import InvalidInputError
from cutline.paper import report
from cutline.paper.report import make_paper
from cutline.paper.setups import ALPHAS, COMPETITORS, OURS, SETUPS, yardsticks
from cutline.simulation.simulate import simulate

FIGURES_1_3 = ["figure-1.png", "figure-1.svg", "figure-3.png", "figure-3.svg"]
SETUP_1 = ["curves-alpha.csv", "curves-setup-1.csv", *FIGURES_1_3, "manifest.json", "table.csv", "table.md"]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def setup_1(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Setup 1 with 12 runs: the folder and the summary."""
    out = tmp_path_factory.mktemp("paper") / "results"
    return out, make_paper(out, setups=[1], runs=12, seed=5, executor=1, progress=False)


@pytest.mark.slow
def test_one_setup_makes_its_own_files_and_no_others(setup_1: tuple[Path, str], tmp_path: Path) -> None:
    out, text = setup_1
    assert names(out) == SETUP_1
    assert "Setup 1: arithmetic progression I. LSA is lowest at " in text
    assert "of 10 cells agree with the paper's table" in text
    make_paper(tmp_path, setups=[4], runs=3, progress=False)
    assert names(tmp_path) == ["curves-setup-4.csv", "figure-2.png", "figure-2.svg", "manifest.json"]


def test_the_curves_are_those_of_simulate_with_independent_streams(setup_1: tuple[Path, str]) -> None:
    policies = (OURS, *COMPETITORS, *yardsticks())
    expected = simulate(
        SETUPS[1].problem, policies, range(50, 1001, 50), runs=12, seed=5, streams="independent", progress=False
    )
    assert (setup_1[0] / "curves-setup-1.csv").read_text() == expected.to_csv()
    with open(setup_1[0] / "curves-alpha.csv") as file:
        assert {row["policy"] for row in csv.DictReader(file)} == {str(policy) for policy in ALPHAS}


def test_the_manifest_has_versions_settings_and_the_hash_of_every_other_file(setup_1: tuple[Path, str]) -> None:
    out = setup_1[0]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["repeat"] == "cutline paper --setups 1 --runs 12 --seed 5"
    assert set(manifest["versions"]) == {"python", "cutline", "numpy", "numba", "matplotlib"}
    assert (manifest["runs"], manifest["seed"], manifest["streams"]) == (12, 5, "independent")
    assert manifest["policies"][:2] == ["LSA(1.35)", "APT(0)"]
    assert manifest["setups"][0]["means"] == [0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8]
    assert manifest["setups"][0]["budgets"] == list(range(50, 1001, 50))
    assert sorted(manifest["files"]) == [name for name in SETUP_1 if name != "manifest.json"]
    for name, entry in manifest["files"].items():
        content = (out / name).read_bytes()
        assert entry == {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}


def test_the_same_arguments_give_the_same_bytes_on_any_executor(setup_1: tuple[Path, str], tmp_path: Path) -> None:
    with ThreadPoolExecutor(3) as executor:
        text = make_paper(tmp_path, setups=[1], runs=12, seed=5, executor=executor, progress=False)
    assert text == setup_1[1]
    assert contents(tmp_path) == contents(setup_1[0])


def test_beyond_adds_what_came_after_the_paper_and_changes_nothing_else(
    setup_1: tuple[Path, str], tmp_path: Path
) -> None:
    text = make_paper(tmp_path, setups=[1], runs=12, seed=5, beyond=True, executor=1, progress=False)
    assert names(tmp_path) == SETUP_1

    def rows(folder: Path, name: str) -> list[dict[str, str]]:
        with open(folder / name) as file:
            return list(csv.DictReader(file))

    added = ["Lai", "KL-LSA(1.35)", "FWT"]
    for name, column in (("curves-setup-1.csv", "policy"), ("table.csv", "policy")):
        with_them, without = rows(tmp_path, name), rows(setup_1[0], name)
        assert [row for row in with_them if row[column] not in added] == without
        assert [name for name in dict.fromkeys(row[column] for row in with_them) if name in added] == added
    last = [row for row in rows(tmp_path, "table.csv") if row["policy"] in added]
    assert [(row["p_paper"], row["z_paper"], row["agrees"]) for row in last] == [("", "", "")] * 3
    assert "| 1 | 1,000 | Lai | " in (tmp_path / "table.md").read_text()
    assert "FWT" in (tmp_path / "figure-1.svg").read_text()
    regrets = ", ".join(f"{row['policy']} {float(row['regret']):.4f}" for row in last)
    lines = [line for line in text.splitlines() if not line.startswith("    Past the paper")]
    assert f"    Past the paper, at T = 1,000: {regrets}." in text.splitlines()
    assert lines == setup_1[1].splitlines()
    assert json.loads((tmp_path / "manifest.json").read_text())["repeat"].endswith(" --seed 5 --beyond")


def test_a_single_run_gives_figures_and_no_table(tmp_path: Path) -> None:
    text = make_paper(tmp_path, setups=[1], runs=1, progress=False)
    assert names(tmp_path) == [name for name in SETUP_1 if not name.startswith("table")]
    assert "one run: too few for a test" in text


@pytest.mark.slow
def test_one_bar_counts_every_pull_of_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bars: list[list[int]] = []

    @contextmanager
    def counted(title: str, total: int, progress: Any) -> Iterator[Any]:
        bars.append([total, 0])

        def advance(amount: int) -> None:
            bars[-1][1] += amount

        yield advance

    monkeypatch.setattr(report, "progress_bar", counted)
    make_paper(tmp_path, setups=[1, 4], runs=2)
    anytime = 8 + len(yardsticks())  # each plays its largest budget once; the three UCBE play each of 20 budgets
    expected = 2 * (anytime * 3000 + 3 * (10_500 + 21_000) + 5 * 1000)
    assert bars == [[expected, expected]]


def test_an_interruption_leaves_what_was_finished_whole_and_no_manifest(tmp_path: Path) -> None:
    make_paper(tmp_path, setups=[4], runs=2, progress=False)
    done = 0

    def interrupted(amount: int) -> None:
        nonlocal done
        done += amount
        if done > 2 * (10 * 1000 + 3 * 10_500 + 20_000):  # Setup 1 is through, Setup 4 is not
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_paper(tmp_path, setups=[1, 4], runs=2, seed=9, progress=interrupted)
    assert names(tmp_path) == sorted(
        [
            *("curves-setup-1.csv", "figure-1.png", "figure-1.svg", "table.csv", "table.md"),
            *("curves-setup-4.csv", "figure-2.png", "figure-2.svg"),
        ]
    )
    with open(tmp_path / "curves-setup-1.csv") as file:
        assert len(list(csv.DictReader(file))) == 20 * (11 + len(yardsticks()))
    assert (tmp_path / "figure-1.svg").read_text().endswith("</svg>\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"runs": 0}, "runs is 0; it must be a whole number from 1"),
        ({"setups": [7]}, "no setup 7"),
        ({"seed": -1}, "seed is -1"),
        ({"executor": 0}, "jobs is 0"),
    ],
)
def test_what_is_out_of_range_is_refused_and_nothing_is_written(
    tmp_path: Path, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        make_paper(tmp_path / "out", progress=False, **arguments)
    assert names(tmp_path) == []


def test_a_folder_that_cannot_be_written_is_refused_before_anything_is_simulated(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")

    def never(amount: int) -> None:
        raise AssertionError("it simulated")

    with pytest.raises(InvalidInputError, match=r"cannot write .*below/figure-1.svg: Not a directory"):
        make_paper(tmp_path / "file" / "below", runs=1, progress=never)
    assert (tmp_path / "file").read_text() == "kept"
