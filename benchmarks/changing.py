"""How long anybody waits while a campaign of many arms is changed: python benchmarks/changing.py [--arms N] [--db URL].

A campaign with a million arms, some of which have results, gets another threshold from a process of its own, so that
the index of each arm is computed anew. Meanwhile single pulls are asked for and told, one after the other, by a
process that has the campaign open. It prints how long that took, and the slowest of them beside the median. The
campaign is made in the database, an SQLite file or the address of a server, unless it is there from the last time.
"""

import argparse
import multiprocessing
import statistics
import tempfile
import time
from pathlib import Path

from cutline.campaign import Campaign
from cutline.errors import NotFoundError

NAME = "million"
RESULTS = 20_000
PAUSE = 0.02
"""Seconds between two rounds of ask and tell."""


def campaign_in(url: str, arms: int) -> Campaign:
    """Return the campaign of a database, made now if there is none."""
    try:
        return Campaign.open(url, NAME)
    except NotFoundError:
        campaign = Campaign.create(url, NAME, [f"arm {number}" for number in range(arms)], 0.5, budget=100 * arms)
        campaign.observe_many((f"arm {number}", number % 3 > 0) for number in range(min(arms, RESULTS)))
        return campaign


def change(url: str, threshold: float) -> None:
    """Change the threshold and bring all arms up to date."""
    with Campaign.open(url, NAME) as campaign:
        campaign.change(threshold=threshold)


def measure(url: str, arms: int) -> None:
    """Print how long the change takes, and how long single asks and tells do before it and meanwhile."""
    with campaign_in(url, arms) as campaign:
        threshold = 0.9 - campaign.settings.threshold
        changer = multiprocessing.get_context("spawn").Process(target=change, args=(url, threshold))
        for what in ("before", "meanwhile"):
            began = time.perf_counter()
            taken: list[tuple[float, float]] = []
            if what == "meanwhile":
                changer.start()
            while changer.is_alive() if what == "meanwhile" else len(taken) < 200:
                times = [time.perf_counter()]
                (pull,) = campaign.ask()
                times.append(time.perf_counter())
                campaign.tell(pull, len(taken) % 3 > 0)
                times.append(time.perf_counter())
                taken.append((times[1] - times[0], times[2] - times[1]))
                time.sleep(PAUSE)
            print(f"{what}: {time.perf_counter() - began:.1f} s, {len(taken):,} asks and tells")
            for call, seconds in zip(("ask", "tell"), zip(*taken, strict=True), strict=True):
                print(f"  {call:<5} median {1000 * statistics.median(seconds):.1f} ms, slowest {max(seconds):.2f} s")
        changer.join()
        assert changer.exitcode == 0


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arms", type=int, default=1_000_000)
    parser.add_argument("--db")
    options = parser.parse_args()
    if options.db:
        measure(options.db, options.arms)
        return
    with tempfile.TemporaryDirectory(dir=".", prefix="benchmark-") as folder:
        measure(str(Path(folder) / "campaign.db"), options.arms)


if __name__ == "__main__":
    main()
