"""cutline run: a command as the measurement, from the arms file to the decisions, and what survives a stop."""

import csv
import io
import json
import os
import re
import signal
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from surroundings import PATIENCE, wait_for

Run = Callable[..., Any]

FAILING = (sys.executable, "-S", "-c", "import sys; sys.exit(sys.argv[1] == 'b')", "{arm}")
SLOW = ("sleep", "0.1{arm}")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("arms.txt").write_text("a\nb\nc\n")
    return tmp_path


def arguments(*more: object, budget: int = 12, command: tuple[str, ...] = FAILING) -> list[object]:
    return ["run", "--arms", "arms.txt", "--threshold", "0.5", "--budget", budget, *more, "--", *command]


def test_a_run_measures_and_prints_the_decisions_those_below_first(cutline: Run) -> None:
    done = cutline(*arguments("--jobs", "2", "--db", "x.db", "--format", "csv"))
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert done.status == 0
    assert [(row["arm"], row["mean"], row["decision"]) for row in rows] == [
        ("b", "0.0", "below"),
        ("a", "1.0", "above"),
        ("c", "1.0", "above"),
    ]
    assert sum(int(row["pulls"]) for row in rows) == 12
    assert done.err.splitlines() == [
        "campaign 'main' in x.db: 3 arms, threshold 0.5, Lai; "
        "spent 0 of 12, in flight 0, left 12, expected errors 1.50",
        "budget spent: spent 12 of 12, in flight 0, left 0, expected errors 0.01",
        "1 below, 2 above, 0 undecided",
    ]


def test_the_same_command_again_goes_on_or_says_that_it_is_done(cutline: Run) -> None:
    first = cutline(*arguments("--db", "x.db"))
    again = cutline(*arguments("--db", "x.db"))
    assert (again.status, again.out) == (0, first.out)
    assert again.err.startswith("campaign 'main' in x.db, going on: 3 arms")
    short = cutline("run", "--db", "x.db", "--", *FAILING)
    assert (short.status, short.out) == (0, first.out)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("--threshold", "0.6"), "campaign 'main': threshold is 0.5, not 0.6"),
        (("--policy", "Uniform", "--seed", "3"), "campaign 'main': policy is Lai, not Uniform; seed is 0, not 3"),
        (("--arms", "other.txt"), "campaign 'main': arms: 'd' is new"),
        (("--arms", "fewer.txt"), "campaign 'main': arms: 'c' is missing"),
        (("--campaign", "new", "--budget", "0"), "budget is 0; it must be a whole number from 1"),
    ],
)
def test_other_settings_than_those_stored_are_named(cutline: Run, change: tuple[str, ...], message: str) -> None:
    cutline(*arguments("--db", "x.db"))
    Path("other.txt").write_text("a\nb\nc\nd\n")
    Path("fewer.txt").write_text("b\na\n")
    done = cutline(*arguments("--db", "x.db", *change))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")


def test_the_example_suite_is_the_one_that_the_page_shows() -> None:
    root = Path(__file__).parents[2]
    suite = (root / "examples" / "flaky" / "test_shop.py").read_text()
    assert f"```python test_shop.py\n{suite}```\n" in (root / "docs" / "flaky_tests.md").read_text()


def test_without_a_database_it_lives_in_memory(cutline: Run, folder: Path) -> None:
    done = cutline(*arguments("--format", "json"))
    assert [row["arm"] for row in json.loads(done.out)] == ["b", "a", "c"]
    assert "campaign 'main' in memory" in done.err
    assert os.listdir(folder) == ["arms.txt"]


def test_the_last_line_can_be_the_reward(cutline: Run) -> None:
    command = (sys.executable, "-S", "-c", "print('warming up'); print(0.25)", "{arm}")
    done = cutline(*arguments("--reward", "stdout", "--format", "json", budget=3, command=command))
    assert [row["mean"] for row in json.loads(done.out)] == [0.25] * 3


def test_a_command_that_asks_to_be_tried_again_is_no_crash(cutline: Run) -> None:
    busy = "test -e seen && exit 0; touch seen; echo too many requests >&2; exit 75"
    given = arguments("--retry-exits", "75,69", "--attempts", "2", budget=3, command=("sh", "-c", busy, "{arm}"))
    done = cutline(*given)
    assert done.status == 0
    assert re.search(
        r"^arm '[abc]': TryAgainError: exit status 75: too many requests; again in [01].. s \(attempt 1 of 2\)$",
        done.err,
        re.MULTILINE,
    )
    done = cutline(*arguments("--retry-exits", "75", "--attempts", "2", command=("sh", "-c", "exit 75", "{arm}")))
    assert (done.status, done.out) == (2, "")
    assert re.fullmatch("cutline: arm '[abc]': exit status 75", done.err.splitlines()[-1])


