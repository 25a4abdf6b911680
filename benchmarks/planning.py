"""Hold computed plans against simulated ones: ``python benchmarks/planning.py``.

For each prior, threshold, policy and number of arms a line: the budget that is computed for 5 % errors, how long that
took, and how far it is from what simulated games say, in percent, with its standard error.
"""

import math
import sys
import time
from itertools import product

import numpy as np

from cutline.planning import Beliefs
from cutline.planning.expected import expected_curve
from cutline.planning.simulator import Simulator
from cutline.policies import parse

PRIORS = (2.0, 2.0), (1.0, 3.0), (0.5, 0.5)
THRESHOLDS = 0.5, 0.8, 0.01, 0.99
POLICIES = "LSA", "APT(0.05)", "Opt-KG(1,1)", "Lai", "Uniform"
ARMS = 100, 1000, 100_000
ACCURACY = 0.95
PULLS = 100_000_000


def line(prior: tuple[float, float], threshold: float, name: str, arms: int, pulls: int) -> str:
    """Return what is computed and simulated, as a row of a table."""
    guess, policy = Beliefs.prior(*prior, arms), parse(name)
    target = arms * (1.0 - ACCURACY)
    what = f"| {prior[0]:g}, {prior[1]:g} | {threshold:g} | {policy} | {arms:,} |"
    expected_curve(guess, threshold, policy, errors=target)
    start = time.process_time()
    curve = expected_curve(guess, threshold, policy, errors=target)
    seconds = time.process_time() - start
    budget = curve.budget(target)
    if budget is None or budget < 1.1 * arms:
        return f"{what} {budget} | {seconds:.2f} | one round is enough |"
    simulator = Simulator(guess, threshold, policy, 1, None, False)
    at = np.unique(np.round(budget * np.array([0.97, 0.985, 1.0, 1.015, 1.03])).astype(np.int64))
    draws = max(8, math.ceil(pulls / (simulator.cost(at) * simulator.repeats(at))))
    seen = np.log(simulator.play(at, 1, range(draws)).mean(axis=1))
    computed = np.mean([math.log(curve.at(float(b))) for b in at])
    slope = np.polyfit(np.log(at), [math.log(curve.at(float(b))) for b in at], 1)[0]
    errors = np.exp(seen)
    off = (math.log(errors.mean()) - computed) / slope
    deviation = errors.std(ddof=1) / errors.mean() / math.sqrt(draws) / abs(slope)
    return f"{what} {budget:,} | {seconds:.2f} | {100 * off:+.2f} | {100 * deviation:.2f} |"


def main() -> None:
    """Write the table, with as many pulls a line as the first argument says."""
    pulls = int(float(sys.argv[1])) if len(sys.argv) > 1 else PULLS
    print("| prior | threshold | policy | arms | budget | seconds | off by (%) | standard error (%) |")
    print("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for case in product(PRIORS, THRESHOLDS, POLICIES, ARMS):
        print(line(*case, pulls), flush=True)


if __name__ == "__main__":
    main()
