"""Measure many arms with few pulls each and write the first table of docs/performance.md.

Run it as ``python benchmarks/many_arms.py``; it takes some minutes. Speeds are in pulls per second of processor time on
one core, the best of three, with one budget, with 20, and with 20 without the pulls of each arm in turn, so that a
machine that has other work, too, tells nearly the same. A chunk is as large as those of ``simulate``. The engines play
the same runs and must come to the same errors.
"""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from cutline import Problem
from cutline.policies import parse
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import choose, play

REPORT = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- many arms -->", "<!-- end of many arms -->"
POLICIES = ("LSA", "APT(0.05)", "APT(0)", "Opt-KG", "Uniform", "Lai")
REGIMES = ((1_000, 10), (1_000, 40), (10_000, 10), (10_000, 40), (100_000, 10), (100_000, 40))
MOST = (1_000_000, 20)  # measured for LSA only
PULLS = 30_000_000
SAMPLE = 200_000  # pulls of the stepping engine
TIMES = 3


def rate(work: Callable[[], object], pulls: int) -> float:
    """Return millions of pulls per second of processor time."""
    start = time.process_time()
    work()
    return pulls / (time.process_time() - start) / 1e6


def problem_of(arms: int) -> Problem:
    return Problem(np.random.default_rng(1).beta(2, 2, arms))


def textbook_loop(arms: int, steps: int = 1_000) -> float:
    """Return the rate of LSA written the obvious way: argmin over all arms at every pull."""
    problem, rng = problem_of(arms), np.random.default_rng(2)
    pulls, totals = np.ones(arms), (rng.random(arms) < problem.means).astype(float)

    def loop() -> None:
        for _ in range(steps):
            index = 1.35 * pulls * (totals / pulls - problem.threshold) ** 2 + 0.5 * np.log(pulls)
            arm = int(np.argmin(index))
            pulls[arm] += 1
            totals[arm] += rng.random() < problem.means[arm]

    return rate(loop, steps)


def chunk_of(name: str, arms: int, each: int, looks: int, pulls: int) -> Chunk:
    """Return a chunk with at least one run."""
    budgets = np.linspace(arms, each * arms, looks + 1).astype(np.int64)[1:]
    return Chunk(problem_of(arms), parse(name), budgets, 1, 0, max(1, pulls // (each * arms)))


def engine_rates(name: str, arms: int, each: int) -> tuple[str, list[float]]:
    """Return the engine that is chosen and its rates (one budget, 20, 20 without arms' pulls), then stepping's."""
    one, many = (chunk_of(name, arms, each, looks, PULLS) for looks in (1, 20))
    chunks = [one, many, replace(many, by_arm=False)]
    engines = [choose(chunk).engine for chunk in chunks]
    sample = chunk_of(name, arms, each, 20, SAMPLE)
    stepped = play(sample, "stepping").errors.tolist()  # compiles, too
    for by_arm in (True, False):
        assert play(replace(sample, by_arm=by_arm), engines[1]).errors.tolist() == stepped
    play(chunk_of(name, 50, 10, 1, SAMPLE), engines[0])
    works = [partial(play, chunk, engine) for chunk, engine in zip(chunks, engines, strict=True)]
    rates = [[rate(work, chunk.total_pulls) for work, chunk in zip(works, chunks, strict=True)] for _ in range(TIMES)]
    best = [max(column) for column in zip(*rates, strict=True)]
    return engines[0], [*best, rate(lambda: play(sample, "stepping"), sample.total_pulls)]


def main() -> None:
    """Measure and put the table between the marks."""
    lines = [
        "| policy, arms K, pulls an arm | engine | one budget | 20 budgets | 20, errors only | stepping | / stepping |"
        " / loop |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    loops = {arms: textbook_loop(arms) for arms, _ in {*REGIMES, MOST}}
    for name in POLICIES:
        for arms, each in (*REGIMES, MOST) if name == "LSA" else REGIMES:
            engine, rates = engine_rates(name, arms, each)
            one, many, errors_only, stepping = rates
            ratios = f"{one / stepping:.1f} | {one / loops[arms]:,.0f}"
            lines.append(
                f"| {name}, {arms:,}, {each} | {engine} | {one:,.0f} | {many:,.0f} | {errors_only:,.0f}"
                f" | {stepping:,.0f} | {ratios} |"
            )
            print(lines[-1], flush=True)
    text = REPORT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table = "\n".join(lines)
    REPORT.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
