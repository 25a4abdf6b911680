"""RegretCurves: means and errors by hand, the table, the file."""

import csv
import io
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cutline import APT, LSA, InvalidInputError, NotFoundError, Problem, RegretCurves
from cutline.simulation.curves import COLUMNS, versions


def curves(runs: int = 4) -> RegretCurves:
    errors = np.array([[[0, 1, 2, 1], [0, 0, 1, 0]], [[2, 2, 3, 2], [1, 0, 2, 1]]], np.int32)[:, :, :runs]
    pulls = np.array([[[3.5, 6.5], [9.0, 11.0]], [[5.0, 5.0], [10.0, 10.0]]])
    return RegretCurves(
        Problem([0.4, 0.7], 0.55), ("LSA(1.35)", "APT(0.05)"), np.array([10, 20]), errors, pulls, 9, "common"
    )


def test_the_mean_and_its_standard_error_are_those_of_the_runs() -> None:
    assert curves().runs == 4
    assert curves().mean.tolist() == [[1.0, 0.25], [2.25, 1.0]]
    want = [[stats.sem([0, 1, 2, 1]), stats.sem([0, 0, 1, 0])], [stats.sem([2, 2, 3, 2]), stats.sem([1, 0, 2, 1])]]
    np.testing.assert_allclose(curves().standard_error, want, rtol=1e-12)


def test_a_single_run_has_a_mean_and_no_standard_error() -> None:
    single = curves(1)
    assert single.mean.tolist() == [[0.0, 0.0], [2.0, 1.0]]
    assert np.isnan(single.standard_error).all()
    assert single.standard_error.shape == (2, 2)


def test_the_probability_of_any_error_is_the_share_of_runs_with_one() -> None:
    assert curves().any_error.tolist() == [[0.75, 0.25], [1.0, 0.75]]
    want = [[stats.sem([0, 1, 1, 1]), stats.sem([0, 0, 1, 0])], [0.0, stats.sem([1, 0, 1, 1])]]
    np.testing.assert_allclose(curves().any_error_standard_error, want, rtol=1e-12)
    assert np.isnan(curves(1).any_error_standard_error).all()


@pytest.mark.parametrize(("policy", "row"), [("LSA(1.35)", 0), ("lsa", 0), (LSA(), 0), ("APT(.05)", 1), (APT(0.05), 1)])
def test_a_policy_is_found_however_it_is_named(policy: str, row: int) -> None:
    assert curves().row(policy) == row


def test_a_budget_is_found_and_the_last_is_meant_if_none_is_given() -> None:
    assert [curves().column(budget) for budget in (10, 20, None)] == [0, 1, 1]


def test_what_is_not_there_is_answered_with_what_is() -> None:
    with pytest.raises(NotFoundError) as caught:
        curves().row("Uniform")
    assert str(caught.value) == "no policy Uniform in these curves; there are LSA(1.35), APT(0.05)"
    with pytest.raises(NotFoundError) as caught:
        curves().column(15)
    assert str(caught.value) == "no budget 15 in these curves; there are 10, 20"
    with pytest.raises(NotFoundError) as caught:
        curves().row("Nearest")
    assert str(caught.value) == "no policy Nearest in these curves; there are LSA(1.35), APT(0.05)"


def test_two_policies_are_compared_run_by_run() -> None:
    want = stats.ttest_rel([2, 2, 3, 2], [0, 1, 2, 1])
    got = curves().compare("APT(0.05)", LSA(), 10)
    assert got.t == pytest.approx(want.statistic)
    assert got.p == pytest.approx(want.pvalue)
    assert got.difference == 1.25
    assert curves().compare("APT(0.05)", "LSA").difference == 0.75


def test_one_run_cannot_be_compared() -> None:
    with pytest.raises(InvalidInputError) as caught:
        curves(1).compare("LSA", "APT(0.05)")
    assert str(caught.value) == "a t-test needs at least 2 runs; these curves have 1"


def test_rows_are_policies_times_budgets_in_order() -> None:
    rows = curves().rows()
    assert [(row["policy"], row["budget"], row["runs"], row["mean_errors"]) for row in rows] == [
        ("LSA(1.35)", 10, 4, 1.0),
        ("LSA(1.35)", 20, 4, 0.25),
        ("APT(0.05)", 10, 4, 2.25),
        ("APT(0.05)", 20, 4, 1.0),
    ]
    assert all(tuple(row) == COLUMNS == ("policy", "budget", "runs", "mean_errors", "standard_error") for row in rows)


