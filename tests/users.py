"""Programs that other users run on a campaign, for tests; where this one is not root, this user runs them."""

import io
import os
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout, suppress
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any, NamedTuple

from cutline.campaign import Campaign, campaigns
from cutline.cli import main
from cutline.errors import CutlineError
from forking import FORKS, kill

READING = ("campaign status", "campaign list", "campaign decisions", "export observations", "export decisions")


def make(path: Path, told: int = 3) -> list[str]:
    """Make a campaign of two arms; return the names in its folder, once it is closed."""
    with Campaign.create(path, "c", ["a", "b"], 0.5, "LSA", 1000) as campaign:
        for pull in campaign.ask(told):
            campaign.tell(pull, 1)
    return sorted(os.listdir(path.parent))


def cutline(*words: str) -> list[object]:
    """Return the exit status of ``cutline WORDS``, its output and its talk."""
    sys.argv = ["cutline", *words]
    out, talk = io.StringIO(), io.StringIO()
    status: object = None
    with redirect_stdout(out), redirect_stderr(talk):
        try:
            main()
        except SystemExit as stopped:
            status = stopped.code
    return [status, out.getvalue(), talk.getvalue()]


def commands(path: str) -> list[list[object]]:
    """Return what becomes of every command that reads alone."""
    return [cutline(*words.split(), "--db", path) for words in READING]


def run(user: int, groups: tuple[int, ...], path: str, program: str, says: Connection, waits: Connection) -> None:
    """Run a program as a user: it can ``say`` things, and ``wait`` until it is to go on."""
    os.chdir("/")
    with tempfile.TemporaryDirectory() as warm:  # loads all that will be needed, while it may be read
        make(Path(warm) / "x.db")
        commands(f"{warm}/x.db")
    if os.getuid() == 0:
        os.setgroups(groups)
        os.setgid(user)
        os.setuid(user)
    known = {"Campaign": Campaign, "campaigns": campaigns, "CutlineError": CutlineError, "os": os}
    known |= {"cutline": cutline, "commands": commands, "path": path, "say": says.send, "wait": waits.recv}
    talk = io.StringIO()
    with redirect_stderr(talk):
        exec(program, known)
    says.send(talk.getvalue())


class Program(NamedTuple):
    """A program that runs as another user."""

    process: ForkServerProcess
    hears: Connection
    tells: Connection

    @classmethod
    def start(cls, text: str, path: Path, user: int, groups: tuple[int, ...]) -> "Program":
        """Start a program that knows the path of a database."""
        hears, says = FORKS.Pipe(duplex=False)
        waits, tells = FORKS.Pipe(duplex=False)
        process = FORKS.Process(target=run, args=(user, groups, str(path), text, says, waits))
        process.start()
        for end in (says, waits):
            end.close()
        return cls(process, hears, tells)

    def close(self) -> None:
        """End it, if it has not ended."""
        kill(self.process)
        for end in (self.hears, self.tells):
            end.close()

    def heard(self) -> Any:
        """Return what it says next."""
        return self.hears.recv()

    def finish(self) -> list[Any]:
        """Let it end; return all that it says until then."""
        with suppress(BrokenPipeError):  # it has ended
            self.tells.send("go on")
        said: list[Any] = []
        with suppress(EOFError):
            while True:
                said.append(self.hears.recv())
        self.process.join()
        assert self.process.exitcode == 0
        assert said.pop() == ""  # what it wrote to standard error
        return said
