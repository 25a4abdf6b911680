"""Campaigns on PostgreSQL."""

import re
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection

from campaign_contract import CampaignContract, SharedCampaignContract
from campaign_contract.campaigns import arms, asked, one
from campaign_contract.creating import ManyArms
from cutline.campaign import Campaign, campaigns
from cutline.campaign.database.connecting import engines
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.rows import arms_and_pulls
from cutline.campaign.database.rows.arms_and_pulls import lock_pulls_and_arms
from cutline.campaign.operations.asking import asking
from cutline.campaign.operations.asking.wanted import Wanted
from cutline.campaign.operations.changing import naming
from cutline.campaign.operations.observing import known
from cutline.errors import StoreError
from ledger import audit, dump, rows as query_rows


class TestOnPostgreSQL(CampaignContract, ManyArms):
    @pytest.fixture
    def url(self, postgresql_without_campaigns: str) -> str:
        return postgresql_without_campaigns


class TestSharedOnPostgreSQL(SharedCampaignContract):
    @pytest.fixture
    def url(self, postgresql: str) -> str:
        return postgresql


def test_a_read_only_database_is_an_error_and_stays_as_before(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", ["a"], 0.5, "LSA", 10) as campaign:
        pull = one(campaign)
        before = dump(campaign)
        with Campaign.open(f"{postgresql}%20-cdefault_transaction_read_only=on", "c") as reader:
            assert reader.status() == campaign.status()
            for use in (reader.ask, lambda: reader.tell(pull, 1), lambda: reader.observe("a", 1)):
                with pytest.raises(StoreError, match="read-only transaction"):
                    use()
        assert dump(campaign) == before


FULL = """
CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN
    RAISE EXCEPTION 'could not extend file "base/5/16384": No space left on device'
    USING ERRCODE = 'disk_full', HINT = 'Check free disk space.';
END $$
"""
"""What PostgreSQL raises where a file cannot grow."""

WRITTEN = "TRIGGER full_disk BEFORE INSERT OR UPDATE ON {} FOR EACH ROW"
COMMITTED = "CONSTRAINT TRIGGER full_disk AFTER INSERT OR UPDATE ON {} DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"


@pytest.mark.parametrize("when", [WRITTEN, COMMITTED], ids=["written", "committed"])
@pytest.mark.parametrize("table", ["cutline_arms", "cutline_pulls", "cutline_campaigns"])
def test_a_full_disk_is_an_error_in_one_line_and_leaves_the_database_as_before(
    postgresql: str, table: str, when: str
) -> None:
    with Campaign.create(postgresql, "c", arms(3), 0.5, "LSA", 100) as campaign:
        pull, other = campaign.ask(2)
        before = dump(campaign)
        uses: list[Callable[[], Any]] = [
            lambda: campaign.ask(3),
            lambda: campaign.tell(pull, 1),
            lambda: campaign.abandon(other),
            lambda: campaign.observe_many([("arm 0", 1, None, f"key {i}") for i in range(5)]),
        ]
        with psycopg.connect(postgresql, autocommit=True) as server:
            server.execute(FULL)
            server.execute(f"CREATE {when.format(table)} EXECUTE FUNCTION full_disk()")
            for use in uses:
                with pytest.raises(StoreError) as caught:
                    use()
                assert str(caught.value).endswith(': could not extend file "base/5/16384": No space left on device')
                assert "\n" not in str(caught.value)
                assert dump(campaign) == before
            server.execute(f"DROP TRIGGER full_disk ON {table}")
        assert [len(uses[0]()), uses[1](), uses[2](), uses[3]()] == [3, True, None, 5]
        audit(campaign)


@pytest.mark.process
def test_a_full_disk_lets_no_command_say_more_than_one_line(postgresql: str, tmp_path: Path) -> None:
    """In a process of its own: what a library logs counts."""
    arms_file = tmp_path / "arms.txt"
    arms_file.write_text("a\nb\n")
    with Campaign.create(postgresql, "c", ["a", "b"], 0.5, "LSA", 100) as campaign:
        pull = one(campaign)
        before = dump(campaign)
        with psycopg.connect(postgresql, autocommit=True) as server:
            server.execute(FULL)
            server.execute(f"CREATE {WRITTEN.format('cutline_arms')} EXECUTE FUNCTION full_disk()")
            for words in (
                ["tell", pull.id, "1"],
                ["create", "--campaign", "d", "--arms", arms_file, "--threshold", "0.5", "--budget", "9"],
            ):
                command = [sys.executable, "-m", "cutline", "campaign", *words, "--db", postgresql]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                assert (done.returncode, done.stdout) == (2, "")
                assert done.stderr.startswith("cutline: postgresql://")
                assert done.stderr.endswith("No space left on device\n")
                assert done.stderr.count("\n") == 1
        assert dump(campaign) == before
        assert [status.name for status in campaigns(postgresql)] == ["c"]


def test_a_server_that_ends_a_connection_is_an_error_and_the_next_call_has_a_new_one(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", arms(3), 0.5, "LSA", 100) as campaign:
        pull = one(campaign)
        before = dump(campaign)
        for use in (campaign.status, campaign.ask, lambda: campaign.tell(pull, 1)):
            ((backend,),) = query_rows(campaign, "SELECT pg_backend_pid()")
            with psycopg.connect(postgresql, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
            with pytest.raises(StoreError, match="connection"):
                use()
            assert dump(campaign) == before
        assert campaign.tell(pull, 1)


def test_ctrl_c_is_no_error_of_a_database_that_cannot_roll_back_any_more(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", arms(3), 0.5, "LSA", 100) as campaign:

        def interrupted(connection: Connection) -> None:
            backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
            with psycopg.connect(postgresql, autocommit=True) as other:
                other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend])
            raise KeyboardInterrupt

        for use in (campaign._store.write, campaign._store.read):
            with pytest.raises(KeyboardInterrupt):
                use(interrupted)
        assert campaign.status().spent == 0


FREE = "SELECT name FROM cutline_arms ORDER BY index_value, position, number FOR NO KEY UPDATE SKIP LOCKED"
HOLD = "SELECT number FROM cutline_arms WHERE name = ANY(%s) FOR NO KEY UPDATE"


def weighed(url: str, count: int) -> Campaign:
    return Campaign.create(url, "c", arms(count), 0.5, "LSA", 100, workers="weighed")


def test_an_ask_of_a_weighed_crowd_locks_the_arm_that_the_worker_gets_and_no_other(postgresql: str) -> None:
    with weighed(postgresql, 10) as campaign, psycopg.connect(postgresql) as other:
        every = [name for (name,) in other.execute(FREE)]
        other.rollback()

        def ask_and_look(connection: Connection) -> tuple[list[str], list[str]]:
            wanted = Wanted(2, "ann", 600.0, frozenset(), False, None)
            pulls, _ = asking._ask(connection, campaign._identity, campaign._clock, wanted)
            return [pull.arm for pull in pulls], [name for (name,) in other.execute(FREE)]

        assert campaign._store.write(ask_and_look, pipelined=True) == (every[:2], every[2:])


def test_a_worker_of_a_weighed_crowd_gets_the_best_arm_that_nobody_is_telling(postgresql: str) -> None:
    with weighed(postgresql, 10) as campaign, psycopg.connect(postgresql) as other:
        every = [name for (name,) in other.execute(FREE)]
        other.rollback()
        other.execute(HOLD, [every[:9:2]])
        assert asked(campaign, 2, worker="ann") == [every[1], every[3]]
        other.execute(HOLD, [every[:9]])
        assert asked(campaign, 1, worker="bob") == [every[9]]
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(asked, campaign, 10, worker="eve")  # there are ten for her, so she waits for them
            assert not wait([waiting], 0.3).done
            other.rollback()
            assert waiting.result() == sorted(every, key=lambda name: name in (every[1], every[3], every[9]))
        audit(campaign)


def test_a_server_out_of_reach_is_an_error_in_one_line() -> None:
    with pytest.raises(StoreError) as caught:
        Campaign.open("postgresql://somebody:secret@127.0.0.1:1/nothing", "c")
    assert str(caught.value).startswith("postgresql://somebody:***@127.0.0.1:1/nothing: ")
    assert "\n" not in str(caught.value)


def test_a_connection_that_the_server_dropped_in_a_pause_is_replaced(
    postgresql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Campaign.create(postgresql, "c", arms(3), 0.5, "LSA", 10) as campaign:
        ((backend,),) = query_rows(campaign, "SELECT pg_backend_pid()")
        with psycopg.connect(postgresql, autocommit=True) as other:
            assert other.execute("SELECT pg_terminate_backend(%s, 5000)", [backend]).fetchall() == [(True,)]
        monkeypatch.setattr(engines, "PAUSE", -1.0)
        assert campaign.tell(one(campaign), 1)


def test_a_transaction_that_postgresql_ended_for_a_deadlock_is_done_again(postgresql: str) -> None:
    with (
        Campaign.create(postgresql, "c", arms(2), 0.5, "LSA", 10) as campaign,
        ThreadPoolExecutor(2) as pool,
    ):
        both_hold_one = threading.Barrier(2)
        tries: list[int] = []

        def lock(first: int, second: int, connection: Connection) -> int:
            tries.append(first)
            lock_pulls_and_arms(connection, campaign._identity, (), [campaign._identity.base + first])
            if len(tries) <= 2:
                both_hold_one.wait(10)
            return len(lock_pulls_and_arms(connection, campaign._identity, (), [campaign._identity.base + second]).arms)

        futures = [pool.submit(campaign._store.write, partial(lock, *pair)) for pair in ((0, 1), (1, 0))]
        assert [future.result(30) for future in futures] == [1, 1]
        assert len(tries) == 3


def test_an_ask_passes_over_an_arm_that_somebody_is_telling(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", arms(3), 0.5, "LSA", 10) as campaign:
        first = one(campaign)
        campaign.abandon(first)  # and so it is the first again
        numbers = [campaign._identity.base + arms(3).index(first.arm)]

        def ask_meanwhile(connection: Connection) -> list[str]:
            lock_pulls_and_arms(connection, campaign._identity, (), numbers)
            with ThreadPoolExecutor(1) as pool:  # on another connection
                return pool.submit(asked, campaign, 2).result()

        others = campaign._store.write(ask_meanwhile)
        assert sorted([*others, first.arm]) == arms(3)


def test_an_ask_that_needs_an_arm_that_somebody_is_telling_waits_for_it(postgresql: str) -> None:
    with Campaign.create(postgresql, "c", ["a"], 0.5, "LSA", 10) as campaign, ThreadPoolExecutor(1) as pool:

        def ask_meanwhile(connection: Connection) -> "Future[list[str]]":
            lock_pulls_and_arms(connection, campaign._identity, (), [campaign._identity.base])
            waiting = pool.submit(asked, campaign)
            assert wait([waiting], timeout=0.3).done == set()
            return waiting

        assert campaign._store.write(ask_meanwhile).result() == ["a"]


PLANS = [
    (asking._WORKER_QUEUE, r"Index Scan using cutline_arms_queue .*\(index_value < 'Infinity'"),
    (asking._WORKER_QUEUE, r"Index Scan using cutline_pulls_worker .*\(worker_digest = .* \(arm = "),
    (asking._TRY_QUEUE, r"Index Scan using cutline_arms_queue .*\(index_value < 'Infinity'"),
    (asking._ENDED, r"Index Scan (using|on) cutline_pulls_expires .*\(expires <= "),
    (arms_and_pulls._LOCK_ARMS._statement(32), r"Index Scan (using|on) cutline_arms_pkey .*\(number = ANY"),
    (arms_and_pulls._LOCK_PULLS._statement(32), r"Index Scan (using|on) cutline_pulls_pkey .*\(number = ANY"),
    (naming._NAMED._statement(32), r"Index Scan (using|on) cutline_arms_name .*\(name_digest = ANY"),
    (known._KEYED._statement(32), r"Index Scan (using|on) cutline_pulls_key .*\(key_digest = ANY"),
]


def test_no_statement_reads_more_of_a_campaign_than_it_needs(postgresql: str) -> None:
    """The tables have been filled this moment, so the planner has no statistics."""
    with Campaign.create(postgresql, "c", arms(3000), 0.5, "LSA", 10_000) as campaign:
        campaign.observe_many([(f"arm {i}", 1, "ann", f"key {i}") for i in range(3000)])
        campaign.ask(2000)
        with campaign._store.engine.connect() as connection:
            cursor = connection.connection.cursor()
            cursor.execute("SET enable_seqscan = off")  # which is right for tables as small as these
            for statement, plan in PLANS:
                text, values = explained(
                    connection, campaign, statement, b"\0" * 16 if "digest = ANY" in plan else None
                )
                lines = " ".join(line for (line,) in cursor.execute(text, values).fetchall())
                assert re.search(plan, lines), lines


def explained(
    connection: Connection, campaign: Campaign, statement: Prepared, digest: bytes | None
) -> tuple[str, list[Any]]:
    """What asks for the plan of a statement, and its values; a list holds this digest, or the number of an arm."""
    text, order, constants = statement._for(connection)
    values = {**constants, "campaign": campaign._identity.id, "now": 0.0, "n": 1, "worker": b"\0" * 16}
    of_a_list = campaign._identity.base if digest is None else digest
    return f"EXPLAIN {text}", [of_a_list if name.startswith("value_") else values[name] for name in order]
