"""cutline simulate: what it prints, in every format, and how it refuses what it cannot use."""

import csv
import io
import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline import Problem, simulate
from surroundings import PATIENCE, processor_time

Run = Callable[..., Any]

MEANS = "0.2,0.4,0.45,0.55,0.7"
BASE = ("simulate", "--means", MEANS, "--budgets", "50,100", "--runs", "40")


def expected(**settings: Any) -> Any:
    return simulate(
        Problem([0.2, 0.4, 0.45, 0.55, 0.7]),
        settings.pop("policies", ["LSA", "Uniform"]),
        [50, 100],
        **{"runs": 40, "progress": False} | settings,
    )


def test_csv_has_the_columns_promised_and_the_rows_of_simulate(cutline: Run) -> None:
    done = cutline(*BASE, "--policy", "APT(.05)", "--policy", "lsa", "--seed", "3", "--format", "csv")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines()[0] == "policy,budget,runs,mean_errors,standard_error"
    assert done.out == expected(policies=["APT(0.05)", "LSA"], seed=3).to_csv()


def test_json_has_the_same_rows(cutline: Run) -> None:
    done = cutline(*BASE, "--streams", "independent", "--jobs", "1", "--format", "json")
    assert json.loads(done.out) == expected(streams="independent").rows()
    assert done.err == ""


def test_json_of_a_single_run_is_valid_and_says_null_where_there_is_no_standard_error(cutline: Run) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(f"{name} is not JSON")

    done = cutline(*BASE[:-1], "1", "--format", "json")
    rows = json.loads(done.out, parse_constant=refuse)
    assert [row["standard_error"] for row in rows] == [None] * 4


