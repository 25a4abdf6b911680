"""Many processes work on one campaign, and any may die at any moment."""

import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import ForkServerProcess
from pathlib import Path

import pytest

from campaign_contract.campaigns import Clock, SharedCampaignTests, arms, one
from campaign_worker import Workers
from cutline.campaign import Campaign, Reason, campaigns
from cutline.errors import NotFoundError
from forking import kill
from ledger import audit

Start = Callable[[str, list[Path]], list[ForkServerProcess]]


class StartsWorkers(SharedCampaignTests):
    """Tests with processes that work on the campaign."""

    @pytest.fixture
    def workers(self) -> Iterator[Workers]:
        with Workers() as workers:
            yield workers

    @pytest.fixture
    def start(self, url: str, workers: Workers) -> Start:
        """Start workers that write to these files, and wait until all are ready."""
        return lambda what, outputs: workers.start(what, url, "flaky", outputs)


class Processes(StartsWorkers):
    rounds = 5
    """How often four workers are killed."""

    def test_eight_at_once_create_campaigns_in_a_database_that_is_not_there_yet(self, url: str) -> None:
        def create(i: int) -> None:
            Campaign.create(url, f"campaign {i % 6}", arms(50), 0.5, "LSA", 10).close()

        with ThreadPoolExecutor(8) as pool:
            errors = [future.exception() for future in [pool.submit(create, i) for i in range(8)]]
        assert sorted(str(type(error).__name__) for error in errors if error) == ["ConflictError"] * 2
        assert [status.name for status in campaigns(url)] == [f"campaign {i}" for i in range(6)]

    @pytest.mark.slow
    def test_eight_processes_ask_and_tell_while_another_reads(
        self, made: Campaign, workers: Workers, start: Start, tmp_path: Path
    ) -> None:
        outputs = [tmp_path / str(seed) for seed in range(8)]
        started = start("hundred", outputs)
        workers.go.set()
        seen = []
        while any(worker.is_alive() for worker in started):
            seen.append(made.status().spent)
        assert [worker.exitcode for worker in started] == [0] * 8
        assert [output.read_text() for output in outputs] == ["ready\n"] * 8
        assert seen == sorted(seen)
        assert (made.status().spent, made.status().in_flight, made.status().left) == (800, 0, 999_200)
        assert len(list(made.results())) == 800

    def test_the_pull_of_a_killed_worker_comes_back_once(self, url: str, start: Start, tmp_path: Path) -> None:
        clock = Clock()
        clock.now = time.time()
        with Campaign.create(url, "flaky", ["a"], 0.5, "LSA", 1, clock=clock) as campaign:
            (worker,) = start("leave", [tmp_path / "output"])
            while campaign.status().in_flight == 0:
                time.sleep(0.01)
            kill(worker)
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
        self, made: Campaign, start: Start, tmp_path: Path
    ) -> None:
        """Workers are killed, four at a time, at a moment after each has had 1 to 20 things acknowledged."""
        moments = random.Random(8)
        telling: set[str] = set()
        told: dict[str, int] = {}
        observed: set[str] = set()
        for round_ in range(self.rounds):
            outputs = [tmp_path / f"{round_} {i}" for i in range(4)]
            workers = start("endless", outputs)
            for worker, output in zip(workers, outputs, strict=True):
                enough = moments.randint(2, 40)
                while output.read_bytes().count(b"\n") < enough and worker.is_alive():
                    time.sleep(0.001)
                time.sleep(moments.random() / 50)
                kill(worker)
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
        assert len(told) > 4 * self.rounds
        assert told == {pull: reward for pull, reward in held.items() if pull in told}
        assert set(held) <= telling
        assert observed <= {str(item.key).replace(" ", "_") for item in results}
        assert made.status().spent == len(held)
        audit(made)

    @pytest.mark.slow
    def test_a_run_killed_with_9_goes_on_with_nothing_lost_and_the_budget_kept(
        self, url: str, start_process: Callable[..., "subprocess.Popen[bytes]"], tmp_path: Path
    ) -> None:
        (tmp_path / "arms.txt").write_text("1\n2\n3\n")
        settings = ["--arms", str(tmp_path / "arms.txt"), "--threshold", "0.5", "--budget", "30", "--lease", "1"]
        command = [sys.executable, "-m", "cutline", "run", *settings, "--jobs", "3", "--db", url]
        command += ["--", "sleep", "0.4{arm}"]
        kept: set[str] = set()
        for _ in range(2):
            run = start_process(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while self.spent(url) < len(kept) + 4 and run.poll() is None:
                time.sleep(0.02)
            run.kill()
            assert run.wait() == -signal.SIGKILL
            with Campaign.open(url, "main") as campaign:
                held = {item.key for item in campaign.results()}
            assert kept < held
            assert len(kept) + 4 <= len(held) < 30
            kept = held
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        with Campaign.open(url, "main") as campaign:
            status = campaign.status()
            assert (status.spent, status.in_flight, status.left) == (30, 0, 0)
            assert kept < {item.key for item in campaign.results()}
            audit(campaign)

    def spent(self, url: str) -> int:
        """Return how many pulls have their reward in all campaigns, 0 where there is no database yet."""
        try:
            return sum(status.spent for status in campaigns(url))
        except NotFoundError:
            return 0
