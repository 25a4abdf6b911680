"""The help of every command: whole sentences, of which the list of commands shows the first uncut, and an example."""

from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from cutline.cli import cutline


def commands(command: click.Command = cutline, words: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Yield every command with the words that call it."""
    yield " ".join(words), command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for word in command.list_commands(context):
            inner = command.get_command(context, word)
            assert inner is not None
            yield from commands(inner, (*words, word))


COMMANDS = dict(commands())
GROUPS = [words for words, command in COMMANDS.items() if isinstance(command, click.Group)]


@pytest.mark.parametrize("words", GROUPS)
def test_the_list_of_commands_shows_a_whole_sentence_of_each_on_a_terminal_of_80_columns(words: str) -> None:
    shown = CliRunner(env={"COLUMNS": "80"}).invoke(cutline, [*words.split(), "--help"]).output
    listed = [line.split(maxsplit=1) for line in shown.partition("Commands:\n")[2].splitlines()]
    group = COMMANDS[words]
    assert isinstance(group, click.Group)
    assert [line[0] for line in listed] == group.list_commands(click.Context(group))
    assert [line for line in listed if not line[1].endswith(".") or line[1].endswith("...")] == []


@pytest.mark.parametrize("words", GROUPS)
def test_a_command_that_there_is_not_is_answered_with_those_that_there_are(words: str) -> None:
    result = CliRunner().invoke(cutline, [*words.split(), "simulat"], standalone_mode=False)
    assert isinstance(result.exception, click.UsageError)
    group = COMMANDS[words]
    assert isinstance(group, click.Group)
    names = ", ".join(group.list_commands(click.Context(group)))
    assert result.exception.message == f"No such command 'simulat'; there are {names}"


@pytest.mark.parametrize("words", [words for words in COMMANDS if words not in GROUPS])
def test_a_command_has_an_example_that_begins_with_its_name(words: str) -> None:
    text = COMMANDS[words].help or ""
    example = text.rpartition("Example")[2].splitlines()[1].strip()
    assert example.startswith(f"cutline {words}")


@pytest.mark.parametrize("words", [words for words in COMMANDS if words not in GROUPS])
def test_an_example_on_two_lines_can_be_copied(words: str) -> None:
    examples = (COMMANDS[words].help or "").rpartition("Example")[2].splitlines()[1:]
    assert [line for line in examples if "   " in line.strip()] == []


@pytest.mark.parametrize("words", COMMANDS)
def test_an_option_is_explained_by_a_sentence(words: str) -> None:
    options = [item for item in COMMANDS[words].params if isinstance(item, click.Option)]
    unexplained = [item.opts[0] for item in options if not item.help or not item.help.endswith(".")]
    assert unexplained == []
