"""Hold computed plans against simulated ones, for the table of docs/planning.md: ``python benchmarks/planning.py``.

For each prior, threshold, policy and number of arms a line: the budget an arm that is computed for a share of errors,
and how far it is from what simulated games say, in percent, with its standard error. Given means and a pilot round of
5 to 29 pulls an arm, from the same prior, follow, and few errors.
"""

import math
import sys
import time
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from cutline import Problem
from cutline.planning import Beliefs
from cutline.planning.computing.exact import UniformErrors
from cutline.planning.computing.expected import curve_of
from cutline.planning.computing.levels import TooDeepError
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
ARMS = 10, 30, 99, 1_000, 100_000
GIVEN = 60, 5_000, 10, 1_000
FEW_ERRORS, GIVEN_FOR_FEW = 0.01, (10, 60, 1_000)
PULLS = 200_000_000
AROUND = np.array([0.97, 0.985, 1.0, 1.015, 1.03])


class Case(NamedTuple):
    """A guess of the means, what it is called, and the share of errors that a plan is for."""

    what: str
    guess: Problem | Beliefs
    threshold: float
    share: float


def cases() -> Iterator[Case]:
    """Yield what is planned for."""
    for (prior, threshold, share), arms in product(CASES, ARMS):
        yield Case(f"Beta({prior[0]:g}, {prior[1]:g})", Beliefs.prior(*prior, arms), threshold, share)
    prior, threshold, share = CASES[0]
    for arms in GIVEN:
        yield from differing(arms, share)
    for arms in ARMS:
        yield Case(f"Beta({prior[0]:g}, {prior[1]:g})", Beliefs.prior(*prior, arms), threshold, FEW_ERRORS)
    for arms in GIVEN_FOR_FEW:
        yield from differing(arms, FEW_ERRORS)


def differing(arms: int, share: float) -> Iterator[Case]:
    """Yield means that are given, and a pilot round on them."""
    prior, threshold, _ = CASES[0]
    rng = np.random.default_rng(7)
    means, given = rng.beta(*prior, arms), rng.integers(5, 30, arms)
    pilot = Beliefs.after(given, rng.binomial(given, means))
    yield Case("given means", Problem(means, threshold), threshold, share)
    yield Case("a pilot round", pilot, threshold, share)


def line(case: Case, name: str, pulls: int, seed: int) -> str:
    """Return what is computed and simulated, as a row of a table."""
    what, guess, threshold, share = case
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
    simulator = Simulator(guess, threshold, policy, seed, None, False)
    at = np.unique(np.round(budget * AROUND).astype(np.int64))
    draws = max(8, math.ceil(pulls / (simulator.cost(at) * simulator.repeats(at))))
    seen = simulator.play(at, 1, range(draws)).mean(axis=1)
    computed = np.log([curve.at(float(b)) for b in at])
    slope = np.polyfit(np.log(at), computed, 1)[0]
    off = (math.log(seen.mean()) - computed.mean()) / slope
    deviation = seen.std(ddof=1) / seen.mean() / math.sqrt(draws) / abs(slope)
    return f"{row} {budget / arms:,.2f} | {100 * off:+.2f} | {100 * deviation:.2f} | {seconds:.1f} |"


def main() -> None:
    """Write the table, with about as many pulls a line as the first argument says."""
    pulls = int(float(sys.argv[1])) if len(sys.argv) > 1 else PULLS
    lines = ["| means | threshold | errors | policy | arms | pulls an arm | off by, % | standard error | seconds |"]
    lines.append("| --- | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for seed, (case, name) in enumerate(product(cases(), POLICIES)):
        lines.append(line(case, name, pulls, seed))
        print(lines[-1], flush=True)
    text = REPORT.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    table = "\n".join(lines)
    REPORT.write_text(f"{before}{BEGIN}\n\n{table}\n\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main()
