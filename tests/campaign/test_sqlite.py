"""Campaigns in an SQLite file."""

import logging
import os
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

from campaign_contract import CampaignContract, SharedCampaignContract
from campaign_contract.campaigns import arms, one
from campaign_contract.creating import ManyArms
from cutline.campaign import Campaign, campaigns, delete
from cutline.campaign.database import prepared
from cutline.campaign.database.connecting import engines
from cutline.campaign.database.connecting.sqlite_file import prepare
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.rows import arms_and_pulls, counters, imports, progress, requests
from cutline.campaign.operations.asking import asking
from cutline.campaign.operations.changing import creation, naming
from cutline.campaign.operations.observing import known
from cutline.campaign.operations.reading import deciding, remembering
from cutline.campaign.operations.telling import telling
from cutline.errors import InvalidInputError, NotFoundError, StoreError
from ledger import audit, dump, rows as query_rows

TERMS = (["a"], 0.5, "LSA", 10)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "campaigns.db"


class TestOnSQLite(CampaignContract, ManyArms):
    @pytest.fixture
    def url(self, path: Path) -> str:
        return str(path)


class TestSharedOnSQLite(SharedCampaignContract):
    @pytest.fixture
    def url(self, path: Path) -> str:
        return f"sqlite:///{path}"


@pytest.mark.parametrize("form", ["{}", "sqlite:///{}", "sqlite+pysqlite:///{}"])
def test_a_path_and_a_url_name_the_same_database(path: Path, form: str) -> None:
    with Campaign.create(path, "c", *TERMS) as made, Campaign.open(form.format(path), "c") as opened:
        opened.tell(one(made), 1)
        assert made.status().spent == 1


@pytest.mark.parametrize("strange", ["with space.db", "100%.db", "é?.db", "#x.db", "a:b.db"])
def test_a_strange_file_name_is_taken_as_it_stands(tmp_path: Path, strange: str) -> None:
    Campaign.create(tmp_path / strange, "c", *TERMS).close()
    assert (tmp_path / strange).is_file()
    assert [status.name for status in campaigns(tmp_path / strange)] == ["c"]


@pytest.mark.parametrize("url", ["mysql://host/db", "sqlite://", "sqlite:///:memory:", "nonsense://", "://", ""])
def test_a_url_that_names_no_database_of_ours_is_refused(url: str) -> None:
    with pytest.raises(InvalidInputError, match="the path of a file"):
        campaigns(url)
    with pytest.raises(InvalidInputError, match="the path of a file"):
        Campaign.create(url, "c", *TERMS)


def test_opening_makes_no_file(path: Path) -> None:
    for use in (lambda: Campaign.open(path, "c"), lambda: campaigns(path), lambda: delete(path, "c")):
        with pytest.raises(NotFoundError, match=r"campaigns\.db: there is no such database"):
            use()
    assert not path.exists()


def test_a_database_without_campaigns_stays_as_it_is(path: Path) -> None:
    path.touch()
    with pytest.raises(NotFoundError, match="there are no campaigns in this database"):
        campaigns(path)
    with Campaign.create(path, "c", *TERMS) as campaign:
        assert campaign.status().left == 10


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"there is no folder .*missing"):
        Campaign.create(tmp_path / "missing" / "c.db", "c", *TERMS)


def test_a_file_that_is_no_database_is_refused_and_stays(path: Path) -> None:
    path.write_text("arm,reward\n" * 1000)
    for use in (lambda: campaigns(path), lambda: Campaign.create(path, "c", *TERMS)):
        with pytest.raises(StoreError, match=r"campaigns\.db: file is not a database"):
            use()
    assert path.read_text() == "arm,reward\n" * 1000


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_somebody_has_removed_takes_no_more_results(path: Path, replaced: bool) -> None:
    with Campaign.create(path, "c", *TERMS) as campaign:
        pull = one(campaign)
        path.unlink()
        if replaced:
            Campaign.create(path, "c", *TERMS).close()
        for use in (lambda: campaign.tell(pull, 1), campaign.ask, lambda: campaign.observe("a", 1)):
            with pytest.raises(
                StoreError, match=r"campaigns\.db: the file was removed or replaced while it was in use"
            ):
                use()
    if replaced:
        assert [(status.spent, status.in_flight) for status in campaigns(path)] == [(0, 0)]


def test_a_database_that_somebody_holds_is_an_error_in_one_line(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "PATIENCE", 0.4)
    with Campaign.create(path, "c", *TERMS) as campaign, closing(sqlite3.connect(path, isolation_level=None)) as other:
        pull = one(campaign)
        other.execute("BEGIN IMMEDIATE")
        assert campaign.status().in_flight == 1
        with pytest.raises(StoreError) as caught:
            campaign.tell(pull, 1)
        assert str(caught.value) == f"{path}: database is locked: others were at work on it for 0 s; try again"
        other.execute("ROLLBACK")
        assert campaign.tell(pull, 1)


