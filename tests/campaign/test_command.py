"""A command as the measurement: what it is given, what its reward is, and what is a crash."""

import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Command, Pull
from cutline.campaign.checks import read_reward
from cutline.campaign.running.commands import first_failures
from cutline.campaign.running.commands.first_failures import FirstFailures
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
    [
        ("1", 1.0),
        ("noise\\n0.25\\n\\n", 0.25),
        (" 0 ", 0.0),
        ("1e-1", 0.1),
        ("x" * 9000 + "\\n1", 1.0),
        ("0.5\\t12 tokens", (0.5, "12 tokens")),
        ("0.5\\t", 0.5),
    ],
)
def test_the_last_line_can_be_the_reward_and_have_a_note_after_a_tab(printed: str, reward: object) -> None:
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
        ("sys.exit(127)", "exit status 127, the command could not be run"),
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


WRAPPED = {
    "env": (["env", "X=1"], 127, "env: "),
    "nice": (["nice"], 127, "nice: "),
    "timeout": (["timeout", "9"], 127, "timeout: "),
    "all": (["env", "X=1", "timeout", "9", "nice"], 127, "nice: "),
}


@pytest.mark.parametrize("how", WRAPPED)
def test_a_command_that_another_cannot_start_is_a_crash(how: str) -> None:
    words, status, said = WRAPPED[how]
    with pytest.raises(MeasurementError) as caught:
        Command([*words, "no-such-program", "{arm}"])(pull("a"))
    assert str(caught.value).startswith(f"exit status {status}, the command could not be run: {said}")
    assert "no-such-program" in str(caught.value)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("no-such-program", "exit status 127, the command could not be run: "),
        ("no-such-program || exit $?", "exit status 127, the command could not be run: "),
        ("/etc", "exit status 126, the command could not be run: "),
        ("env --no-such-option", "exit status 125, the command could not be run: "),
        ("sh -c 'kill -s SEGV $$'; exit $?", "exit status 139, killed by signal 11 (SIGSEGV)"),
        ("sh -c 'kill -s KILL $$'; exit $?", "exit status 137, killed by signal 9 (SIGKILL)"),
    ],
)
def test_a_shell_that_tells_of_a_crash_is_believed(line: str, message: str) -> None:
    with pytest.raises(MeasurementError) as caught:
        Command(["sh", "-c", line, "{arm}"])(pull("a"))
    assert str(caught.value).startswith(message)


def test_every_exit_status_has_its_meaning() -> None:
    """Counted, with no regard to how: a crash for 125 to 127 and for the signals that end a process by default."""
    command = Command(["sh", "-c", 'exit "$1"', "sh", "{arm}"])
    crashes = []
    for status in range(256):
        try:
            assert command(pull(str(status))) == float(status == 0)
        except MeasurementError:
            crashes.append(status)
    ending = (1, 2, 3, 4, 5, 6, signal.SIGBUS, 8, 9, 11, 13, 14, 15, signal.SIGXCPU, signal.SIGXFSZ, signal.SIGSYS)
    assert crashes == [125, 126, 127, *sorted(128 + number for number in ending)]


def test_an_exit_status_can_be_made_a_failure() -> None:
    command = Command(["sh", "-c", 'exit "$1"', "sh", "{arm}"], fail_exits=(127, 139))
    assert [command(pull(arm)) for arm in ("127", "139", "3", "0")] == [0.0, 0.0, 0.0, 1.0]
    with pytest.raises(MeasurementError, match=r"^exit status 126, the command could not be run"):
        command(pull("126"))


@pytest.mark.parametrize(
    ("line", "remark"),
    [
        (
            "exit 3",
            "the first 4 measurements, of 3 arms, all failed at once, with exit status 3; is the command right?",
        ),
        (
            'echo "cannot read $1" >&2; exit 1',
            "the first 4 measurements, of 3 arms, all failed at once, with exit status 1: cannot read arm 0; "
            "is the command right?",
        ),
        ('test "$1" = "arm 2"', None),
        ('test "$1" != "arm 2" || exit 2; exit 1', None),
        ('test "$1" != "arm 2" || echo other >&2; exit 1', None),
        ("exit 0", None),
    ],
)
def test_first_measurements_that_all_fail_at_once_and_alike_are_remarked_upon_once(
    line: str, remark: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(first_failures, "AT_ONCE", 60.0)  # on a busy machine as well
    command = Command(["sh", "-c", line, "sh", "{arm}"])
    remarks = []
    for number in range(8):
        command(pull(f"arm {number % 3}"))
        remarks.append(command.remark())
    assert remarks == [None] * 3 + [remark] + [None] * 4


def test_one_arm_that_fails_again_and_again_says_nothing_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_failures, "AT_ONCE", 60.0)
    command = Command(["sh", "-c", "exit 1", "{arm}"])
    assert [(command(pull("only")), command.remark()) for _ in range(5)] == [(0.0, None)] * 5


def test_half_of_the_first_measurements_must_be_quick() -> None:
    first = FirstFailures()
    for seconds in (0.001, 9.0, 9.0, 0.1):
        first.note(str(seconds), seconds, 1, "")
    assert (
        first.remark()
        == "the first 4 measurements, of 3 arms, all failed at once, with exit status 1; is the command right?"
    )
    first = FirstFailures()
    for seconds in (0.001, 9.0, 9.0, 9.0):
        first.note(str(seconds), seconds, 1, "")
    assert first.remark() is None


def test_failures_that_take_their_time_are_not_remarked_upon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_failures, "AT_ONCE", 1e-9)
    command = Command(["sh", "-c", "exit 1", "{arm}"])
    assert [(command(pull(str(number))), command.remark()) for number in range(6)] == [(0.0, None)] * 6


def test_a_command_that_stops_itself_can_be_ended() -> None:
    with pytest.raises(MeasurementError, match=r"took longer than 0\.5 s"):
        Command(python("import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"), timeout=0.5)(pull("a"))


def test_a_command_that_hangs_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    program = "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); os.fork()"
    program += f"\nwhile True: open({str(alive)!r}, 'a').write('x'); time.sleep(0.02)"
    began = time.monotonic()
    with pytest.raises(MeasurementError, match=r"took longer than 0\.5 s"):
        Command(python(program), timeout=0.5)(pull("a"))
    assert time.monotonic() - began < 30
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
        (["true", "{arm}"], {"fail_exits": [0]}, "exit status 0 cannot mean a failure"),
        (["true", "{arm}"], {"crash_exits": [3, 4], "fail_exits": [4]}, "exit status 4 cannot mean a crash and a fail"),
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
