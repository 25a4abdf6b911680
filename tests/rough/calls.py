"""Calls of the command line, and what may never come of one."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, Self

from cutline.campaign.campaign import Campaign, campaigns
from ledger import audit, dump
from rough import forks
from rough.commands import ENDED_WELL, Pulls, make_folder


def files_in(folder: Path) -> set[str]:
    """The files in a folder, but for those that SQLite has while a database is open."""
    return {name for name in os.listdir(folder) if not name.endswith(("-wal", "-shm"))}


def held_in(folder: Path) -> Any:
    """All that the campaign in a folder holds, audited."""
    with Campaign.open(str(folder / "x.db"), "main") as campaign:
        audit(campaign)
        return dump(campaign)


def in_flight(folder: Path) -> int:
    """How many pulls of the campaign in a folder are in flight; in the template it is one."""
    with Campaign.open(str(folder / "x.db"), "main") as campaign:
        audit(campaign)
        return campaign.status().in_flight


class Template(NamedTuple):
    """The folder of which every call finds a copy, two pulls of its campaign, and what that holds."""

    folder: Path
    pulls: Pulls
    held: Any

    @classmethod
    def made(cls, folder: Path) -> Self:
        """Make one."""
        pulls = make_folder(folder)
        return cls(folder, pulls, held_in(folder))

    def copied(self, to: Path) -> Path:
        """Make a copy of the folder."""
        shutil.copytree(self.folder, to, symlinks=True)
        return to


def unchanged(folder: Path, template: Template) -> bool:
    """Tell, at little cost, that a copy's database was not written to; False says nothing."""
    database, log = folder / "x.db", folder / "x.db-wal"
    return not log.exists() and database.read_bytes() == (template.folder / "x.db").read_bytes()


class Outcome(NamedTuple):
    """What came of a call: exit status (negative: the signal), standard output and standard error."""

    status: int
    out: bytes
    talk: str


Stop = tuple[signal.Signals, float]
"""A signal, and the seconds after which it is sent."""


class Call(Protocol):
    """Makes a call in a folder, and stops it if that is asked for."""

    def __call__(self, folder: Path, words: list[str], stop: Stop | None = None) -> Outcome: ...


def complaints(command: str, folder: Path, template: Template, outcome: Outcome) -> Iterator[str]:
    """Yield what must not have come of a call in a copy of the template."""
    status, out, talk = outcome
    new = files_in(folder) - files_in(template.folder)
    lines = talk.splitlines() or [""]
    if "Traceback" in talk or "Exception ignored" in talk:
        yield f"a traceback: {lines[-1]}"
    elif status not in ENDED_WELL.get(command, {0}) | {2}:
        yield f"exit status {status}: {talk[-300:]!r}"
    elif status == 2 and not lines[-1].startswith("cutline: "):
        yield f"no line that says what is wrong: {talk!r}"
    if not talk.replace("\n", "").replace("\r", "").isprintable():
        yield f"control characters: {talk!r}"
    if any(name.startswith(".") for name in new):
        yield f"files left behind: {new}"
    if command in ("run", "pytest") and new == {"new.db"}:
        new = set()  # the campaign is there before the first measurement, and what was measured is kept
    if status == 2 and (out or new):
        yield f"half of a result: {out[:100]!r}, {new}"
    for name in new:
        if name.endswith(".db") and not campaigns(str(folder / name)):
            yield f"{name} is a database without campaigns"
    if command in ("campaign delete", "campaign rename") and status == 0:
        return
    if not unchanged(folder, template) and held_in(folder) != template.held and status == 2:
        yield "a call that failed changed the campaign"


@contextmanager
def many_calls(where: Path, words: Sequence[str] = ()) -> Iterator[Call]:
    """Yield a function that makes a call in a folder; it takes little longer than the call itself.

    Calls like the one of these words, which is made first and in ``where``, find all loaded that it needs.
    """
    settings = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    settings |= {"OPENBLAS_NUM_THREADS": "1", "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "1s"}
    out, talk = where / "out", where / "talk"
    with subprocess.Popen(
        [sys.executable, forks.__file__, *words],
        cwd=where,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=settings,
    ) as server:
        to, back = server.stdin, server.stdout
        assert to is not None
        assert back is not None

        def call(folder: Path, words: list[str], stop: Stop | None = None) -> Outcome:
            for file in (out, talk):
                file.write_bytes(b"")
            what = {"folder": str(folder), "words": words, "out": str(out), "talk": str(talk)}
            to.write(json.dumps((stop, what)) + "\n")
            to.flush()
            return Outcome(int(back.readline()), out.read_bytes(), talk.read_text(encoding="utf-8"))

        yield call
        to.close()
