"""How long ``arun`` takes against the ideal: python benchmarks/asynchronous.py [--rounds N] [--folder DIR].

A thousand measurements of 20 milliseconds, 50 at a time, cannot take less than 0.4 seconds. The campaign is one as
anybody makes it, with 100 arms, in an SQLite file in DIR (here by default: a file system in memory would not wait for
any disk); its measurement is a coroutine that sleeps. Beside it: the same with a prior that is given, so that nothing
is learnt; in memory; and without a campaign, as fifty coroutines that only sleep. All are measured in turn.
"""

import argparse
import asyncio
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from cutline.campaign import Campaign, Pull
from cutline.defaults import POLICY

MEASUREMENTS, SECONDS, JOBS, ARMS = 1000, 0.02, 50, 100
IDEAL = MEASUREMENTS * SECONDS / JOBS


def with_campaign(url: Path | None, **options: Any) -> float:
    """Return how long a campaign takes whose arms have means that are spread evenly."""
    chance = random.Random(1)

    async def measure(pull: Pull) -> bool:
        await asyncio.sleep(SECONDS)
        return chance.random() < int(pull.arm) / ARMS

    async def run(campaign: Campaign) -> float:
        began = time.perf_counter()
        report = await campaign.arun(measure, jobs=JOBS)
        assert report.told == MEASUREMENTS
        return time.perf_counter() - began

    with Campaign.create(url, "c", list(map(str, range(ARMS))), 0.5, POLICY, MEASUREMENTS, **options) as campaign:
        return asyncio.run(run(campaign))


def without() -> float:
    """Return how long it takes to sleep so often."""

    async def sleeps() -> None:
        for _ in range(MEASUREMENTS // JOBS):
            await asyncio.sleep(SECONDS)

    async def run() -> float:
        began = time.perf_counter()
        await asyncio.gather(*(sleeps() for _ in range(JOBS)))
        return time.perf_counter() - began

    return asyncio.run(run())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--folder", default=".")
    options = parser.parse_args()
    taken: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(dir=options.folder, prefix="benchmark-") as name:
        for number in range(options.rounds + 1):
            ways: dict[str, Callable[[], float]] = {
                "as anybody makes it": partial(with_campaign, Path(name) / f"{number}.db"),
                "with a prior that is given": partial(with_campaign, Path(name) / f"{number} given.db", prior=(1, 1)),
                "in memory": partial(with_campaign, None),
                "without a campaign": without,
            }
            for what, seconds in ways.items():
                taken.setdefault(what, []).append(seconds() / IDEAL)
    for what, (first, *ratios) in taken.items():
        found = f"{statistics.median(ratios):.2f} times the ideal ({min(ratios):.2f} to {max(ratios):.2f})"
        print(f"{what:<28} {found}; the first {first:.2f}")


if __name__ == "__main__":
    main()
