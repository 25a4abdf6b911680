"""Work on other processes and a real Dask cluster: the same answer, whatever dies, and one line for what cannot be."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

from cutline import Problem, RegretCurves, simulate
from cutline.cli import cutline as command_line
from cutline.cluster import cluster
from cutline.errors import InvalidInputError, MissingDependencyError
from cutline.simulation.workers import threads_of
from surroundings import PATIENCE

pytestmark = pytest.mark.process

simulate_module = sys.modules["cutline.simulation.simulate"]

NARROW = Problem([0.1, 0.35, 0.55, 0.5, 0.8], 0.45)
WIDE = Problem(np.linspace(0.05, 0.95, 20_000))


def play_narrow(executor: Executor | int, progress: Callable[[int], object] | bool = False) -> RegretCurves:
    return simulate(
        NARROW, ["LSA", "Uniform"], [5, 4000, 50_000], runs=100, seed=5, executor=executor, progress=progress
    )


def play_wide(executor: Executor | int) -> RegretCurves:
    return simulate(WIDE, "LSA", [1_300_000, 1_700_000], runs=1, seed=6, executor=executor)


def same(first: RegretCurves, second: RegretCurves) -> bool:
    return np.array_equal(first.errors, second.errors) and np.array_equal(first.pulls, second.pulls)


@pytest.fixture(scope="module")
def narrow() -> RegretCurves:
    return play_narrow(1)


@pytest.fixture(scope="module")
def wide() -> RegretCurves:
    return play_wide(1)


@pytest.fixture(scope="module")
def two_workers() -> Iterator[Any]:
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "5s"}),  # not 30 for what a dead worker had finished
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address="127.0.0.1:0"
        ) as local,
    ):
        yield local


@pytest.fixture
def client(two_workers: Any) -> Iterator[Any]:
    with Client(two_workers.scheduler_address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


@pytest.fixture
def many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulate_module, "_PULLS_PER_CHUNK", 250_000)  # 5 runs each, 40 chunks


class ByPasses(Executor):
    """Hands every pass over the arms on, counts them, and kills a process in the third, once its work is sent."""

    def __init__(self, inner: Executor, victim: int | None = None) -> None:
        self._inner, self._victim, self._max_workers = inner, victim, 2
        self.passes = 0

    def map(self, fn: Callable[..., Any], *iterables: Any, **options: Any) -> Iterator[Any]:
        results = self._inner.map(fn, *iterables, **options)
        self.passes += 1
        if self.passes == 3 and self._victim is not None:
            os.kill(self._victim, signal.SIGKILL)
        return results


def worker_processes(client: Any) -> set[int]:
    return set(client.run(os.getpid).values())


@pytest.mark.slow
@pytest.mark.usefixtures("many_chunks")
def test_a_cluster_gives_the_answer_of_a_thread(client: Any, narrow: RegretCurves) -> None:
    assert len(worker_processes(client) - {os.getpid()}) == 2
    assert same(play_narrow(client.get_executor()), narrow)


@pytest.mark.slow
@pytest.mark.usefixtures("many_chunks")
def test_killing_a_worker_in_mid_run_changes_nothing(client: Any, narrow: RegretCurves) -> None:
    victim = min(worker_processes(client))
    done: list[int] = []

    def kill_at_the_third(amount: int) -> None:
        done.append(amount)
        if len(done) == 3:
            os.kill(victim, signal.SIGKILL)

    assert same(play_narrow(client.get_executor(), kill_at_the_third), narrow)
    assert len(done) == 40
    client.wait_for_workers(2, timeout=PATIENCE)
    assert victim not in worker_processes(client)


@pytest.mark.slow
def test_a_run_split_by_arms_over_a_cluster_is_the_same_though_a_worker_dies(client: Any, wide: RegretCurves) -> None:
    victim = min(worker_processes(client))
    executor = ByPasses(client.get_executor(), victim)
    assert same(play_wide(executor), wide)
    assert executor.passes > 4
    client.wait_for_workers(2, timeout=PATIENCE)
    assert victim not in worker_processes(client)


@pytest.mark.slow
def test_processes_give_the_answer_of_a_thread_by_runs_and_by_arms(
    narrow: RegretCurves, wide: RegretCurves, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(simulate_module, "_PULLS_PER_CHUNK", 250_000)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert same(play_narrow(pool), narrow)
        executor = ByPasses(pool)
        assert same(play_wide(executor), wide)
        assert executor.passes > 4


def test_a_clusters_width_is_its_threads_and_a_pools_its_workers(client: Any) -> None:
    assert threads_of(client.get_executor(), 7) == 2
    with ProcessPoolExecutor(3) as pool:
        assert threads_of(pool, 7) == 3
    assert [threads_of(executor, 7) for executor in (None, 7, Executor())] == [7, 7, 7]


def run_command(*arguments: object) -> str:
    command = [sys.executable, "-W", "error", "-m", "cutline", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_command_line_says_the_same_with_a_cluster_as_without(
    client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*arguments: object) -> str:
        command_line.main([*map(str, arguments)], standalone_mode=False)
        return capsys.readouterr().out

    address = client.scheduler.address
    simulation = ("simulate", "--means", "0.2,0.45,0.7", "--budgets", "50,5000", "--runs", "200", "--seed", "4")
    assert run_command(*simulation, "--dask", address) == said(*simulation)
    paper = ("paper", "--setups", "4", "--runs", "20", "--out")
    assert run_command(*paper, tmp_path / "cluster", "--dask", address) == said(*paper, tmp_path / "threads")
    written = [
        {file.name: file.read_bytes() for file in (tmp_path / folder).iterdir()} for folder in ("cluster", "threads")
    ]
    assert written[0] == written[1]
    assert "manifest.json" in written[0]


def refusal(address: str) -> str:
    started = time.monotonic()
    with pytest.raises(InvalidInputError) as refused, cluster(address):
        pass
    assert time.monotonic() - started < 25.0  # where Dask itself would wait 30 seconds
    return str(refused.value)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.0.0.1:port", "", "gopher://127.0.0.1:70", "tls://127.0.0.1:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    assert refusal(address).startswith(
        f"no Dask scheduler at {address!r}, which should be such as tcp://127.0.0.1:8786: "
    )


def test_where_nobody_or_nothing_of_dask_answers_the_wait_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cutline.cluster._PATIENCE", 0.5)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        refused = f"no Dask scheduler at '{address}', which should be such as tcp://127.0.0.1:8786: "
        assert refusal(address).startswith(refused)
        silent.listen()
        assert refusal(address) == refused + "no answer within 0.5 s"


def test_a_workers_address_is_not_the_schedulers(client: Any) -> None:
    address = next(iter(client.nthreads()))
    assert refusal(address) == f"no Dask scheduler at '{address}': a worker answers there"


def test_a_cluster_without_workers_is_refused() -> None:
    with LocalCluster(
        n_workers=0, processes=False, host="127.0.0.1", protocol="tcp", dashboard_address="127.0.0.1:0"
    ) as empty:
        address = empty.scheduler_address
        assert refusal(address) == f"the cluster at {address} has no workers; start some: dask worker {address}"


def test_workers_with_another_version_or_none_are_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    here = os.getpid()
    monkeypatch.setattr("cutline.cluster.version", lambda name: "2.0" if os.getpid() == here else "1.9")
    assert refusal(client.scheduler.address).endswith(" has Cutline 1.9; install 2.0 there, as it is here")
    monkeypatch.setattr("cutline.cluster.version", lambda name: "2.0" if os.getpid() == here else 1 / 0)
    assert refusal(client.scheduler.address).endswith(" has no Cutline; install 2.0 there, as it is here")


def test_without_distributed_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        pytest.raises(MissingDependencyError, match=r"needs dask.distributed: pip install 'cutline\[dask\]'$"),
        cluster("tcp://127.0.0.1:1"),
    ):
        pass


@pytest.mark.parametrize(
    "command", [("paper",), ("simulate", "--means", "0.2", "--budgets", "10")], ids=["paper", "simulate"]
)
def test_jobs_and_a_cluster_together_are_refused_by_the_command(command: tuple[str, ...], tmp_path: Path) -> None:
    arguments = [sys.executable, "-m", "cutline", *command, "--jobs", "2", "--dask", "127.0.0.1:1"]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE, check=False)
    wanted = "cutline: give --jobs, threads of this machine, or --dask, a cluster; not both\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", wanted)
