"""Hold computed plans against simulated ones, for the table of docs/planning.md: ``python benchmarks/planning.py``.

For each prior, threshold, policy and number of arms a line: the budget an arm that is computed for a share of errors,
and how far it is from what simulated games say, in percent, with its standard error. Given means and a pilot round of
5 to 29 pulls an arm, from the same prior, follow.
"""

import math
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np

from cutline import Problem
from cutline.planning import Beliefs
from cutline.planning.exact import UniformErrors
from cutline.planning.expected import curve_of
from cutline.planning.levels import TooDeepError
from cutline.planning.simulator import Simulator
from cutline.policies import parse

REPORT = Path(__file__).parents[1] / "docs" / "planning.md"
BEGIN, END = "<!-- computed and simulated -->", "<!-- end of computed and simulated -->"
CASES = (  # prior, threshold, share of errors
    ((2.0, 2.0), 0.5, 0.05),
    ((1.0, 3.0), 0.8, 0.005),
    ((0.3, 9.0), 0.01, 0.1),
    ((9.0, 0.3), 0.99, 0.1),
)
POLICIES = "LSA", "APT(0.05)", "Opt-KG(1,1)", "Lai"
ARMS = 100, 1_000, 100_000
MANY = 5_000
PULLS = 100_000_000
AROUND = np.array([0.97, 0.985, 1.0, 1.015, 1.03])


def line(what: str, guess: Problem | Beliefs, threshold: float, name: str, share: float, pulls: int) -> str:
    """Return what is computed and simulated, as a row of a table."""
    policy, arms = parse(name), guess.arms
    row = f"| {what} | {threshold:g} | {share:.2%} | {policy} | {arms:,} |"
    start = time.process_time()
    try:
        curve = curve_of(guess, UniformErrors(guess, threshold), threshold, policy, 0.85 * share * arms)
    except TooDeepError:
        return f"{row} too long records |  |  |  |"
    seconds = time.process_time() - start
    budget = curve.budget(share * arms)
    if budget is None or budget < 1.1 * arms:
        return f"{row} one round |  |  | {seconds:.1f} |"
    simulator = Simulator(guess, threshold, policy, 1, None, False)
    at = np.unique(np.round(budget * AROUND).astype(np.int64))
    draws = max(8, math.ceil(pulls / (simulator.cost(at) * simulator.repeats(at))))
    seen = simulator.play(at, 1, range(draws)).mean(axis=1)
    computed = np.log([curve.at(float(b)) for b in at])
    slope = np.polyfit(np.log(at), computed, 1)[0]
    off = (math.log(seen.mean()) - computed.mean()) / slope
    deviation = seen.std(ddof=1) / seen.mean() / math.sqrt(draws) / abs(slope)
    return f"{row} {budget / arms:,.2f} | {100 * off:+.2f} | {100 * deviation:.2f} | {seconds:.1f} |"


def rows(pulls: int) -> Iterator[str]:
    """Yield the rows of the table."""
    for (prior, threshold, share), arms, name in product(CASES, ARMS, POLICIES):
        what = f"Beta({prior[0]:g}, {prior[1]:g})"
        yield line(what, Beliefs.prior(*prior, arms), threshold, name, share, pulls)
    prior, threshold, share = CASES[0]
    rng = np.random.default_rng(7)
    means, given = rng.beta(*prior, MANY), rng.integers(5, 30, MANY)
    pilot = Beliefs.after(given, rng.binomial(given, means))
    for name in POLICIES:
        yield line("given means", Problem(means, threshold), threshold, name, share, pulls)
        yield line("a pilot round", pilot, threshold, name, share, pulls)


def main() -> None:
    """Write the table, with about as many pulls a line as the first argument says."""
    pulls = int(float(sys.argv[1])) if len(sys.argv) > 1 else PULLS
    lines = ["| means | threshold | errors | policy | arms | pulls an arm | off by, % | standard error | seconds |"]
    lines.append("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for row in rows(pulls):
        lines.append(row)
        print(row, flush=True)
    text = REPORT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table = "\n".join(lines)
    REPORT.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
