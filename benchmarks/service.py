"""How fast the service is, and what HTTP costs: ratios of what is measured in one run.

Eight clients that ask for one are processes with ``Campaign``. Batches and labellers come from one process that writes
HTTP to sockets itself (wire.py), so that the load leaves the machine to the server.

    python benchmarks/service.py [--folder DIR] [--quick]

Files go to a temporary folder in DIR, here by default. ``--quick`` takes a tenth of everything.
"""

import argparse
import asyncio
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import urllib3
from wire import Wire

from cutline.campaign import Campaign

CLIENTS = 8
LABELLERS = 200


def arms(count: int) -> Iterator[str]:
    return (f"arm {i}" for i in range(count))


def report(what: str, value: str, must: str, ok: bool) -> None:
    print(f"{what:<66} {value:>14}   {must:<12} {'' if ok else 'MISSED'}".rstrip(), flush=True)


@contextmanager
def served(db: Path) -> Iterator[str]:
    """Serve a database by a process of its own; yield the address."""
    command = [sys.executable, "-m", "cutline", "serve", "--db", str(db), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip().rstrip("/")
        finally:
            process.terminate()


def pairs_per_second(url: str, name: str, seconds: float) -> float:
    """Let eight processes ask for one and tell it for so long; return how many pairs a second they make together."""
    with Campaign.open(url, name) as campaign:
        before = campaign.status().spent
        command = [sys.executable, __file__, "--client", url, name, str(seconds)]
        workers = [
            subprocess.Popen([*command, str(seed)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for seed in range(CLIENTS)
        ]
        for worker in workers:
            assert worker.stdout is not None
            worker.stdout.readline()
        for worker in workers:
            assert worker.stdin is not None
            worker.stdin.close()
        for worker in workers:
            worker.wait()
        return (campaign.status().spent - before) / seconds


def client(url: str, name: str, seconds: float, seed: int) -> None:
    """Ask for one and tell it, for so long from the moment at which standard input ends."""
    answers = random.Random(seed)
    with Campaign.open(url, name) as campaign:
        campaign.tell(campaign.ask()[0], 1)
        print("ready", flush=True)
        sys.stdin.read()
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            campaign.tell(campaign.ask()[0], answers.random() < 0.5)


def batches_in_threads(db: Path, seconds: float) -> float:
    """Let eight threads do the same without a server, which is all that one process can make of the database."""
    with Campaign.open(db, "c") as campaign:
        before, ends = campaign.status().spent, time.monotonic() + seconds

        def work(seed: int) -> None:
            answers = random.Random(seed)
            while time.monotonic() < ends:
                campaign.tell_many([(pull, answers.random() < 0.5) for pull in campaign.ask(100)])

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(CLIENTS)]
        began = time.monotonic()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return (campaign.status().spent - before) / (time.monotonic() - began)


async def in_batches(address: str, name: str, seconds: float) -> float:
    """Let eight connections ask for a hundred and tell them, for so long; return how many pairs a second they make."""
    told, ends = [0] * CLIENTS, time.monotonic() + seconds

    async def client(seed: int) -> None:
        answers, wire = random.Random(seed), Wire(address, name)
        while time.monotonic() < ends:
            rewards = [{"pull": pull, "reward": int(answers.random() < 0.5)} for pull in await wire.ask(100)]
            new = await wire.post("tell-many", {"rewards": rewards})
            told[seed] += new["new"]
        wire.close()

    began = time.monotonic()
    await asyncio.gather(*map(client, range(CLIENTS)))
    return sum(told) / (time.monotonic() - began)


async def labellers(address: str, name: str, seconds: float) -> float:
    """Let 200 people answer once a second each; return the 99th percentile of how long an ask takes, in seconds."""
    taken: list[float] = []

    async def label(number: int) -> None:
        wire = Wire(address, name)
        await asyncio.sleep(number / LABELLERS)
        ends, due = time.monotonic() + seconds, time.monotonic()
        while time.monotonic() < ends:
            start = time.perf_counter()
            pulls = await wire.ask(1, f"labeller {number}")
            taken.append(time.perf_counter() - start)
            for pull in pulls:
                await wire.post("tell", {"pull": pull, "reward": 1})
            due += 1.0
            await asyncio.sleep(max(0.0, due - time.monotonic()))
        wire.close()

    await asyncio.gather(*map(label, range(LABELLERS)))
    return statistics.quantiles(taken, n=100)[98]


def page(address: str, name: str) -> float:
    """Return the median time of the dashboard of a campaign, in seconds."""
    pool, taken = urllib3.PoolManager(), []
    for _ in range(5):
        start = time.perf_counter()
        answer = pool.request("GET", f"{address}/campaign", fields={"campaign": name})
        taken.append(time.perf_counter() - start)
        assert answer.status == 200
    return statistics.median(taken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path())
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--client", nargs=4)
    given = parser.parse_args()
    if given.client:
        url, name, seconds, seed = given.client
        client(url, name, float(seconds), int(seed))
        return
    share = 0.1 if given.quick else 1.0
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        db = Path(folder) / "thousand.db"
        with Campaign.create(db, "c", arms(1000), 0.5, "LSA", 10**9):
            pass
        with served(db) as address:
            seconds = max(2.0, 10 * share)
            rounds = [
                (pairs_per_second(str(db), "c", seconds), pairs_per_second(address, "c", seconds)) for _ in range(3)
            ]
            ratio = statistics.median(over / direct for direct, over in rounds)
            report("ask and tell one, 8 processes on the file", f"{rounds[0][0]:,.0f}/s", "", True)
            report("the same over HTTP", f"{rounds[0][1]:,.0f}/s", "", True)
            report("ratio, the median of all rounds", f"{ratio:.2f}", ">= 0.33", ratio >= 1 / 3)
            direct_rate = batches_in_threads(db, seconds)
            rate = asyncio.run(in_batches(address, "c", seconds))
            report("pairs in batches of 100, 8 threads on the file", f"{direct_rate:,.0f}/s", "", True)
            report("pairs over HTTP in batches of 100", f"{rate:,.0f}/s", ">= 10,000", rate >= 10_000)
            slow = asyncio.run(labellers(address, "c", max(3.0, 20 * share)))
            report("99% of asks with 200 labellers", f"{slow * 1000:.0f} ms", "<= 100 ms", slow <= 0.1)
        count = int(1_000_000 * share)
        many = Path(folder) / "many.db"
        with Campaign.create(many, "c", arms(count), 0.5, "LSA", 10**9) as campaign:
            campaign.tell_many((pull, 1) for pull in campaign.ask(1000))
        with served(many) as address:
            took = page(address, "c")
            report(f"dashboard of {count:,} arms", f"{took * 1000:.0f} ms", "<= 300 ms", took <= 0.3)


if __name__ == "__main__":
    main()
