"""A command as the measurement: what it is given, what its reward is, and what is a crash."""

import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Command, Pull
from cutline.campaign.checks import read_reward
from cutline.errors import InvalidInputError, MeasurementError


def python(program: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", f"import sys\n{program}", "{arm}"]


def pull(arm: str) -> Pull:
    return Pull("x-1", arm, None, None, 0.0)


@pytest.mark.parametrize(
    ("program", "reward"), [("pass", 1.0), ("sys.exit(1)", 0.0), ("sys.exit(77)", 0.0), ("raise ValueError", 0.0)]
)
def test_the_exit_status_is_the_reward(program: str, reward: float) -> None:
    assert Command(python(program))(pull("a")) == reward


def test_a_command_with_a_lot_of_output_and_no_input_ends() -> None:
    assert Command(python("sys.stdin.read(); print('x' * 10**6); sys.exit(1)"))(pull("a")) == 0.0


@pytest.mark.parametrize(
    "arm",
    [
        "plain",
        "with space",
        "a/b",
        "%2F",
        "'single' \"double\"",
        "$HOME `id` ; exit 1",
        "two\nlines",
        "x" * 5000,
        "\u00e9",
        "e\u0301",
    ],
)
def test_the_id_is_one_argument_exactly_as_it_stands(arm: str, tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    program = f"import sys; open({str(seen)!r}, 'wb').write(sys.argv[1].encode()); sys.exit(len(sys.argv) != 2)"
    assert Command([sys.executable, "-S", "-E", "-c", program, "id={arm}"])(pull(arm)) == 1.0
    assert seen.read_bytes() == f"id={arm}".encode()


@pytest.mark.parametrize(
    ("printed", "reward"),
    [("1", 1.0), ("noise\\n0.25\\n\\n", 0.25), (" 0 ", 0.0), ("1e-1", 0.1), ("x" * 9000 + "\\n1", 1.0)],
)
def test_the_last_line_can_be_the_reward(printed: str, reward: float) -> None:
    assert Command(python(f"print('{printed}')"), stdout=True)(pull("a")) == reward


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("pass", "it printed nothing; it must be a number in [0, 1]"),
        ("print('maybe')", "the last line of its output is 'maybe'; it must be a number in [0, 1]"),
        ("print(2)", "the last line of its output is '2'"),
        ("print('nan')", "the last line of its output is 'nan'"),
        ("print('1_0')", "the last line of its output is '1_0'"),
        ("print(1); sys.exit('no model')", "exit status 1: no model"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9 (SIGKILL)"),
        ("import os; os.abort()", "killed by signal 6 (SIGABRT)"),
    ],
)
def test_an_answer_that_is_none_is_a_crash(program: str, message: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        Command(python(program), stdout=True)(pull("a"))
    assert str(caught.value).startswith(message)


def test_a_signal_is_a_crash_even_where_the_exit_status_counts() -> None:
    with pytest.raises(MeasurementError, match=r"killed by signal 11 \(SIGSEGV\)"):
        Command(python("import os; os.kill(os.getpid(), 11)"))(pull("a"))


def test_exit_statuses_can_be_made_crashes() -> None:
    command = Command(python("import sys; sys.exit(int(sys.argv[1]))"), crash_exits=(4, 5))
    assert [command(pull(arm)) for arm in ("0", "1", "3")] == [1.0, 0.0, 0.0]
    with pytest.raises(MeasurementError, match=r"^exit status 4$"):
        command(pull("4"))


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    program = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork()"
    program += f"\nwhile True: open({str(alive)!r}, 'a').write('x'); time.sleep(0.02)"
    began = time.monotonic()
    with pytest.raises(MeasurementError, match=r"took longer than 0\.5 s"):
        Command(python(program), timeout=0.5)(pull("a"))
    assert time.monotonic() - began < 10
    assert alive.exists()
    time.sleep(0.1)
    size = alive.stat().st_size
    time.sleep(0.2)
    assert alive.stat().st_size == size


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ([], {}, "no command; give one"),
        (["true"], {}, "the command has no {arm}"),
        (["no-such-program", "{arm}"], {}, "there is no program 'no-such-program' that can be run"),
        (["true", "{arm}"], {"timeout": 0}, "timeout is 0; it must be a number above 0"),
        (["true", "{arm}"], {"crash_exits": [0]}, "exit status 0 cannot mean a crash"),
        (["true", "{arm}"], {"crash_exits": [256]}, "exit status 256 cannot mean a crash"),
    ],
)
def test_a_command_that_cannot_work_is_refused_at_once(arguments: Any, options: Any, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Command(arguments, **options)
    assert str(caught.value).startswith(message)


def test_a_program_that_the_arm_names_and_that_is_not_there_is_a_crash() -> None:
    with pytest.raises(MeasurementError, match=r"cannot run '\./no-such-program': No such file"):
        Command(["./{arm}"])(pull("no-such-program"))


@pytest.mark.parametrize("text", ["2", "", "maybe", "nan", "-0.1", "1_0", "inf", "\N{FULLWIDTH DIGIT ONE}", "true"])
def test_a_text_that_is_no_reward_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a reward; it must be a number in"):
        read_reward(text)