def test_csv_holds_the_rows_with_all_their_digits(tmp_path: Path) -> None:
    text = curves().to_csv(tmp_path / "new" / "curves.csv")
    assert (tmp_path / "new" / "curves.csv").read_bytes() == text.encode()
    assert text.splitlines()[0] == "policy,budget,runs,mean_errors,standard_error"
    assert "\r" not in text
    read = list(csv.DictReader(io.StringIO(text)))
    assert [row["policy"] for row in read] == ["LSA(1.35)", "LSA(1.35)", "APT(0.05)", "APT(0.05)"]
    assert [float(row["standard_error"]) for row in read] == curves().standard_error.ravel().tolist()
    file = io.StringIO()
    assert curves().to_csv(file) == file.getvalue() == curves().to_csv() == text


def test_a_policy_with_a_comma_in_its_name_stays_one_column() -> None:
    made = curves()
    other = RegretCurves(made.problem, ("Opt-KG(1,1)", "LSA(1.35)"), made.budgets, made.errors, made.pulls, 9, "common")
    assert next(csv.DictReader(io.StringIO(other.to_csv())))["policy"] == "Opt-KG(1,1)"


def test_what_is_saved_comes_back_with_all_it_takes_to_repeat_it(tmp_path: Path) -> None:
    made = curves()
    made.save(tmp_path / "curves.npz")
    back = RegretCurves.load(tmp_path / "curves.npz")
    assert back.problem == made.problem
    assert back.policies == made.policies
    assert back.budgets.tolist() == made.budgets.tolist()
    assert back.errors.tolist() == made.errors.tolist()
    assert back.errors.dtype == np.int32
    assert back.pulls.tolist() == made.pulls.tolist()
    assert (back.seed, back.streams, back.versions) == (9, "common", versions())
    assert {"python", "cutline", "numpy", "numba"} <= set(back.versions)
    assert back.to_csv() == made.to_csv()
    assert [path.name for path in tmp_path.iterdir()] == ["curves.npz"]


def test_a_file_is_saved_under_the_name_that_was_given(tmp_path: Path) -> None:
    curves().save(tmp_path / "curves.of.today")
    assert [path.name for path in tmp_path.iterdir()] == ["curves.of.today"]


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "none.npz"
    with pytest.raises(InvalidInputError) as caught:
        RegretCurves.load(path)
    assert str(caught.value) == f"cannot read {path}: No such file or directory"


def spoilt_files(tmp_path: Path) -> dict[str, Path]:
    files = {
        name: tmp_path / name for name in ("empty", "text", "cut short", "spoilt", "array.npy", "other.npz", "half.npz")
    }
    files["empty"].write_bytes(b"")
    files["text"].write_text("policy,budget\n")
    curves().save(files["cut short"])
    whole = files["cut short"].read_bytes()
    files["cut short"].write_bytes(whole[: len(whole) // 2])
    middle = whole.index(b"errors.npy") + 60
    files["spoilt"].write_bytes(
        whole[:middle] + bytes(value ^ 0x5A for value in whole[middle : middle + 20]) + whole[middle + 20 :]
    )
    np.save(files["array.npy"], np.arange(3))
    np.savez(files["other.npz"], means=np.arange(3))
    np.savez(files["half.npz"], settings=np.array("[]"), means=np.array([0.5]))
    return files


@pytest.mark.parametrize("name", ["empty", "text", "cut short", "spoilt", "array.npy", "other.npz", "half.npz"])
def test_a_file_that_holds_something_else_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    path = spoilt_files(tmp_path)[name]
    with pytest.raises(InvalidInputError) as caught:
        RegretCurves.load(path)
    assert str(caught.value) == f"{path} does not hold curves that cutline saved"


def test_a_place_that_cannot_be_written_is_named_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("kept")
    for target in (tmp_path / "file" / "curves.npz", tmp_path):
        with pytest.raises(InvalidInputError, match=f"^cannot write {target}: "):
            curves().save(target)
        with pytest.raises(InvalidInputError, match=f"^cannot write {target}: "):
            curves().to_csv(target)
    assert (tmp_path / "file").read_text() == "kept"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert math.isnan(curves(1).rows()[0]["standard_error"])
