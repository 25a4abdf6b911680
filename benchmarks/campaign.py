"""How fast a campaign answers, and what delay costs.

    python benchmarks/campaign.py [--postgres URL] [--folder DIR] [--runs N] [--quick]

Files go to a temporary folder in DIR (here by default: a file system in memory would not wait for any disk). Without
a URL a throw-away PostgreSQL is started if there is one on this machine. ``--quick`` takes a tenth of everything.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from cutline.campaign import Campaign, campaigns

sys.path.append(str(Path(__file__).parents[1] / "tests"))
import postgres


def arms(count: int) -> Iterator[str]:
    return (f"arm {i}" for i in range(count))


def timed(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def report(what: str, value: str, must: str, ok: bool) -> None:
    print(f"{what:<66} {value:>14}   {must:<12} {'' if ok else 'MISSED'}".rstrip(), flush=True)


def rate(what: str, pairs: int, seconds: float, must: int | None) -> None:
    value = pairs / seconds
    report(what, f"{value:,.0f}/s", "" if must is None else f">= {must:,}", must is None or value >= must)


def one_at_a_time(campaign: Campaign, pairs: int) -> float:
    answers = random.Random(1)

    def work() -> None:
        for _ in range(pairs):
            (pull,) = campaign.ask()
            campaign.tell(pull, answers.random() < 0.5)

    return timed(work)


def in_batches(campaign: Campaign, pairs: int, size: int = 1000) -> float:
    answers = random.Random(2)

    def work() -> None:
        for _ in range(pairs // size):
            campaign.tell_many([(pull, answers.random() < 0.5) for pull in campaign.ask(size)])

    return timed(work)


def ask_latency(campaign: Campaign, asks: int) -> float:
    """The median of so many asks, each told before the next, in seconds."""
    answers = random.Random(3)
    taken = []
    for _ in range(asks):
        start = time.perf_counter()
        (pull,) = campaign.ask()
        taken.append(time.perf_counter() - start)
        campaign.tell(pull, answers.random() < 0.5)
    return statistics.median(taken)


def disk_wait(folder: Path) -> float:
    """The median time that the disk takes to be sure of 4 kB, in seconds."""
    with (folder / "probe").open("wb") as file:
        taken = []
        for _ in range(200):
            file.write(bytes(4096))
            file.flush()
            taken.append(timed(lambda: os.fdatasync(file.fileno())))
    return statistics.median(taken)


@contextmanager
def postgres_url(given: str | None) -> Iterator[str | None]:
    if given or postgres.binaries() is None:
        yield given
    else:
        with postgres.server(durable=True) as url:
            yield url


def speed(folder: Path, share: float, url: str | None) -> None:
    pairs = int(5000 * share)
    print(f"the disk takes {disk_wait(folder) * 1000:.2f} ms to be sure of a write\n")
    with Campaign.create(folder / "thousand.db", "c", arms(1000), 0.5, "LSA", 10**9) as thousand:
        rate("SQLite, ask and tell one at a time", pairs, one_at_a_time(thousand, pairs), 1000)
        many = int(200_000 * share)
        rate("SQLite, batches of 1,000", many, in_batches(thousand, many), 30_000)
        small = ask_latency(thousand, 1000)
    if url is None:
        print("PostgreSQL: not measured, there is none here")
    else:
        with Campaign.create(url, f"benchmark {time.time_ns()}", arms(1000), 0.5, "LSA", 10**9) as campaign:
            rate("PostgreSQL, ask and tell one at a time", pairs, one_at_a_time(campaign, pairs), 500)
            many = int(50_000 * share)
            rate("PostgreSQL, batches of 1,000", many, in_batches(campaign, many), None)

    count = int(1_000_000 * share)
    path = folder / "million.db"
    start = time.perf_counter()
    with Campaign.create(path, "c", arms(count), 0.5, "LSA", 10**9) as million:
        seconds = time.perf_counter() - start
        report(f"SQLite, create a campaign of {count:,} arms", f"{seconds:.1f} s", "<= 30 s", seconds <= 30)
        in_batches(million, int(100_000 * share))
        large = ask_latency(million, 1000)
    report(f"ask with {count:,} arms, against 1,000", f"{large / small:.2f} times", "<= 2 times", large <= 2 * small)
    seconds = timed(lambda: campaigns(path))
    report(f"status of {count:,} arms", f"{seconds * 1000:.0f} ms", "<= 1 s", seconds <= 1)
    script = f"from cutline.campaign import campaigns; campaigns({str(path)!r})"
    seconds = timed(lambda: subprocess.run([sys.executable, "-c", script], check=True))
    report("the same in a new process", f"{seconds * 1000:.0f} ms", "<= 1 s", seconds <= 1)

    observations = int(1_000_000 * share)
    with Campaign.create(folder / "seen.db", "c", arms(1000), 0.5, "LSA", 10**9) as seen:
        before = ask_latency(seen, 1000)
        answers = random.Random(4)

        def observe() -> None:
            for start in range(0, observations, 10_000):
                seen.observe_many(
                    (f"arm {answers.randrange(1000)}", answers.random() < 0.5, None, f"row {start + i}")
                    for i in range(10_000)
                )

        rate(f"SQLite, observe {observations:,} results, 10,000 at a time", observations, timed(observe), None)
        after = ask_latency(seen, 1000)
    report(
        f"ask after {observations:,} results, against 1,000",
        f"{after / before:.2f} times",
        "<= 2 times",
        after <= 2 * before,
    )


def delay(runs: int, share: float) -> None:
    """Play whole campaigns of 1,000 arms, means uniform on [0, 1], with b pulls told together in every round."""
    count, budget = 1000, int(10_000 * share)
    print(f"\n{count:,} arms, budget {budget:,}, LSA, {runs} runs: errors in the end with b pulls in flight")
    print(f"{'b':>6} {'errors':>10} {'standard error':>15} {'expected by the campaign':>26}")
    for size in (1, 10, 100):
        errors, expected = [], []
        for run in range(runs):
            means = {arm: random.Random(f"{run} {arm}").random() for arm in arms(count)}
            rewards = {arm: random.Random(f"rewards {run} {arm}") for arm in means}  # the same for every b
            with Campaign.create(None, "c", means, 0.5, "LSA", budget, seed=run) as campaign:
                while pulls := campaign.ask(size):
                    campaign.tell_many([(pull, rewards[pull.arm].random() < means[pull.arm]) for pull in pulls])
                errors.append(sum(item.above != (means[item.arm] >= 0.5) for item in campaign.decisions()))
                expected.append(campaign.status().expected_errors)
        spread = statistics.stdev(errors) / runs**0.5 if runs > 1 else float("nan")
        print(
            f"{size:>6} {statistics.mean(errors):>10.1f} {spread:>15.2f} {statistics.mean(expected):>26.1f}", flush=True
        )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--postgres")
    parser.add_argument("--folder", default=".")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    share = 0.1 if options.quick else 1.0
    with (
        tempfile.TemporaryDirectory(dir=options.folder, prefix="benchmark-") as name,
        postgres_url(options.postgres) as url,
    ):
        speed(Path(name), share, url)
    delay(options.runs, share)


if __name__ == "__main__":
    main()
