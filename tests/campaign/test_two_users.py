"""An SQLite file that several users read, and not all may write: readers leave nothing behind, and see everything.

Root may write whatever its permissions are, and alone can be two users. So these tests make the readers another user
where they run as root; elsewhere it is the permissions that keep the one user from writing.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cutline.campaign import Campaign

OWNER, OTHER, SHARED_GROUP = 52001, 52002, 52003
"""Numbers of users and of a group; nobody needs to know them."""

pytestmark = pytest.mark.process
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")

AS_USER = """
import contextlib, io, json, os, sys, tempfile, time
from pathlib import Path
from cutline.campaign import Campaign, campaigns
from cutline.cli import main
from cutline.errors import CutlineError

user, groups, path, program = int(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3], sys.argv[4]

def cutline(*words):
    sys.argv = ["cutline", *words]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stopped:
            return [stopped.code, out.getvalue(), err.getvalue()]

READING = (["campaign", "status"], ["campaign", "list"], ["campaign", "decisions"], ["export", "observations"],
           ["export", "decisions"])

def commands(path):
    return [cutline(*words, "--db", path) for words in READING]

with tempfile.TemporaryDirectory() as warm:  # loads all that will be needed, while it may be read
    with Campaign.create(warm + "/x.db", "c", ["a"], 0.5, "LSA", 2) as campaign:
        campaign.tell(campaign.ask()[0], 1)
    commands(warm + "/x.db")
if os.getuid() == 0:
    os.setgroups(groups)
    os.setgid(user)
    os.setuid(user)
exec(program)
"""


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Run a program with ``path``, ``Campaign`` and so on as another user, or if that cannot be, as this one."""
    with ExitStack() as stack:

        def start(program: str, path: Path, user: int = OTHER, groups: tuple[int, ...] = ()) -> "subprocess.Popen[str]":
            command = [sys.executable, "-c", AS_USER, str(user), json.dumps(groups), str(path), program]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd="/"
            )
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        yield start


def finish(process: "subprocess.Popen[str]") -> list[str]:
    """Let a program end; return its lines."""
    out, err = process.communicate(timeout=60)
    assert err == ""
    assert process.returncode == 0
    return out.splitlines()


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="cutline-users-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def make(path: Path, told: int = 3) -> list[str]:
    """Make a campaign of two arms; return the names in its folder, once it is closed."""
    with Campaign.create(path, "c", ["a", "b"], 0.5, "LSA", 1000) as campaign:
        for pull in campaign.ask(told):
            campaign.tell(pull, 1)
    return sorted(os.listdir(path.parent))


READ = "print(json.dumps(commands(path)))"
ASK = "print(len(Campaign.open(path, 'c').ask(2)))"


@pytest.fixture
def locked(folder: Path) -> Iterator[Path]:
    """A database, not open anywhere, in a folder where nobody may write; it must stay the same."""
    path = folder / "kept" / "x.db"
    path.parent.mkdir()
    make(path)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    before = path.read_bytes()
    yield path
    assert os.listdir(path.parent) == ["x.db"]
    assert path.read_bytes() == before
    path.parent.chmod(0o755)


def expected(start: Start, path: Path) -> list[list[object]]:
    """What the reading commands say of a database to somebody who may write it."""
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name) / path.name
        for item in path.parent.glob(path.name + "*"):
            shutil.copy(item, copy.with_name(item.name))
        (line,) = finish(start("os.chdir(os.path.dirname(path))\n" + READ, copy, user=0))
        said: list[list[object]] = json.loads(line)
        assert [item[0] for item in said] == [0] * 5
        return said


def test_a_database_in_a_read_only_folder_can_be_read_with_every_command(start: Start, locked: Path) -> None:
    (line,) = finish(start(READ, locked))
    assert json.loads(line) == expected(start, locked)


@pytest.mark.parametrize(("mode", "what"), [(0o444, "{}/x.db"), (0o666, "{}")], ids=["file", "folder"])
def test_who_asks_is_told_what_cannot_be_written(start: Start, locked: Path, mode: int, what: str) -> None:
    locked.chmod(mode)
    asking = "print(*cutline('campaign', 'ask', '--db', path)[::2], end='')"
    refusal = f"attempt to write a readonly database; this user may not write {what.format(locked.parent.resolve())}"
    assert finish(start(asking, locked)) == [f"2 cutline: {locked}: {refusal}"]