def test_ids_reach_the_command_as_they_stand(cutline: Run, folder: Path) -> None:
    ids = ["a/b", "%2F", 'it\'s "q"', "$(touch x) ;", "\u00e9", "e\u0301", "y" * 5000, " 007 "]
    Path("arms.txt").write_bytes(b"\xef\xbb\xbf" + "\r\n\r\n".join(ids).encode())
    program = "import sys; open('seen', 'ab').write(sys.argv[1].encode() + b'\\0')"
    done = cutline(*arguments("--db", "x.db", budget=8, command=(sys.executable, "-S", "-c", program, "{arm}")))
    assert done.status == 0
    assert sorted(Path("seen").read_bytes().decode().split("\0")[:-1]) == sorted(ids)
    with Campaign.open("x.db", "main") as campaign:
        assert [item.arm for item in campaign.decisions()] == ids
    assert sorted(os.listdir(folder)) == ["arms.txt", "seen", "x.db"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"a\nb\r\n\na\n", "arms.txt, line 4: 'a' stands in line 1 already"),
        (b"", "arms.txt is empty; it must have an id a line"),
        (b"\n \n", "arms.txt is empty; it must have an id a line"),
        (b"a\n\xff\n", "arms.txt, line 2, byte 1: 0xff is not UTF-8"),
        (b"a\nb\0\n", "arms.txt, line 2: a NUL byte"),
    ],
)
def test_a_bad_arms_file_is_refused(cutline: Run, folder: Path, content: bytes, message: str) -> None:
    Path("arms.txt").write_bytes(content)
    done = cutline(*arguments("--db", "x.db"))
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert os.listdir(folder) == ["arms.txt"]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            [*arguments("--attempts", "3")[1:], "--", "true", "{arm}"],
            "--attempts is for the exit statuses of --retry-exits; give them, too",
        ),
        (
            ["--db", "x.db", "--", "true", "{arm}"],
            "x.db: there is no such database; to make one, give arms and threshold",
        ),
        (
            ["--arms", "arms.txt", "--threshold", "0.5", "--", "true", "{arm}"],
            "without a database there is no campaign",
        ),
        (["--arms", "none.txt", "--", "true", "{arm}"], "cannot read none.txt: No such file"),
        (["--db", "x.db", "--", "true"], "the command has no {arm}; write it where the id of the arm belongs"),
        (["--db", "x.db", "--", "no-such-program", "{arm}"], "there is no program 'no-such-program' that can be run"),
        (["--db", "x.db"], "Missing argument '-- COMMAND {arm} ...'."),
        (["--on-crash", "ignore", "--", "true", "{arm}"], "Invalid value for '--on-crash': 'ignore' is not one of"),
        (["--crash-exits", "4,x", "--", "true", "{arm}"], "--crash-exits: number 2 is 'x'; it must be a whole number"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(cutline: Run, given: list[str], message: str) -> None:
    done = cutline("run", *given)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith(f"cutline: {message}")
    assert done.err.count("\n") == 1


def spent() -> int:
    """Read with SQLite alone how many pulls have their reward."""
    try:
        with closing(sqlite3.connect("file:x.db?mode=ro", uri=True)) as database:
            return int(database.execute("SELECT sum(spent) FROM cutline_campaigns").fetchone()[0] or 0)
    except sqlite3.OperationalError:
        return 0


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_stop_ends_the_children_and_gives_back_what_was_in_flight(start: Run, folder: Path, how: int) -> None:
    program = "import os, sys, time; open(f'pid {os.getpid()}', 'w'); time.sleep(60 * (sys.argv[1] == 'b'))"
    command = (sys.executable, "-S", "-c", program, "{arm}")
    process = start(*arguments("--db", "x.db", "--jobs", "2", budget=10_000, command=command))
    wait_for(lambda: spent() >= 2 and len([*folder.glob("pid *")]) >= 3)
    process.send_signal(how)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (130 if how == signal.SIGINT else -how, b"")
    lines = err.decode().splitlines()
    assert any("in flight 0" in line and line.endswith("; the same command goes on from here") for line in lines)
    assert lines[-1] == "cutline: stopped"
    children = [int(path.name.split()[1]) for path in folder.glob("pid *")]
    assert len(children) >= 3
    assert not [child for child in children if Path(f"/proc/{child}").exists()]
    with Campaign.open("x.db", "main") as campaign:
        status = campaign.status()
        assert (status.in_flight, status.spent) == (0, len(list(campaign.results())))
        assert status.spent >= 2


@pytest.mark.slow
def test_two_runs_share_a_campaign(start: Run) -> None:
    Path("arms.txt").write_text("1\n2\n3\n")
    runs = [start(*arguments("--db", "x.db", "--jobs", "2", budget=12, command=SLOW)) for _ in range(2)]
    for run in runs:
        _, err = run.communicate(timeout=PATIENCE)
        assert run.returncode == 0, err
        assert b"budget spent: spent 12 of 12, in flight 0, left 0" in err


@pytest.mark.process
def test_a_terminal_sees_a_bar_the_numbers_and_the_arms_nearest_to_the_line(tmp_path: Path) -> None:
    import pty

    Path("arms.txt").write_text("1\n2\n3\n")
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm", COLUMNS="100", LINES="40")
        command = [sys.executable, "-m", "cutline", *arguments("--db", "x.db", budget=6, command=SLOW)]
        os.execv(sys.executable, [str(word) for word in command])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how a terminal says that the other end is closed
            break
        if not piece:
            break
        shown += piece
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    os.close(terminal)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert "\N{BOX DRAWINGS HEAVY HORIZONTAL}" * 40 in text
    assert re.search(r"spent \d of 6, in flight \d, left \d, expected errors \d\.\d\d", text)
    assert re.search(r"nearest to the line +pulls +mean +decision +wrong", text)
    assert "budget spent: spent 6 of 6" in text


def test_the_help_has_an_example(cutline: Run) -> None:
    example = "cutline run --arms tests.txt --threshold 0.99 --budget 2000 --jobs 8 --db flaky.db -- pytest -q {arm}"
    assert f"\n    {example}\n" in cutline("run", "-h").out


@pytest.mark.parametrize("words", [("--jobs", "0"), ("--lease", "-1"), ("--on-timeout", "wait")], ids=" ".join)
def test_an_option_out_of_range_is_refused_before_a_campaign_is_made(cutline: Run, words: tuple[str, ...]) -> None:
    assert cutline(*arguments(*words, "--db", "x.db")).status == 2
    assert not Path("x.db").exists()
