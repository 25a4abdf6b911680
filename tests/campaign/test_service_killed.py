"""A server that is killed under load loses no answer that it has acknowledged, and its clients go on by themselves."""

import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from cutline.campaign.remote import connection
from ledger import audit

CLIENTS = 3


class Load:
    """Threads that ask and tell over HTTP until they are stopped, and what was acknowledged to them."""

    def __init__(self, address: str) -> None:
        self.told: dict[str, int] = {}
        self.errors: list[BaseException] = []
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(address, seed)) for seed in range(CLIENTS)]
        for thread in self._threads:
            thread.start()

    def _work(self, address: str, seed: int) -> None:
        answers = random.Random(seed)
        try:
            with Campaign.open(address, "flaky") as campaign:
                while not self._ends.is_set():
                    rewards = [(pull, answers.randint(0, 1)) for pull in campaign.ask(answers.choice((1, 1, 5)))]
                    campaign.tell_many(rewards)
                    self.told |= {pull.id: reward for pull, reward in rewards}
        except BaseException as error:
            self.errors.append(error)

    def wait_for(self, more: int) -> None:
        """Wait until so many more answers were acknowledged."""
        enough = len(self.told) + more
        while len(self.told) < enough and not self.errors:
            time.sleep(0.002)

    def stop(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()


def kill_under_load(db: str, start_process: Callable[..., "subprocess.Popen[Any]"], kills: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "cutline", "serve", "--db", db, "--port", port]
    moments = random.Random(5)

    def start() -> tuple["subprocess.Popen[Any]", str]:
        started = start_process(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert started.stdout is not None
        return started, started.stdout.readline().strip()

    with Campaign.create(db, "flaky", [f"arm {i}" for i in range(20)], 0.5, "LSA", 10**6) as campaign:
        server, address = start()
        load = Load(address)
        for _ in range(kills):
            load.wait_for(moments.randint(1, 20))
            time.sleep(moments.random() / 50)
            server.kill()
            assert server.wait() == -signal.SIGKILL
            server, again = start()
            assert again == address
        load.wait_for(5)
        load.stop()
        assert load.errors == []
        held = {item.key: item.reward for item in campaign.results()}
        assert load.told == {key: reward for key, reward in held.items() if key in load.told}
        status = campaign.status()
        assert (status.spent, status.in_flight) == (len(held), 0)  # a lost answer to an ask has leaked no lease
        audit(campaign)


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let clients wait for a server that takes long to start on a machine that has much to do."""
    monkeypatch.setattr(connection, "PATIENCE", 100)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.rough)])
def test_a_server_on_sqlite_that_is_killed_loses_nothing(
    tmp_path: Path, start_process: Callable[..., "subprocess.Popen[Any]"], kills: int
) -> None:
    kill_under_load(str(tmp_path / "x.db"), start_process, kills)


@pytest.mark.slow
@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.rough)])
def test_a_server_on_postgresql_that_is_killed_loses_nothing(
    postgresql: str, start_process: Callable[..., "subprocess.Popen[Any]"], kills: int
) -> None:
    kill_under_load(postgresql, start_process, kills)
