"""Measure the engines and write the tables of docs/performance.md: ``make bench``.

Pulls a second are counted over all cores, with as many threads; each figure is the best of three. The textbook loop is
the one that everybody writes first: NumPy's argmin over the arms, one reward at a time, in Python.
"""

import os
import platform
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from cutline import Problem
from cutline.paper.setups import COMPETITORS, OURS, SETUPS
from cutline.policies import Policy
from cutline.simulation.chunks import Chunk
from cutline.simulation.curves import versions
from cutline.simulation.engines import play
from cutline.simulation.workers import available_cores

REPORT = Path(__file__).parents[1] / "docs" / "performance.md"
BEGIN, END = "<!-- measured -->", "<!-- end of measured -->"
SECONDS = 0.25


def pulls_per_second(policy: Policy, problem: Problem, budgets: list[int], engine: str) -> tuple[float, float]:
    """Return millions of pulls a second over all cores, and the share of rewards passed over in blocks."""
    cores = available_cores()
    at = np.array(budgets, np.int64)
    play(Chunk(problem, policy, at, 1, 0, 1), engine)
    runs, best, skipped = 1, 0.0, 0.0
    with ThreadPoolExecutor(cores) as pool:
        for _ in range(20):
            chunks = [Chunk(problem, policy, at, 1, part * runs, runs) for part in range(cores)]
            start = time.perf_counter()
            results = list(pool.map(play, chunks, [engine] * cores))
            seconds = time.perf_counter() - start
            pulls = sum(chunk.total_pulls for chunk in chunks)
            if seconds > SECONDS / 4:
                best = max(best, pulls / seconds / 1e6)
                skipped = sum(result.skipped for result in results) / pulls
            if seconds > SECONDS / 2:
                break
            runs = max(runs + 1, int(runs * min(8.0, SECONDS / seconds)))
        for _ in range(2):
            start = time.perf_counter()
            list(pool.map(play, chunks, [engine] * cores))
            best = max(best, pulls / (time.perf_counter() - start) / 1e6)
    return best, skipped


def textbook_loop(problem: Problem, budget: int, seed: int) -> float:
    """Return millions of pulls a second of LSA written the obvious way."""
    rng = np.random.default_rng(seed)
    pulls, totals = np.ones(problem.arms), (rng.random(problem.arms) < problem.means).astype(float)
    start = time.perf_counter()
    for _ in range(budget - problem.arms):
        index = 1.35 * pulls * (totals / pulls - problem.threshold) ** 2 + 0.5 * np.log(pulls)
        arm = int(np.argmin(index))
        pulls[arm] += 1
        totals[arm] += rng.random() < problem.means[arm]
    return (budget - problem.arms) / (time.perf_counter() - start) / 1e6


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def engines() -> str:
    loop = textbook_loop(SETUPS[3].problem, 30_000, 1)
    rows = []
    for policy in (OURS, *COMPETITORS):
        for number, setup in SETUPS.items():
            budgets = [setup.max_budget]
            stepping, _ = pulls_per_second(policy, setup.problem, budgets, "stepping")
            skipping, share = pulls_per_second(policy, setup.problem, budgets, "waterline")
            rows.append(
                [
                    f"{policy}, Setup {number}",
                    f"{stepping:,.0f}",
                    f"{skipping:,.0f}",
                    f"{skipping / stepping:.1f}",
                    f"{share:.2f}",
                    f"{stepping / loop:,.0f}",
                    f"{skipping / loop:,.0f}",
                ]
            )
            print(*rows[-1], flush=True)
    header = ["policy, setup", "stepping", "waterline", "ratio", "skipped", "stepping / loop", "waterline / loop"]
    return (
        f"Millions of pulls a second at T_max, one budget; the textbook loop makes {loop:.3f} million a second in "
        "the same run. *skipped* is the rewards passed over in blocks for each pull made; it is above 1 where a guess "
        "of the level went too far and work was thrown away.\n\n" + table(header, rows)
    )


def scaling() -> str:
    def seconds(arms: int, budget: int) -> list[str]:
        code = (
            "import time, resource, numpy as np; from cutline import *;"
            "from cutline.simulation.chunks import Chunk; from cutline.simulation.engines import play;"
            "play(Chunk(Problem([.2, .6, .7]), LSA(), np.array([3000]), 1, 0, 1), 'waterline');"
            f"p = Problem(np.random.default_rng(1).beta(2, 2, {arms}));"
            "t = time.perf_counter();"
            f"r = play(Chunk(p, LSA(), np.array([{budget}]), 1, 0, 1), 'waterline');"
            "print(time.perf_counter() - t, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
        row = [f"{arms:,}", f"{budget:,}", f"{float(out[0]):.4f}", f"{float(out[1]):,.0f}"]
        print(*row, flush=True)
        return row

    header = ["arms K", "pulls T", "seconds", "MB at most"]
    by_budget = [seconds(10, 10**power) for power in range(3, 9)]
    by_arms = [seconds(10**power, 100 * 10**power) for power in range(1, 7)]
    return "One run of LSA, one thread, Beta(2, 2) means.\n\n" + table(header, by_budget + by_arms)


def cold_start() -> str:
    def best(code: str) -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            times.append(time.perf_counter() - start)
        return min(times)

    empty = best("pass")
    imported = best("import cutline")
    simulated = best("import cutline; cutline.simulate(cutline.Problem([.2, .6]), 'LSA', 1000, runs=1)")
    rows = [["python", f"{empty:.2f}"], ["import cutline", f"{imported:.2f}"], ["first simulate", f"{simulated:.2f}"]]
    return "Seconds for a new process, kernels compiled before and kept on disk.\n\n" + table(["", "seconds"], rows)


def machine() -> str:
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        model = next((x.split(":")[1].strip() for x in cpuinfo.read_text().splitlines() if "model name" in x), model)
    names = ", ".join(f"{name} {version}" for name, version in versions().items())
    return f"{model}, {available_cores()} cores, {platform.system()}; {names}.\n"


def main() -> None:
    """Measure everything and put it between the marks of docs/performance.md."""
    measured = "\n".join([machine(), engines(), scaling(), cold_start()])
    text = REPORT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    REPORT.write_text(f"{before}{BEGIN}\n\n{measured}\n{END}{after}", encoding="utf-8")
    print(f"peak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    print(f"written: {os.path.relpath(REPORT)}")


if __name__ == "__main__":
    main()