def test_an_error_in_a_worker_is_not_taken_for_ctrl_c(cutline: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(chunk: object) -> None:
        raise EOFError("Ran out of input")

    monkeypatch.setattr("cutline.simulation.simulate.play", fail)
    with pytest.raises(EOFError, match="Ran out of input"):
        cutline(*BASE)


def test_the_table_has_a_line_for_each_policy_and_budget(cutline: Run) -> None:
    done = cutline(*BASE)
    curves = expected()
    lines = done.out.splitlines()
    assert lines[0].split() == ["policy", "budget", "runs", "mean", "errors", "standard", "error"]
    assert [line.split() for line in lines[1:]] == [
        [row["policy"], str(row["budget"]), "40", f"{row['mean_errors']:.4f}", f"{row['standard_error']:.4f}"]
        for row in curves.rows()
    ]
    assert len({len(line) for line in lines}) == 1
    assert cutline(*BASE[:-1], "1").out.splitlines()[1].split()[-1] == "-"


def test_the_seed_and_the_threshold_matter_and_the_jobs_do_not(cutline: Run) -> None:
    one = cutline(*BASE, "--format", "csv", "--jobs", "1").out
    assert cutline(*BASE, "--format", "csv", "--jobs", "3").out == one
    assert cutline(*BASE, "--format", "csv", "--seed", "1").out != one
    assert cutline(*BASE, "--format", "csv", "--threshold", "0.3").out != one


@pytest.mark.parametrize(
    "content",
    [
        "0.2\n0.4\n0.45\n0.55\n0.7\n",
        "\ufeffmean\r\n0.2\r\n0.4\r\n\r\n0.45\r\n0.55\r\n0.7\r\n\r\n",
        "\n\n0.2\n\n0.4\n0.45\n0.55\n0.7",
        "name,mean\na,0.2\nb,0.4\nc,0.45\nd,0.55\ne,0.7\n",
    ],
    ids=["plain", "header, BOM, CRLF and blank lines", "blank lines and no last line end", "a column of several"],
)
def test_means_from_a_file_are_means_from_the_command_line(cutline: Run, tmp_path: Path, content: str) -> None:
    (tmp_path / "means.csv").write_bytes(content.encode())
    done = cutline("simulate", "--means-file", tmp_path / "means.csv", *BASE[3:], "--format", "csv")
    assert done.status == 0
    assert done.out == expected().to_csv()


def test_a_column_of_a_file_can_be_named(cutline: Run, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("mean,rate\n1,0.2\n1,0.4\n1,0.45\n1,0.55\n1,0.7\n")
    done = cutline(
        "simulate", "--means-file", tmp_path / "m.csv", "--means-column", "rate", *BASE[3:], "--format", "csv"
    )
    assert done.out == expected().to_csv()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--means", "0.2,1.5"), "mean of arm 1 is 1.5; it must be in [0, 1]"),
        (("--means", "0.2,-0.1"), "mean of arm 1 is -0.1; it must be in [0, 1]"),
        (("--means", "nan,0.3"), "mean of arm 0 is nan; it must be in [0, 1]"),
        (("--means", "0.2,abc,0.4"), "--means: number 2 is 'abc'; it must be a number, as in 0.2,0.4"),
        (("--means", ""), "--means: number 1 is ''; it must be a number, as in 0.2,0.4"),
        (("--threshold", "1"), "threshold 1.0 is outside (0, 1)"),
        (("--threshold", "nan"), "threshold nan is outside (0, 1)"),
        (("--budgets", "4,100"), "budget 4 is below the number of arms, 5"),
        (("--budgets", "100,50"), "budgets must increase: 50 comes after 100"),
        (("--budgets", "50,50"), "budgets must increase: 50 comes after 50"),
        (("--budgets", "1e3"), "--budgets: number 1 is '1e3'; it must be a whole number, as in 100,200"),
        (("--budgets", "100,"), "--budgets: number 2 is ''; it must be a whole number"),
        (("--runs", "0"), "runs is 0; it must be a whole number from 1 to 2^31 - 1"),
        (("--seed", "-1"), "seed is -1; it must be a whole number from 0 to 2^64 - 1"),
        (("--jobs", "0"), "jobs is 0; it must be 1 or more"),
        (("--streams", "both"), "streams is 'both'; it must be one of common, independent"),
        (("--decide", "vote"), "decide is 'vote'; it must be one of mean, likelier"),
        (("--policy", "LSB"), "no policy is called 'LSB'; there are LSA(alpha), APT(epsilon)"),
        (("--policy", "LSA(x)"), "'LSA(x)': 'x' is not a number; write LSA(alpha)"),
        (("--policy", "LSA(-1)"), "LSA: alpha is -1.0; it must be a number above 0"),
        (("--policy", "LSA", "--policy", "LSA(1.35)"), "policy LSA(1.35) is given twice"),
        (("--plot", "curves.gif"), "curves.gif: a figure's name must end in one of .svg, .png, .pdf"),
        (("--means-file", "m.csv"), "give the means once: either --means 0.2,0.4 or --means-file FILE"),
        (("--means-column", "x"), "--means-column goes with --means-file"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("cutline.simulation.simulate.play", None)  # whoever simulates before refusing fails here
    done = cutline(*BASE, *arguments)
    assert done.status == 2
    assert done.out == ""
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_neither_means_nor_a_file_of_means_is_refused(cutline: Run) -> None:
    done = cutline("simulate", "--budgets", "10")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "either --means 0.2,0.4 or --means-file FILE" in done.err


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0.2\n0.3\n\n0.4\n0.5\n0.6\nseven\n0.8\n", "line 7: 'seven' is no mean; it must be a number in [0, 1]"),
        ("mean\n0.2\n1.2\n", "line 3: '1.2' is no mean"),
        ("0.2\nnan\n", "line 2: 'nan' is no mean"),
        ("mean\n", "has a header and no rows"),
        ("", "is empty"),
        ("a,b\n1,2\n", "no column 'mean'"),
    ],
    ids=["a word in line 7", "above 1", "NaN", "only a header", "empty", "no such column"],
)
def test_a_means_file_with_something_wrong_names_file_and_line(
    cutline: Run, tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "means.csv"
    path.write_text(content)
    done = cutline("simulate", "--means-file", path, "--budgets", "100")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert str(path) in done.err
    assert message in done.err


def test_a_means_file_that_is_not_there_is_refused(cutline: Run, tmp_path: Path) -> None:
    done = cutline("simulate", "--means-file", tmp_path / "none.csv", "--budgets", "100")
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "No such file" in done.err


def test_a_single_arm_is_a_problem_too(cutline: Run) -> None:
    done = cutline("simulate", "--means", "1", "--budgets", "3", "--runs", "2", "--format", "csv")
    assert done.out.splitlines()[1] == "LSA(1.35),3,2,0.0,0.0"


def test_more_arms_than_memory_are_refused_before_the_first_pull(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "means.csv").write_text("0.4\n" * 20_000)
    monkeypatch.setattr("cutline.memory.available_memory", lambda: 3e6)
    done = cutline("simulate", "--means-file", tmp_path / "means.csv", "--budgets", "20000")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "2 policies on 20,000 arms at 1 budgets" in done.err
    assert "use fewer arms" in done.err


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_a_plot_is_written_next_to_the_data(cutline: Run, tmp_path: Path, ending: str) -> None:
    path = tmp_path / "new" / f"curves.{ending}"
    done = cutline(*BASE, "--format", "csv", "--plot", path)
    assert (done.status, done.out, done.err) == (0, expected().to_csv(), "")
    assert [item.name for item in path.parent.iterdir()] == [path.name]
    assert {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF-"}[ending] == path.read_bytes()[:5][
        : 5 - (ending == "png")
    ]


def test_a_plot_that_cannot_be_written_is_refused_before_simulating(
    cutline: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cutline.simulation.simulate.play", None)
    (tmp_path / "file").write_text("kept")
    done = cutline(*BASE, "--plot", tmp_path / "file" / "curves.svg")
    assert (done.status, done.out, done.err.count("\n")) == (2, "", 1)
    assert "cannot write" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_help_shows_an_example_that_works(cutline: Run) -> None:
    text = cutline("simulate", "--help").out
    example = next(
        line.split() for line in text.splitlines() if line.strip().startswith("cutline simulate --means 0.2")
    )
    assert cutline(*example[1:], "--runs", "3").status == 0


def test_a_process_prints_nothing_but_the_data(start: Run) -> None:
    process = start(*BASE, "--format", "csv")
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out.decode(), err) == (0, expected().to_csv(), b"")
    assert len(list(csv.reader(io.StringIO(out.decode())))) == 5


def test_means_can_come_from_standard_input(start: Run) -> None:
    process = start("simulate", "--means-file", "-", *BASE[3:], "--format", "csv")
    out, _ = process.communicate(MEANS.replace(",", "\n").encode(), timeout=PATIENCE)
    assert out.decode() == expected().to_csv()


def interrupt(process: "subprocess.Popen[bytes]", after: float) -> tuple[int, bytes, bytes, float]:
    """Send Ctrl-C after so many seconds of work: exit status, outputs, and the seconds that it took to end."""
    while processor_time(process.pid) < after:
        time.sleep(0.05)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    sent = time.monotonic()
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err, time.monotonic() - sent


def test_ctrl_c_in_a_long_run_ends_it_at_once_and_leaves_nothing(start: Run, tmp_path: Path) -> None:
    process = start(*BASE[:4], "1000000000", "--runs", "100", "--plot", tmp_path / "curves.svg")
    status, out, err, seconds = interrupt(process, 2.0)
    assert (status, out) == (130, b"")
    assert err.strip().splitlines() == [b"cutline: stopped"]
    assert seconds < 20.0
    assert list(tmp_path.iterdir()) == []
