"""The order of equal arms, what a creation that fails leaves, and where no campaign can be created."""

import os
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

import forking
from campaign_contract.campaigns import arms
from cutline.campaign import Campaign, campaigns
from cutline.campaign.checks import check_policy
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.store import Store
from cutline.campaign.operations.changing import creation
from cutline.campaign.settings import Settings
from cutline.errors import CutlineError, InvalidInputError, NotFoundError, StoreError


@pytest.mark.slow
def test_equal_arms_are_first_equally_often_over_many_seeds(tmp_path: Path) -> None:
    seeds, count = 500, 5
    first: Counter[str] = Counter()
    with Store.connect(tmp_path / "campaigns.db", create=True) as store:
        for seed in range(seeds):
            settings = Settings(0.5, check_policy("LSA"), 10, seed=seed)
            campaign = creation.create(store, f"seed {seed}", arms(count), settings)
            first[Campaign(store, campaign, Clock()).ask()[0].arm] += 1

    def fits(seen: list[int]) -> bool:
        chi_square = sum((n - seeds / count) ** 2 for n in seen) / (seeds / count)
        return chi_square < 33.38  # exceeded with probability 1e-6 by chi-square with 4 degrees of freedom

    assert fits([first[arm] for arm in arms(count)])
    assert not fits([167, 83, 83, 83, 84])  # the first arm has twice the chance


class FaultError(Exception):
    """What a list of arms raises in its midst."""


def broken_arms() -> Iterator[str]:
    yield from arms(20_000)
    raise FaultError


@pytest.mark.parametrize("there", [False, True])
def test_a_creation_that_fails_leaves_neither_a_file_nor_tables(tmp_path: Path, there: bool) -> None:
    path = tmp_path / "x.db"
    if there:
        path.touch()
    with pytest.raises(FaultError):
        Campaign.create(path, "c", broken_arms(), 0.5, "LSA", 9)
    assert os.listdir(tmp_path) == (["x.db"] if there else [])
    if there:
        assert path.read_bytes() == b""


def test_a_creation_that_fails_leaves_no_tables_on_postgresql(postgresql: str) -> None:
    with pytest.raises(FaultError):
        Campaign.create(postgresql, "c", broken_arms(), 0.5, "LSA", 9)
    with psycopg.connect(postgresql) as connection:
        there = connection.execute("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()").fetchone()
    assert there == (0,)
    Campaign.create(postgresql, "c", ["a"], 0.5, "LSA", 9).close()


def test_a_creation_that_fails_leaves_the_other_campaigns(tmp_path: Path) -> None:
    Campaign.create(tmp_path / "x.db", "first", ["a"], 0.5, "LSA", 9).close()
    with pytest.raises(FaultError):
        Campaign.create(tmp_path / "x.db", "c", broken_arms(), 0.5, "LSA", 9)
    assert [status.name for status in campaigns(tmp_path / "x.db")] == ["first"]


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]),) * 2)
from cutline.campaign import Campaign
from cutline.errors import StoreError
try:
    Campaign.create(sys.argv[1], "c", map(str, range(20_000)), 0.5, "LSA", 9)
except StoreError as error:
    print(error)
"""


@pytest.mark.process
@pytest.mark.parametrize("most", [0, 100, 5000, 50_000, 1_000_000])
def test_a_creation_that_a_full_disk_ends_leaves_nothing(tmp_path: Path, most: int) -> None:
    out, talk, status = forking.run(LIMITED, tmp_path / "x.db", most)
    assert (talk, status) == ("", 0)
    assert out.startswith(f"{tmp_path}/x.db: ")
    assert out.count("\n") == 1
    assert os.listdir(tmp_path) == []


SLOW = """
import os, sys
from cutline.campaign.database.connecting import sqlite_file
make = sqlite_file.SqliteFile._make
def note(file):
    make(file)
    loaded = "cutline.campaign.database.tables" in sys.modules and "alembic" not in sys.modules
    print(loaded, os.listdir(os.path.dirname(sys.argv[1])), flush=True)
    os.kill(os.getpid(), 9)
sqlite_file.SqliteFile._make = note
from cutline.campaign import Campaign
Campaign.create(sys.argv[1], "c", ["a"], 0.5, "LSA", 9)
"""


def test_the_file_is_made_when_all_that_takes_time_is_loaded(tmp_path: Path) -> None:
    """A process killed just then leaves an empty file, which is as good as none."""
    path = tmp_path / "x.db"
    done = subprocess.run([sys.executable, "-c", SLOW, path], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ("True ['x.db']\n", "", -9)
    with pytest.raises(NotFoundError, match="there are no campaigns in this database"):
        campaigns(path)
    Campaign.create(path, "c", ["a"], 0.5, "LSA", 9).close()
    assert os.listdir(tmp_path) == ["x.db"]


def test_who_waited_for_a_creation_that_failed_is_told_to_begin_anew(tmp_path: Path) -> None:
    """Else it would fill a file that is in no folder any more."""
    path = tmp_path / "x.db"
    first, second = Store.connect(path, create=True), Store.connect(path, create=True)
    settings = Settings(0.5, check_policy("LSA"), 10)
    first.close()
    assert not path.exists()
    with second, pytest.raises(StoreError, match=r"x\.db: the file was removed or replaced while it was in use"):
        creation.create(second, "c", ["a"], settings)
    assert os.listdir(tmp_path) == []


def test_a_database_of_somebody_else_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE notes (text)")
    before = path.read_bytes()
    for use in (lambda: campaigns(path), lambda: Campaign.open(path, "c")):
        with pytest.raises(NotFoundError, match="there are no campaigns in this database"):
            use()
    with pytest.raises(FaultError):
        Campaign.create(path, "c", broken_arms(), 0.5, "LSA", 9)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["notes.db"]


def test_what_is_no_file_is_refused_and_named(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "link").symlink_to("folder")
    paths = {
        "folder": "this is a folder, not a database; give the path of a file",
        "link": "this is a folder, not a database; give the path of a file",
        "pipe": "this is a device or a pipe, not a database; give the path of a file",
        "loop": "unable to open database file: Too many levels of symbolic links",
        "x" * 300: "unable to open database file: File name too long",
    }
    for name, message in paths.items():
        path = tmp_path / name
        for use in (
            lambda path=path: campaigns(path),
            lambda path=path: Campaign.create(path, "c", ["a"], 0.5, "LSA", 9),
        ):
            with pytest.raises(CutlineError) as caught:
                use()
            assert str(caught.value) == f"{path}: {message}"
    with pytest.raises(InvalidInputError, match=r"^/dev/null: this is a device or a pipe"):
        Campaign.create("/dev/null", "c", ["a"], 0.5, "LSA", 9)


@pytest.mark.parametrize("name", [b"\xff.db", "\N{SNOWMAN}%20?#.db".encode(), b"tab\t\n.db"])
def test_a_file_may_have_any_name(tmp_path: Path, name: bytes) -> None:
    path = os.path.join(os.fsencode(tmp_path), name)
    Campaign.create(os.fsdecode(path), "c", ["a"], 0.5, "LSA", 9).close()
    assert os.listdir(os.fsencode(tmp_path)) == [name]
    assert [status.name for status in campaigns(os.fsdecode(path))] == ["c"]
