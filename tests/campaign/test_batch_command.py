"""A command as the measurement of a batch: what it is given, what its report says, and how it dies."""

import sys
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import BatchCommand, Pull
from cutline.campaign.running.outcomes import BatchResult
from cutline.errors import InvalidInputError

pytestmark = pytest.mark.process

GIVEN = "import sys, os, json, time; report, *arms = sys.argv[1:]; file = open(report, 'a', 1)\n"
SAY = "def say(arm, **more): print(json.dumps({'arm': arm, **more}), file=file, flush=True)\n"


def python(program: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", GIVEN + SAY + program, "{report}", "{arms}"]


def measured(program: str, arms: Any = "abc", **options: Any) -> BatchResult:
    batch = [Pull(f"x-{place}", arm, None, None, 0.0) for place, arm in enumerate(arms)]
    return BatchCommand(python(program), report="jsonl", **options)(batch)


def test_the_report_has_the_rewards_whatever_the_exit_status_is() -> None:
    result = measured("[say(arm, reward=arm != 'b') for arm in arms]; sys.exit(1)")
    assert (result.rewards, result.troubles, result.death) == ({"a": 1.0, "b": 0.0, "c": 1.0}, {}, None)


def test_ids_are_arguments_exactly_as_they_stand_and_lines_of_a_file() -> None:
    arms = ["with space", "$HOME `id`", "é", "x" * 3000, "{report}"]
    assert set(measured("[say(arm, reward=1) for arm in arms]", arms).rewards) == set(arms)
    program = GIVEN + SAY + "[say(line[:-1], reward=1) for line in open(arms[0], encoding='utf-8', newline='')]"
    command = [sys.executable, "-S", "-E", "-X", "utf8", "-c", program, "{report}", "{arms_file}"]
    batch = [Pull("x-1", arm, None, None, 0.0) for arm in arms]
    assert set(BatchCommand(command, report="jsonl")(batch).rewards) == set(arms)
    result = BatchCommand(command, report="jsonl")([Pull("x-1", "two\nlines", None, None, 0.0)])
    assert result.death is not None
    assert "the id 'two\\nlines' has a line end; it cannot stand in a file of ids" in result.death.text


def test_what_the_report_does_not_name_could_not_be_measured_alone() -> None:
    result = measured("say('a', reward=1, note='!'); say('C', reward=1); say('c', skipped='no'); ", "abc")
    assert (result.rewards, result.skipped, result.death) == ({"a": 1.0}, {"c": "no"}, None)
    assert result.notes == {"a": "!"}
    assert [(arm, *trouble[:2]) for arm, trouble in result.troubles.items()] == [
        ("b", "missing", "the report does not name it, but 'C'")
    ]


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("say('a', reward=1); os.kill(os.getpid(), 9)", "killed by signal 9 (SIGKILL)"),
        ("say('a', reward=1); sys.exit(127)", "exit status 127, the command could not be run"),
        ("say('a', reward=1); print('why', file=sys.stderr); sys.exit(4)", "exit status 4: why"),
    ],
)
def test_of_a_batch_that_dies_what_it_has_reported_counts_and_the_others_are_suspects(program: str, text: str) -> None:
    result = measured(program, crash_exits=[4])
    assert result.death is not None
    assert (result.rewards, result.death.text, result.suspects) == ({"a": 1.0}, text, ["b", "c"])


def test_the_arm_that_had_begun_when_the_batch_died_is_the_only_suspect() -> None:
    result = measured("say('a', reward=1); say('b'); os._exit(0)")
    assert result.death is not None
    assert (result.death.text, result.suspects, result.troubles) == ("exit status 0 before its end", ["b"], {})


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("warn('old'); time.sleep(0.1); say('b'); os._exit(0)", "exit status 0 before its end"),
        (
            "warn('old'); say('b'); time.sleep(0.1); warn('no room'); os._exit(1)",
            "exit status 1 before its end: no room",
        ),
    ],
    ids=["before", "after"],
)
def test_what_was_said_before_the_arm_had_begun_is_no_reason_for_its_end(program: str, text: str) -> None:
    result = measured("warn = lambda text: os.write(2, text.encode() + b'\\n')\n" + program)
    assert result.death is not None
    assert result.death.text == text


