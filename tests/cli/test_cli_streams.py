"""Standard streams as a command may find them: in another encoding, full, closed, or a terminal."""

import csv
import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign.campaign import Campaign

Run = Callable[..., Any]

ARMS = ["plain", "caf\u00e9", "\u732b", "\U0001f600"]
LATIN = {"PYTHONIOENCODING": "iso-8859-1", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def held(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Campaign:
    """A campaign whose ids no encoding but UTF-8 has."""
    monkeypatch.chdir(tmp_path)
    return Campaign.create("x.db", "main", ARMS, 0.5, "LSA", 100)


def run(*arguments: str, close: Sequence[int] = (), **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run ``cutline ARGUMENTS`` as a process in a surrounding where nothing is UTF-8, with some streams closed."""

    def close_streams() -> None:
        for stream in close:
            os.close(stream)

    streams: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    } | options
    command = [sys.executable, "-m", "cutline", *arguments]
    return subprocess.run(command, env=os.environ | LATIN, preexec_fn=close_streams, check=False, **streams)


def test_every_pull_that_is_leased_is_printed_in_utf_8_whatever_the_locale(held: Campaign) -> None:
    done = run("campaign", "ask", "--db", "x.db", "-n", "4")
    assert (done.returncode, done.stderr) == (0, b"")
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert sorted(arm for _, arm in rows) == sorted(ARMS)
    assert held.status().in_flight == 4
    told = run("campaign", "tell", "--db", "x.db", *(word for pull, _ in rows for word in (pull, "1")))
    assert told.returncode == 0
    assert held.status().spent == 4


@pytest.mark.parametrize("what", ["observations", "decisions"])
def test_csv_on_standard_output_is_whole_and_what_a_file_holds(held: Campaign, what: str) -> None:
    for arm in ARMS:
        held.observe(arm, 1, worker=arm)
    done = run("export", what, "--db", "x.db")
    assert (done.returncode, done.stderr) == (0, b"")
    assert run("export", what, "--db", "x.db", "--out", "out.csv").returncode == 0
    assert done.stdout == Path("out.csv").read_bytes()
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert [row.get("task", row.get("arm")) for row in rows] == ARMS


def test_a_message_has_every_id_as_it_stands(held: Campaign) -> None:
    Path("l.csv").write_text("task,label\n\u72ac,1\n", encoding="utf-8")
    done = run("import", "l.csv", "--db", "x.db")
    assert (done.returncode, done.stderr.decode()) == (
        2,
        "cutline: l.csv, line 2: campaign 'main' has no arm '\u72ac'\n",
    )


def test_pulls_that_cannot_be_printed_are_not_kept(held: Campaign) -> None:
    with open("/dev/full", "wb") as full:
        done = run("campaign", "ask", "--db", "x.db", "-n", "2", "--worker", "ann", stdout=full)
    assert (done.returncode, done.stderr) == (2, b"cutline: cannot write standard output: No space left on device\n")
    again = run("campaign", "ask", "--db", "x.db", "-n", "4", "--worker", "ann")
    assert len(again.stdout.splitlines()) == 4  # the two of before among them


def test_nothing_is_asked_for_where_standard_output_is_closed(held: Campaign) -> None:
    done = run("campaign", "ask", "--db", "x.db", close=[1])
    assert done.returncode == 2
    assert done.stderr.startswith(b"cutline: standard output is closed; nothing was asked for")
    assert held.status().in_flight == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("campaign", "status", "--db", "x.db"), b"cannot write standard output: it is closed"),
        (("export", "observations", "--db", "x.db"), b"cannot write standard output: it is closed"),
        (("policies",), b"cannot write standard output: it is closed"),
        (
            ("run", "--db", "x.db", "--", "true", "{arm}"),
            b"standard output is closed; nothing was done, since nobody would see the result",
        ),
    ],
)
def test_a_result_that_nobody_can_see_is_an_error(held: Campaign, words: tuple[str, ...], said: bytes) -> None:
    done = run(*words, close=[1])
    assert (done.returncode, done.stderr) == (2, b"cutline: " + said + b"\n")
    assert held.status().spent == 0


def test_a_command_that_prints_nothing_needs_no_standard_output(held: Campaign) -> None:
    assert run("campaign", "delete", "--db", "x.db", "--campaign", "main", "--yes", close=[1]).returncode == 0


def test_a_command_runs_where_standard_error_is_closed(held: Campaign) -> None:
    done = run("run", "--db", "x.db", "--format", "csv", "--", "true", "{arm}", close=[2])
    assert done.returncode == 0
    assert held.status().spent == 100


def test_a_command_gets_every_id_in_utf_8_whatever_the_locale(held: Campaign) -> None:
    words = ("sh", "-c", 'printf "%s\\n" "$1" >> seen; exit 0', "sh", "{arm}")
    assert run("run", "--db", "x.db", "--", *words).returncode == 0
    assert set(Path("seen").read_text(encoding="utf-8").splitlines()) == set(ARMS)


def test_a_closed_standard_input_is_one_line() -> None:
    done = run("import", "-", "--db", "y.db", "--threshold", "0.5", "--budget", "9", close=[0])
    assert (done.returncode, done.stderr) == (2, b"cutline: cannot read standard input: it is closed\n")


@pytest.mark.parametrize("crash", [("--on-crash", "stop"), ("--on-crash", "abandon")])
def test_what_a_command_says_reaches_the_terminal_without_its_control_sequences(
    held: Campaign, crash: tuple[str, str]
) -> None:
    words = ("--crash-exits", "3", "--", "sh", "-c", r"printf '\033]0;title\007\033[2Jred' >&2; exit 3", "{arm}")
    done = run("run", "--db", "x.db", *crash, *words)
    assert done.returncode in (1, 2)
    assert b"\x1b" not in done.stderr + done.stdout
    assert b"\x07" not in done.stderr + done.stdout
    assert rb"\x1b[2Jred" in done.stderr


def test_the_terminal_shows_what_its_encoding_lacks_as_escapes(held: Campaign) -> None:
    pty = pytest.importorskip("pty")  # not on Windows
    ours, theirs = pty.openpty()
    done = run("campaign", "ask", "--db", "x.db", "-n", "4", stdout=theirs)
    os.close(theirs)
    shown = os.read(ours, 10_000)
    os.close(ours)
    assert done.returncode == 0
    assert rb"\u732b" in shown
    assert b"caf\xe9" in shown


def test_no_file_that_is_opened_takes_the_number_of_a_closed_stream() -> None:
    """What libraries write to standard error would stand in the file then."""
    say = "import os, sys; from cutline import __main__, cli; cli.main = lambda: print(*map(os.path.realpath, map("
    shown = f"{say}'/proc/self/fd/{{}}'.format, range(3))), file=open('seen', 'w')); __main__.main()"
    subprocess.run([sys.executable, "-c", shown], preexec_fn=lambda: os.closerange(0, 3), check=True)
    assert Path("seen").read_text().split() == [os.devnull] * 3
