"""An SQLite file that several users read, and not all may write: readers leave nothing behind, and see everything.

Root may write whatever its permissions are, and alone can be two users. So these tests make the readers another user
where they run as root; elsewhere it is the permissions that keep the one user from writing.
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cutline.campaign import Campaign
from forking import kill
from users import Program, make

OWNER, OTHER, SHARED_GROUP = 52001, 52002, 52003
"""Numbers of users and of a group; nobody needs to know them."""

pytestmark = pytest.mark.process
only_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can be two users")

Start = Callable[..., Program]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a program as another user."""
    with ExitStack() as stack:

        def start(text: str, path: Path, user: int = OTHER, groups: tuple[int, ...] = ()) -> Program:
            program = Program.start(text, path, user, groups)
            stack.callback(program.close)
            return program

        yield start


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody may enter."""
    with tempfile.TemporaryDirectory(prefix="cutline-users-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


SPENT = "say([status.spent for status in campaigns(path)])"
READ = "say(commands(path))"
ASK = "with Campaign.open(path, 'c') as campaign: say(len(campaign.ask(2)))"


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
        (said,) = start("os.chdir(os.path.dirname(path))\n" + READ, copy, user=0).finish()
        assert [item[0] for item in said] == [0] * 5
        return list(said)


def test_a_database_in_a_read_only_folder_can_be_read_with_every_command(start: Start, locked: Path) -> None:
    assert start(READ, locked).finish() == [expected(start, locked)]


@pytest.mark.parametrize(("mode", "what"), [(0o444, "{}/x.db"), (0o666, "{}")], ids=["file", "folder"])
def test_who_asks_is_told_what_cannot_be_written(start: Start, locked: Path, mode: int, what: str) -> None:
    locked.chmod(mode)
    asking = "say(cutline('campaign', 'ask', '--db', path))"
    refusal = f"attempt to write a readonly database; this user may not write {what.format(locked.parent.resolve())}"
    assert start(asking, locked).finish() == [[2, "", f"cutline: {locked}: {refusal}\n"]]


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
            assert start(SPENT, path).finish() == [[7]]
            assert sorted(os.listdir(folder)) == before
            campaign.tell(campaign.ask()[0], 1)
            assert start(SPENT, path).finish() == [[8]]
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
    assert start(SPENT, copy).finish() == [[7]]
    assert len(os.listdir(copy.parent)) == 3
    copy.parent.chmod(0o755)
    copy.with_name("x.db-shm").unlink()
    copy.parent.chmod(0o555)
    tried = "try: campaigns(path)\nexcept CutlineError as error: say(str(error))"
    assert start(tried, copy).finish() == [
        f"{copy}: not closed properly; let a user who may write it, and its folder, open it once"
    ]
    assert len(os.listdir(copy.parent)) == 2
    copy.parent.chmod(0o755)


READ_ON = """
say("ready")
seen = []
while not seen or seen[-1] < 60:
    seen.append(campaigns(path)[0].spent)
say([seen == sorted(seen), len(set(seen)) > 3])
"""


@pytest.mark.slow
def test_a_reader_without_locks_sees_whole_states_while_others_open_write_and_close(start: Start, folder: Path) -> None:
    path = folder / "x.db"
    make(path, told=1)
    path.chmod(0o444)
    if os.getuid() != 0:
        pytest.skip("the writer must be one who may write what the reader may not: root")
    reader = start(READ_ON, path)
    assert reader.heard() == "ready"
    for _ in range(60):
        with Campaign.open(path, "c") as campaign:
            campaign.tell(campaign.ask()[0], 1)
    assert reader.finish() == [[True, True]]
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
        " campaign.ask(2); say('made'); wait()",
        path,
        OWNER,
    )
    assert owner.heard() == "made"
    if not open_meanwhile:
        owner.finish()
    before = sorted(os.listdir(folder))
    (said,) = start(READ, path).finish()
    assert [item[0] for item in said] == [0] * 5
    assert sorted(os.listdir(folder)) == before
    assert start(ASK, path, OWNER).finish() == [2]
    if open_meanwhile:
        owner.finish()
    assert os.listdir(folder) == ["x.db"]


@only_root
def test_users_who_share_a_file_by_its_group_can_write_while_others_have_it_open(start: Start, folder: Path) -> None:
    path = folder / "x.db"
    make(path)
    for item, mode in ((folder, 0o775), (path, 0o664)):
        os.chown(item, OWNER, SHARED_GROUP)
        item.chmod(mode)
    holding = "with Campaign.open(path, 'c') as campaign: campaign.ask(); say('open'); wait()"
    other = start(holding, path, OTHER, (SHARED_GROUP,))
    assert other.heard() == "open"
    assert start(ASK, path, OWNER, (SHARED_GROUP,)).finish() == [2]
    kill(other.process)
    assert start(ASK, path, OWNER, (SHARED_GROUP,)).finish() == [2]