@pytest.mark.parametrize(
    ("end", "how"), [("os._exit(1)", "exit status 1 before its end: no"), ("time.sleep(60)", None)]
)
def test_of_an_arm_at_which_a_batch_dies_it_is_kept_what_was_written(end: str, how: str | None) -> None:
    kept: list[tuple[str, str]] = []
    program = f"say('a', reward=1); say('b', output='after a'); time.sleep(0.1); os.write(2, b'no'); {end}"
    measured(program, timeout=0.5, keep=lambda arm, text: kept.append((arm, text)))
    how = how or "took longer than 0.5 s"
    assert kept == [("b", f"after a\n{how}\n--- stderr of the process ---\nno")]


def test_an_arm_that_takes_too_long_is_the_only_suspect_if_it_has_begun() -> None:
    result = measured("say('a'); say('a', reward=0); say('b'); time.sleep(60)", timeout=0.5)
    assert result.death is not None
    assert result.death[:2] == ("timeout", "took longer than 0.5 s")
    assert (result.rewards, result.suspects) == ({"a": 0.0}, ["b"])


def test_a_batch_that_says_nothing_may_take_as_long_as_all_its_arms() -> None:
    assert measured("time.sleep(0.5); say('a', reward=1)", "abc", timeout=0.4).rewards == {"a": 1.0}
    result = measured("time.sleep(60)", "ab", timeout=0.2)
    assert result.death is not None
    assert (result.death.kind, result.suspects) == ("timeout", ["a", "b"])


def test_what_is_written_after_it_was_told_to_end_does_not_count() -> None:
    program = (
        "import signal; signal.signal(signal.SIGTERM, lambda *_: (say('b', reward=0), os._exit(0)))\n"
        "say('a', reward=1); say('b'); time.sleep(60)"
    )
    assert measured(program, timeout=0.5).rewards == {"a": 1.0}


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("file.write('a,1\\n')", 'the report, line 1: \'a,1\'; it must be like {"arm": "a", "reward": 1}'),
        ("file.write('a,1\\n'); file.flush(); time.sleep(60)", "the report, line 1: 'a,1'; it must be like"),
    ],
    ids=["at the end", "on the way"],
)
def test_a_report_that_makes_no_sense_ends_the_batch(program: str, text: str) -> None:
    result = measured(program)
    assert result.death is not None
    assert result.death.text.startswith(text)
    assert result.suspects == ["a", "b", "c"]


def test_a_command_without_a_report_has_died() -> None:
    batch = [Pull("x-1", "a", None, None, 0.0)]
    command = ["sh", "-c", "echo no such test >&2; exit 4", "{report}", "{arms}"]
    result = BatchCommand(command, report="junit")(batch)
    assert result.death is not None
    assert result.death.text == "exit status 4, the report cannot be read: No such file or directory: no such test"


def test_more_arguments_than_the_system_takes_are_a_crash_that_says_so() -> None:
    result = measured("pass", ["x" * 130_000] * 40)
    assert result.death is not None
    assert result.death.text.endswith("Argument list too long")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no command; give one, such as: pytest --junitxml={report} {arms}"),
        (["true", "{report}"], "the command for a batch has no argument {arms} and no {arms_file}"),
        (["true", "{report}", "--tests={arms}"], "the command for a batch has no argument {arms} and no {arms_file}"),
        (["true", "{arms}"], "the command for a batch has no {report}"),
        (["no-such-program", "{arms}", "{report}"], "there is no program 'no-such-program' that can be run"),
    ],
)
def test_a_command_that_cannot_work_is_refused(words: list[str], message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        BatchCommand(words, report="junit")
    assert str(caught.value).startswith(message)


def test_a_batch_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    measured("say('a', reward=1)", "a")
    assert list(tmp_path.iterdir()) == []
