"""What holds for campaigns in a database that several processes share: an importable class of tests."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import campaign_worker
from campaign_contract import Clock, arms, one
from cutline.campaign.campaign import Campaign, campaigns, delete
from cutline.campaign.records import Reason
from cutline.campaign.schema import HEAD
from cutline.errors import ConflictError, InvalidInputError, NotFoundError, StoreError
from ledger import audit, dump, rows


class SharedCampaignContract:
    """Subclasses give a fixture ``url``: that of an empty database."""

    @pytest.fixture
    def made(self, url: str) -> Iterator[Campaign]:
        """A campaign called "flaky"; it is audited in the end."""
        with Campaign.create(url, "flaky", arms(20), 0.5, "LSA", 1_000_000, seed=4) as campaign:
            yield campaign
            audit(campaign)

    def start(self, what: str, url: str, outputs: list[Path]) -> "list[subprocess.Popen[bytes]]":
        """Start workers that write to these files, and wait until all are ready."""
        workers = []
        for seed, output in enumerate(outputs):
            command = [sys.executable, campaign_worker.__file__, what, url, "flaky", str(seed)]
            with output.open("wb") as file:
                workers.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=file, stderr=subprocess.STDOUT))
        for worker, output in zip(workers, outputs, strict=True):
            while not output.stat().st_size and worker.poll() is None:
                time.sleep(0.01)
        return workers

    # Opening again

    def test_another_handle_sees_the_same_campaign(self, url: str, made: Campaign) -> None:
        pull = one(made, worker="ann")
        with Campaign.open(url, "flaky") as again:
            assert (again.name, again.settings) == ("flaky", made.settings)
            assert again.tell(pull.id, 1)
            assert again.status() == made.status()
            assert dump(again) == dump(made)

    def test_settings_that_are_as_stored_open_it(self, url: str) -> None:
        options: dict[str, Any] = {"seed": 7, "prior": [2, 1], "target_errors": 0.25, "max_pulls_per_arm": 9}
        options |= {"repeat_workers": True, "threshold": 0.3, "policy": "apt(.05)", "budget": 77}
        Campaign.create(url, "c", iter(["b", "a"]), **options).close()
        with Campaign.open(url, "c", arms=["a", "b"], **options) as campaign:
            assert campaign.settings.prior == (2.0, 1.0)
            assert str(campaign.settings.policy) == "APT(0.05)"

    def test_a_threshold_of_06_over_05_is_an_error_that_names_the_field(self, url: str, made: Campaign) -> None:
        with pytest.raises(ConflictError, match=r"^campaign 'flaky': threshold is 0\.5, not 0\.6$"):
            Campaign.open(url, "flaky", threshold=0.6)

    def test_every_setting_that_differs_is_named(self, url: str, made: Campaign) -> None:
        with pytest.raises(ConflictError) as caught:
            Campaign.open(
                url, "flaky", threshold=0.5, policy="Uniform", budget=6000, seed=5, max_pulls_per_arm=3,
                repeat_workers=True, prior=(2, 2), target_errors=1,
            )  # fmt: skip
        assert str(caught.value) == (
            "campaign 'flaky': policy is LSA(1.35), not Uniform; budget is 1000000, not 6000; seed is 4, not 5; "
            "max_pulls_per_arm is None, not 3; repeat_workers is False, not True; prior is (1.0, 1.0), not (2.0, 2.0); "
            "target_errors is None, not 1.0"
        )

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (arms(21), "'arm 20' is new"),
            (arms(19), "'arm 19' is missing"),
            ({**dict.fromkeys(arms(20)), "arm 3": 1}, "'arm 3' has another payload"),
        ],
    )
    def test_other_arms_are_an_error_that_names_one(self, url: str, made: Campaign, given: Any, message: str) -> None:
        with pytest.raises(ConflictError, match=f"arms: {message}"):
            Campaign.open(url, "flaky", arms=given)

    def test_a_bad_expectation_is_an_error_of_its_own(self, url: str, made: Campaign) -> None:
        with pytest.raises(InvalidInputError, match="threshold"):
            Campaign.open(url, "flaky", threshold=2)

    def test_a_name_that_is_taken_is_refused_and_its_campaign_stays(self, url: str, made: Campaign) -> None:
        before = dump(made)
        with pytest.raises(ConflictError, match="there is a campaign 'flaky' already"):
            Campaign.create(url, "flaky", ["x"], 0.5, "LSA", 10)
        assert dump(made) == before

    def test_an_unknown_name_is_an_error_that_says_which_there_are(self, url: str, made: Campaign) -> None:
        with pytest.raises(NotFoundError, match="no campaign is called 'other'; there are 'flaky'"):
            Campaign.open(url, "other")
        with pytest.raises(NotFoundError, match="no campaign is called 'other'"):
            delete(url, "other")

    def test_campaigns_lists_the_status_of_each_by_name(self, url: str, made: Campaign) -> None:
        made.tell(one(made), 1)
        with Campaign.create(url, "a", ["x", "y"], 0.5, "Uniform", 1) as other:
            assert campaigns(url) == [other.status(), made.status()]
        delete(url, "a")
        assert [status.name for status in campaigns(url)] == ["flaky"]

    def test_a_deleted_campaign_is_gone_and_the_others_stay(self, url: str, made: Campaign) -> None:
        with Campaign.create(url, "short-lived", ["arm 0"], 0.5, "LSA", 10) as gone:
            pull, flying = gone.ask(2)
            gone.tell(pull, 1)
            before = dump(made)
            delete(url, "short-lived")
            for use in (
                gone.ask,
                gone.status,
                gone.decisions,
                lambda: list(gone.results()),
                lambda: gone.tell(flying, 1),
                lambda: gone.abandon(flying),
                lambda: gone.observe("arm 0", 1),
            ):
                with pytest.raises(NotFoundError, match="campaign 'short-lived' has been deleted"):
                    use()
            with Campaign.create(url, "short-lived", ["arm 0"], 0.5, "LSA", 10) as again:
                assert again.status().spent == 0
                with pytest.raises(NotFoundError):
                    gone.ask()
        assert dump(made) == before
        assert rows(gone, "SELECT count(*) FROM cutline_arms WHERE campaign_id = :campaign") == [(0,)]
        assert rows(gone, "SELECT count(*) FROM cutline_pulls WHERE campaign_id = :campaign") == [(0,)]
        gone.close()

    def test_where_the_clocks_stand_in_another_time_zone_a_lease_is_as_long(
        self, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        try:
            monkeypatch.setenv("TZ", "Pacific/Kiritimati")
            time.tzset()
            with Campaign.create(url, "c", ["a"], 0.5, "LSA", 1) as east:
                pull = one(east, lease=600)
                assert 599 < pull.expires - time.time() <= 600
                monkeypatch.setenv("TZ", "Pacific/Niue")
                time.tzset()
                with Campaign.open(url, "c") as west:
                    assert west.ask().reason is Reason.ALL_IN_FLIGHT
                    assert west.status().in_flight == 1
                    assert west.tell(pull, 1)
        finally:
            monkeypatch.undo()
            time.tzset()

    # Several processes

    def test_eight_at_once_create_campaigns_in_a_database_that_is_not_there_yet(self, url: str) -> None:
        def create(i: int) -> None:
            Campaign.create(url, f"campaign {i % 6}", arms(50), 0.5, "LSA", 10).close()

        with ThreadPoolExecutor(8) as pool:
            errors = [future.exception() for future in [pool.submit(create, i) for i in range(8)]]
        assert sorted(str(type(error).__name__) for error in errors if error) == ["ConflictError"] * 2
        assert [status.name for status in campaigns(url)] == [f"campaign {i}" for i in range(6)]

    @pytest.mark.slow
    def test_eight_processes_ask_and_tell_while_another_reads(self, url: str, made: Campaign, tmp_path: Path) -> None:
        outputs = [tmp_path / str(seed) for seed in range(8)]
        workers = self.start("hundred", url, outputs)
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.close()  # which they wait for, to start together
        seen = []
        while any(worker.poll() is None for worker in workers):
            seen.append(made.status().spent)
        assert [worker.returncode for worker in workers] == [0] * 8
        assert [output.read_text() for output in outputs] == ["ready\n"] * 8
        assert seen == sorted(seen)
        assert (made.status().spent, made.status().in_flight, made.status().left) == (800, 0, 999_200)
        assert len(list(made.results())) == 800

    def test_the_pull_of_a_killed_worker_comes_back_once(self, url: str, tmp_path: Path) -> None:
        clock = Clock()
        clock.now = time.time()
        with Campaign.create(url, "flaky", ["a"], 0.5, "LSA", 1, clock=clock) as campaign:
            (worker,) = self.start("leave", url, [tmp_path / "output"])
            while campaign.status().in_flight == 0:
                time.sleep(0.01)
            os.kill(worker.pid, signal.SIGKILL)
            worker.communicate()
            assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
            clock.now += 40
            assert (campaign.status().in_flight, campaign.status().left) == (0, 1)
            again = one(campaign)
            assert again.id.split("-")[1:] == ["2", "0"]  # another pull of the same arm
            assert campaign.ask().reason is Reason.ALL_IN_FLIGHT
            campaign.tell(again, 1)
            assert campaign.ask().reason is Reason.BUDGET_SPENT
            audit(campaign)

    @pytest.mark.slow
    def test_workers_killed_at_any_moment_lose_nothing_that_was_acknowledged(
        self, url: str, made: Campaign, tmp_path: Path
    ) -> None:
        """Twenty workers are killed, four at a time, at a moment after each has had 1 to 20 things acknowledged."""
        moments = random.Random(8)
        telling: set[str] = set()
        told: dict[str, int] = {}
        observed: set[str] = set()
        for round_ in range(5):
            outputs = [tmp_path / f"{round_} {i}" for i in range(4)]
            workers = self.start("endless", url, outputs)
            for worker, output in zip(workers, outputs, strict=True):
                lines = moments.randint(2, 40)
                while output.read_bytes().count(b"\n") < lines and worker.poll() is None:
                    time.sleep(0.001)
                time.sleep(moments.random() / 50)
                os.kill(worker.pid, signal.SIGKILL)
                worker.communicate()
            for output in outputs:
                ready, *lines = output.read_text().splitlines(keepends=True)
                assert ready == "ready\n"
                for line in lines:
                    if not line.endswith("\n"):
                        continue  # killed while it wrote
                    what, *words = line.split()
                    if what == "telling":
                        telling.update(words)
                    elif what == "told":
                        told |= {pull: int(reward) for pull, _, reward in (word.partition("=") for word in words)}
                    else:
                        assert what == "observed"
                        observed.update(words)
        results = list(made.results())
        held = {str(item.key): item.reward for item in results if not item.observed}
        assert len(told) > 20
        assert told == {pull: reward for pull, reward in held.items() if pull in told}
        assert set(held) <= telling
        assert observed <= {str(item.key).replace(" ", "_") for item in results}
        assert made.status().spent == len(held)
        audit(made)

    # Schema versions

    def test_a_newer_database_is_refused_in_one_line(self, url: str, made: Campaign) -> None:
        self.set_version(made, "9999")
        try:
            for use in (lambda: Campaign.open(url, "flaky"), lambda: campaigns(url), lambda: create_second(url)):
                with pytest.raises(StoreError) as caught:
                    use()
                assert str(caught.value).endswith(
                    f"written by a newer Cutline (schema 9999, this one reads up to {HEAD}); upgrade Cutline"
                )
                assert "\n" not in str(caught.value)
        finally:
            self.set_version(made, HEAD)

    def test_an_older_database_is_upgraded_when_it_is_opened(self, url: str, made: Campaign, later: None) -> None:
        made.tell(one(made), 1)
        before = dump(made)
        with Campaign.open(url, "flaky") as upgraded:
            assert dump(upgraded) == before
            assert rows(upgraded, "SELECT motto FROM cutline_campaigns") == [("measure less",)]
            assert rows(upgraded, "SELECT version_num FROM cutline_version") == [("0002",)]

    def test_an_upgrade_that_fails_leaves_the_database_as_it_was(
        self, url: str, made: Campaign, later: None, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("CUTLINE_TEST_FAILS", "1")
        before = dump(made)
        with pytest.raises(RuntimeError, match="in the middle"):
            Campaign.open(url, "flaky")
        assert dump(made) == before
        assert rows(made, "SELECT version_num FROM cutline_version") == [(HEAD,)]
        with pytest.raises(StoreError, match="motto"):
            rows(made, "SELECT motto FROM cutline_campaigns")

    @pytest.fixture
    def later(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """Make this a later Cutline, with one more schema version."""
        from cutline.campaign import migrations, store

        (tmp_path / "later.py").write_text(LATER)
        monkeypatch.setattr(store, "HEAD", "0002")
        monkeypatch.setattr(migrations, "VERSIONS", [*migrations.VERSIONS, str(tmp_path)])

    def set_version(self, campaign: Campaign, version: str) -> None:
        campaign._store.write(
            lambda connection: connection.execute(text("UPDATE cutline_version SET version_num = :v"), {"v": version})
        )


def create_second(url: str) -> Campaign:
    return Campaign.create(url, "second", ["a"], 0.5, "LSA", 1)


LATER = """
import os

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade():
    op.add_column("cutline_campaigns", sa.Column("motto", sa.Text, server_default="measure less"))
    if os.environ.get("CUTLINE_TEST_FAILS"):
        raise RuntimeError("in the middle")
"""