def test_a_full_disk_is_an_error_and_leaves_the_database_as_before(path: Path) -> None:
    with Campaign.create(path, "c", arms(300), 0.5, "LSA", 10**6) as campaign:
        pull = one(campaign)
        (pages,) = query_rows(campaign, "PRAGMA page_count")[0]
        query_rows(campaign, f"PRAGMA max_page_count = {pages + 3}")
        before = dump(campaign)
        for use in (
            lambda: campaign.ask(5000),
            lambda: campaign.observe_many([("arm 0", 1, None, f"key {i}") for i in range(5000)]),
        ):
            with pytest.raises(StoreError, match=r"campaigns\.db: database or disk is full"):
                use()
            assert dump(campaign) == before
        query_rows(campaign, "PRAGMA max_page_count = 1000000")
        campaign.tell(pull, 1)
        assert len(campaign.ask(5000)) == 5000
        audit(campaign)


def test_a_disk_that_is_full_from_the_start_is_an_error(path: Path) -> None:
    with Campaign.create(path, "small", *TERMS) as campaign:
        (pages,) = query_rows(campaign, "PRAGMA page_count")[0]
        query_rows(campaign, f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(StoreError, match="database or disk is full"):
            creation.create(campaign._store, "large", arms(10_000), campaign.settings)
        assert [status.name for status in campaigns(path)] == ["small"]


READ_ONLY = """
import os, sys
from cutline.campaign import Campaign, campaigns
from cutline.errors import StoreError
path = sys.argv[1]
with Campaign.create(path + ".warm", "c", ["a"], 0.5, "LSA", 1) as campaign:  # loads all that will be needed
    campaign.ask()
if os.getuid() == 0:  # to whom nothing is read-only
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
for use in (
    lambda: Campaign.create(path, "other", ["a"], 0.5, "LSA", 1),
    lambda: Campaign.open(path, "c").ask(),
    lambda: Campaign.open(path, "c").observe("a", 1),
):
    try:
        use()
    except StoreError as error:
        print(error)
"""


@pytest.mark.process
@pytest.mark.parametrize("in_use", [True, False])
def test_a_read_only_file_is_an_error_and_stays_as_before(in_use: bool) -> None:
    with tempfile.TemporaryDirectory(prefix="cutline-read-only-") as name:
        folder = Path(name)
        path = folder / "kept" / "campaigns.db"
        path.parent.mkdir()
        folder.chmod(0o755)
        campaign = Campaign.create(path, "c", *TERMS)
        if not in_use:
            campaign.close()
        before = path.read_bytes()
        for item in (*path.parent.iterdir(), path.parent):
            item.chmod(0o555 if item.is_dir() else 0o444)
        (folder / "x").mkdir()
        script = READ_ONLY.replace('path + ".warm"', repr(str(folder / "x" / "warm.db")))
        done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
        path.parent.chmod(0o755)
        assert done.stderr == ""
        lines = done.stdout.splitlines()
        assert len(lines) == 3
        assert all(line.startswith(f"{path}: ") for line in lines)
        assert all("readonly database" in line or "unable to open database file" in line for line in lines)
        assert path.read_bytes() == before
        campaign.close()


PLANS = [
    ("_LOCK_COUNTERS", asking._LOCK_COUNTERS, "COVERING INDEX cutline_pulls_expires (campaign_id=? AND expires>?)"),
    ("_ENDED", asking._ENDED, "INDEX cutline_pulls_expires (campaign_id=? AND expires<?)"),
    ("_QUEUE", asking._QUEUE, "INDEX cutline_arms_queue (campaign_id=? AND index_value<?)"),
    ("_WORKER_QUEUE", asking._WORKER_QUEUE, "INDEX cutline_arms_queue (campaign_id=? AND index_value<?)"),
    ("_MINE", asking._WORKER_QUEUE, "INDEX cutline_pulls_worker (worker_digest=? AND arm=?)"),
    ("_HAS_AGAIN", telling._HAS_AGAIN, "INDEX cutline_pulls_worker (worker_digest=? AND arm=?)"),
    ("_STATUS", Prepared(counters._STATUS), "COVERING INDEX cutline_arms_queue (campaign_id=? AND index_value<?)"),
    ("known of _STATUS", Prepared(counters._STATUS), "INDEX cutline_arms_known (campaign_id=? AND pulls>?)"),
    ("_ALL", Prepared(deciding._ALL), "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    ("_NEXT_ARMS", imports._NEXT_ARMS, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    ("_OVERTAKEN", Prepared(imports._OVERTAKEN), "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    ("_PULLS", Prepared(remembering._PULLS), "INDEX cutline_pulls_arm (arm=?)"),
    ("_CORRECTIONS", Prepared(remembering._CORRECTIONS), "COVERING INDEX cutline_pulls_arm (arm=? AND rowid>?)"),
    ("_FIND", requests._FIND, "INDEX sqlite_autoindex_cutline_requests_1 (digest=?)"),
    ("_PULLS of a request", requests._PULLS, "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    ("_FORGET", requests._FORGET, "INDEX cutline_requests_expires (campaign_id=? AND expires<?)"),
    ("_POINTS", progress._POINTS, "INDEX sqlite_autoindex_cutline_progress_1 (campaign_id=?)"),
    ("_RESULTS", Prepared(deciding._RESULTS), "INTEGER PRIMARY KEY (rowid>? AND rowid<?)"),
    *(
        (f"{name} {size}", many._statement(size), how)
        for name, many, how in (
            ("_LOCK_ARMS", arms_and_pulls._LOCK_ARMS, "INTEGER PRIMARY KEY (rowid=?)"),
            ("_TRY_ARMS", arms_and_pulls._TRY_ARMS, "INTEGER PRIMARY KEY (rowid=?)"),
            ("_LOCK_PULLS", arms_and_pulls._LOCK_PULLS, "INTEGER PRIMARY KEY (rowid=?)"),
            ("_OWN", known._OWN, "INTEGER PRIMARY KEY (rowid=?)"),
            ("_NAMED", naming._NAMED, "COVERING INDEX cutline_arms_name (name_digest=?)"),
            ("_KEYED", known._KEYED, "INDEX cutline_pulls_key (key_digest=?)"),
            ("_CHANGES", imports._CHANGES, "INTEGER PRIMARY KEY (rowid=?)"),
            ("_FATES", imports._FATES, "INTEGER PRIMARY KEY (rowid=?)"),
        )
        for size in prepared._SIZES
    ),
]


@pytest.mark.parametrize(("statement", "how"), [plan[1:] for plan in PLANS], ids=[plan[0] for plan in PLANS])
def test_no_statement_reads_more_of_a_campaign_than_it_needs(path: Path, statement: Prepared, how: str) -> None:
    with Campaign.create(path, "c", *TERMS) as campaign, campaign._store.engine.connect() as connection:
        query, order, _ = statement._for(connection)
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", tuple([1] * len(order))).all()
    lines = [row[-1] for row in plan]
    assert any(line.endswith(f"USING {how}") for line in lines), lines
    assert not any("TEMP B-TREE FOR ORDER" in line or line.startswith("SCAN") for line in lines)


def test_without_psycopg_a_postgresql_url_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(ImportError, match=r"pip install 'cutline\[postgres\]'"):
        campaigns("postgresql://localhost/db")


def test_a_stop_while_a_connection_is_closed_is_raised_and_not_printed(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    campaign = Campaign.create(str(path), "c", *TERMS)
    campaign.status()  # has a connection
    monkeypatch.setattr(logging.root, "handlers", [])  # as in a program that has set up no logging
    monkeypatch.setattr(SQLiteDialect_pysqlite, "do_close", stopped)
    with pytest.raises(KeyboardInterrupt):
        campaign.close()
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("said", ["disk I/O error", "database or disk is full"])
def test_a_full_disk_is_called_so_and_a_broken_one_is_not(
    path: Path, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    path.touch()
    database = engines.open_database(str(path), create=False)
    assert str(database.explain(Exception(said))) == f"{path}: {said}"
    full = os.statvfs_result((4096, 4096, 100, 15, 15, 9, 9, 9, 0, 255))  # 15 free blocks
    monkeypatch.setattr(os, "statvfs", lambda _: full)
    assert str(database.explain(Exception(said))) == f"{path}: the disk is full; make room on it and try again"


def test_wal_mode_is_waited_for_where_sqlite_refuses_it_at_once(path: Path) -> None:
    Campaign.create(str(path), "c", *TERMS).close()
    with (
        closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other,
        closing(sqlite3.connect(path, timeout=0)) as mine,
    ):
        other.execute("PRAGMA journal_mode=DELETE")
        other.execute("BEGIN")
        other.execute("SELECT * FROM sqlite_master").fetchall()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            mine.execute("PRAGMA journal_mode=WAL")
        end = threading.Timer(0.2, other.close)
        end.start()
        prepare(mine, None)
        end.join()
        assert mine.execute("PRAGMA journal_mode").fetchone() == ("wal",)