def test_a_database_in_use_is_read_with_all_that_is_not_in_its_file_yet(start: Start, folder: Path) -> None:
    path = folder / "x.db"
    with Campaign.create(path, "c", ["a", "b"], 0.5, "LSA", 1000) as campaign:
        for pull in campaign.ask(7):
            campaign.tell(pull, 1)
        for item in folder.iterdir():
            item.chmod(0o444)
        folder.chmod(0o555)
        before = sorted(os.listdir(folder))
        try:
            assert finish(start("print([status.spent for status in campaigns(path)])", path)) == ["[7]"]
            assert sorted(os.listdir(folder)) == before
            campaign.tell(campaign.ask()[0], 1)
            assert finish(start("print([status.spent for status in campaigns(path)])", path)) == ["[8]"]
        finally:
            folder.chmod(0o755)


def test_what_a_killed_writer_has_left_can_be_read(start: Start, folder: Path) -> None:
    path, copy = folder / "x.db", folder / "copies" / "x.db"
    copy.parent.mkdir()
    with Campaign.create(path, "c", ["a", "b"], 0.5, "LSA", 1000) as campaign:
        for pull in campaign.ask(7):
            campaign.tell(pull, 1)
        for item in folder.glob("x.db*"):
            shutil.copy(item, copy.with_name(item.name))
    for item in copy.parent.iterdir():
        item.chmod(0o444)
    copy.parent.chmod(0o555)
    read = "print([status.spent for status in campaigns(path)])"
    assert finish(start(read, copy)) == ["[7]"]
    assert len(os.listdir(copy.parent)) == 3
    copy.parent.chmod(0o755)
    copy.with_name("x.db-shm").unlink()
    copy.parent.chmod(0o555)
    tried = "try: campaigns(path)\nexcept CutlineError as error: print(error)"
    assert finish(start(tried, copy)) == [
        f"{copy}: not closed properly; let a user who may write it, and its folder, open it once"
    ]
    assert len(os.listdir(copy.parent)) == 2
    copy.parent.chmod(0o755)


READ_ON = """
print("ready", flush=True)
seen = []
while not seen or seen[-1] < 60:
    seen.append(campaigns(path)[0].spent)
print(seen == sorted(seen), len(set(seen)) > 3)
"""


@pytest.mark.slow
def test_a_reader_without_locks_sees_whole_states_while_others_open_write_and_close(start: Start, folder: Path) -> None:
    path = folder / "x.db"
    make(path, told=1)
    path.chmod(0o444)
    if os.getuid() != 0:
        pytest.skip("the writer must be one who may write what the reader may not: root")
    reader = start(READ_ON, path)
    assert reader.stdout is not None
    assert reader.stdout.readline() == "ready\n"
    for _ in range(60):
        with Campaign.open(path, "c") as campaign:
            campaign.tell(campaign.ask()[0], 1)
    assert finish(reader) == ["True True"]
    assert os.listdir(folder) == ["x.db"]


@only_root
@pytest.mark.parametrize("open_meanwhile", [False, True])
@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o755])
def test_readers_of_another_user_leave_nothing_and_do_not_lock_the_owner_out(
    start: Start, folder: Path, mode: int, open_meanwhile: bool
) -> None:
    path = folder / "x.db"
    os.chown(folder, OWNER, OWNER)
    folder.chmod(mode)
    owner = start(
        "with Campaign.create(path, 'c', ['a', 'b'], 0.5, 'LSA', 1000) as campaign:\n"
        " campaign.ask(2); print('made', flush=True); sys.stdin.read()",
        path,
        OWNER,
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "made\n"
    if not open_meanwhile:
        finish(owner)
    before = sorted(os.listdir(folder))
    (line,) = finish(start(READ, path))
    assert [item[0] for item in json.loads(line)] == [0] * 5
    assert sorted(os.listdir(folder)) == before
    assert finish(start(ASK, path, OWNER)) == ["2"]
    if open_meanwhile:
        finish(owner)
    assert os.listdir(folder) == ["x.db"]


@only_root
def test_users_who_share_a_file_by_its_group_can_write_while_others_have_it_open(start: Start, folder: Path) -> None:
    path = folder / "x.db"
    make(path)
    for item, mode in ((folder, 0o775), (path, 0o664)):
        os.chown(item, OWNER, SHARED_GROUP)
        item.chmod(mode)
    holding = "with Campaign.open(path, 'c') as campaign: campaign.ask(); print('open', flush=True); sys.stdin.read()"
    other = start(holding, path, OTHER, (SHARED_GROUP,))
    assert other.stdout is not None
    assert other.stdout.readline() == "open\n"
    assert finish(start(ASK, path, OWNER, (SHARED_GROUP,))) == ["2"]
    other.kill()
    other.communicate()
    assert finish(start(ASK, path, OWNER, (SHARED_GROUP,))) == ["2"]
