"""Measure many arms with few pulls each and write the first table of docs/performance.md.

Run it as ``python benchmarks/many_arms.py``; it takes some minutes. Speeds are in pulls per second of processor time on
one core, the best of three, so that a machine that has other work, too, tells nearly the same. The engines play the
same runs and must come to the same errors.
"""

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from cutline import Problem
from cutline.policies import parse
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import choose, play

REPORT = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- many arms -->", "<!-- end of many arms -->"
POLICIES = ("LSA", "APT(0.05)", "APT(0)", "Opt-KG", "Uniform", "Lai")
REGIMES = ((1_000, 10), (1_000, 40), (100_000, 10), (100_000, 40))
MOST = (1_000_000, 20)  # measured for LSA only
PULLS = 3_000_000


def rate(work: Callable[[], object], pulls: int, times: int = 3) -> float:
    """Return millions of pulls per second of processor time, the best of some times."""
    best = float("inf")
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return pulls / best / 1e6


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

    return rate(loop, steps, 1)


def engine_rates(name: str, arms: int, each: int, looks: int) -> tuple[float, float, str]:
    """Return the rates of the stepping engine and of the engine that is chosen, and the latter's name."""
    policy, problem = parse(name), problem_of(arms)
    at = np.linspace(arms, each * arms, looks + 1).astype(np.int64)[1:]
    runs = max(1, PULLS // (each * arms))
    chunk, sample = (Chunk(problem, policy, at, 1, 0, number) for number in (runs, max(1, runs // 20)))
    chosen = choose(chunk).engine
    for engine in ("stepping", chosen):
        play(Chunk(problem_of(50), policy, np.array([500]), 1, 0, 1), engine)  # compiles
    errors = {engine: play(sample, engine).errors.tolist() for engine in ("stepping", chosen)}
    assert errors["stepping"] == errors[chosen]
    stepping = rate(lambda: play(sample, "stepping"), sample.total_pulls, 1)
    return stepping, rate(lambda: play(chunk, chosen), chunk.total_pulls), chosen


def main() -> None:
    """Measure and put the table between the marks."""
    lines = [
        "| policy, arms K, pulls an arm | stepping | chosen engine | its speed | 20 budgets | / stepping | / loop |"
    ]
    lines.append("| --- | ---: | --- | ---: | ---: | ---: | ---: |")
    loops = {arms: textbook_loop(arms) for arms, _ in {*REGIMES, MOST}}
    for name in POLICIES:
        for arms, each in (*REGIMES, MOST) if name == "LSA" else REGIMES:
            stepping, chosen, engine = engine_rates(name, arms, each, 1)
            many = f"{engine_rates(name, arms, each, 20)[1]:,.0f}" if arms < 1_000_000 else ""
            ratios = f"{chosen / stepping:.1f} | {chosen / loops[arms]:,.0f}"
            row = f"{name}, {arms:,}, {each} | {stepping:,.0f} | {engine} | {chosen:,.0f} | {many} | {ratios}"
            lines.append(f"| {row} |")
            print(lines[-1], flush=True)
    text = REPORT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table = "\n".join(lines)
    REPORT.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
