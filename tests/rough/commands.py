"""The commands, how to call each so that it works, and the folder in which that does."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import click

from cutline.campaign.campaign import Campaign
from cutline.cli import cutline
from cutline.server.access.tokens import tokens_of

ARMS = tuple(f"arm {letter}" for letter in "abcdef")
LEASE = 1_000_000

Given = Mapping[str, str | tuple[str, ...] | bool]
"""What the parameters of a command are given, by their names in the code."""

GOOD: dict[str, Given] = {
    "campaign abandon": {"db": "x.db", "pull": ("{pull}",)},
    "campaign ask": {"db": "x.db"},
    "campaign change": {"db": "x.db", "threshold": "0.6"},
    "campaign compare": {"db": "x.db", "first": ("main",), "second": ("main",)},
    "campaign copy": {"db": "x.db", "new_name": ("copy",)},
    "campaign backup": {"db": "x.db", "out": "copy.db"},
    "campaign correct": {"db": "x.db", "pull": ("{told}",), "reward": ("0",)},
    "campaign create": {"db": "new.db", "arms_file": "arms.txt", "threshold": "0.5", "budget": "20"},
    "campaign decisions": {"db": "x.db"},
    "campaign delete": {"db": "x.db", "name": "main", "yes": True},
    "campaign history": {"db": "x.db"},
    "campaign list": {"db": "x.db"},
    "campaign progress": {"db": "x.db"},
    "campaign rename": {"db": "x.db", "new_name": ("renamed",)},
    "campaign show": {"db": "x.db", "arm": ("arm a",)},
    "campaign status": {"db": "x.db"},
    "campaign workers": {"db": "x.db"},
    "campaign tell": {"db": "x.db", "words": ("{pull}", "1")},
    "export": {"what": "observations", "db": "x.db"},
    "import": {"files": ("labels.csv",), "db": "x.db"},
    "paper": {"runs": "1", "setups": "1", "out": "paper", "jobs": "1"},
    "plan": {"prior": "2,2", "arms": "20", "errors": "5", "jobs": "1"},
    "policies": {},
    "pytest": {"db": "new.db", "budget": "2", "batch": "2", "words": ("test_two.py", "-pno:cacheprovider")},
    "replay": {"labels": ("labels.csv",), "runs": "2", "policies": "Uniform", "jobs": "1"},
    "run": {"arms_file": "arms.txt", "threshold": "0.5", "budget": "8", "db": "new.db", "words": ("true", "{arm}")},
    "serve token create": {"db": "x.db", "name": "me", "role": "owner"},
    "serve token link": {"db": "x.db", "name": "ann"},
    "serve token list": {"db": "x.db"},
    "serve token revoke": {"db": "x.db", "name": "ann"},
    "simulate": {"means": "0.2,0.7", "budgets": "20", "runs": "3", "policies": "Uniform", "jobs": "1"},
}


class Pulls(NamedTuple):
    """The ids of a pull that is in flight and of one that has been told."""

    pull: str
    told: str


def filled(good: Given, pulls: Pulls) -> dict[str, str | tuple[str, ...] | bool]:
    """Return what a command is given, with the ids of pulls in the place of their names in braces."""
    return {
        name: tuple(text.format(arm="{arm}", **pulls._asdict()) for text in value)
        if isinstance(value, tuple)
        else value
        for name, value in good.items()
    }


ENDED_WELL = {"campaign ask": {0, 3, 4}, "campaign decisions": {0, 5}, "pytest": {0, 1, 5}, "run": {0, 1, 5}}
"""The exit statuses of calls that did what they were asked, where it is not 0 alone."""

SAYS_NOTHING = {
    "campaign abandon",
    "campaign change",
    "campaign copy",
    "campaign backup",
    "campaign correct",
    "campaign create",
    "campaign delete",
    "campaign rename",
    "campaign tell",
    "import",
    "serve token revoke",
}
"""The commands that write nothing to standard output."""


class Command(NamedTuple):
    """A command, by the words that call it."""

    name: str
    parameters: list[click.Parameter]

    def words(self, given: Given) -> list[str]:
        """Return the words of a call: ``campaign ask --db x.db``."""
        options: list[str] = []
        arguments: list[str] = []
        for parameter in self.parameters:
            value = given.get(str(parameter.name))
            texts = value if isinstance(value, tuple) else (value,) if isinstance(value, str) else ()
            if isinstance(parameter, click.Argument):
                arguments += texts
            elif value is True:
                options.append(parameter.opts[0])
            else:
                options += [
                    f"{parameter.opts[0]}={text}" if len(parameter.opts[0]) > 2 else f"{parameter.opts[0]}{text}"
                    for text in texts
                ]
        return [*self.name.split(), *options, "--", *arguments]


def commands(group: click.Command = cutline, name: tuple[str, ...] = ()) -> Iterator[Command]:
    """Yield every command below a group, in the order of its list."""
    if not isinstance(group, click.Group):
        yield Command(" ".join(name), group.params)
        return
    context = click.Context(group)
    for word in group.list_commands(context):
        found = group.get_command(context, word)
        assert found is not None
        yield from commands(found, (*name, word))


def make_folder(folder: Path) -> Pulls:
    """Make the folder that the good calls work in; return pulls of its campaign."""
    folder.mkdir()
    (folder / "arms.txt").write_text("".join(f"{arm}\n" for arm in ARMS), encoding="utf-8")
    (folder / "test_two.py").write_text("def test_a(): pass\ndef test_b(): pass\n", encoding="utf-8")
    rows = [f"{arm},worker {place},{int(place < 2)}\n" for arm in ARMS for place in range(3)]
    (folder / "labels.csv").write_text("task,worker,label\n" + "".join(rows), encoding="utf-8")
    with Campaign.create(str(folder / "x.db"), "main", ARMS, threshold=0.5, policy="LSA", budget=50) as campaign:
        with tokens_of(str(folder / "x.db")) as tokens:
            tokens.create("ann", "viewer")
        told = campaign.ask(10, worker="worker 9", lease=LEASE)
        campaign.tell_many([(pull, 1) for pull in told])
        return Pulls(campaign.ask(1, worker="worker 8", lease=LEASE)[0].id, told[0].id)
