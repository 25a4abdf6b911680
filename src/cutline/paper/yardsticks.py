"""LSA next to what nobody can do better than: policies that are told the gaps, and the best pulls fixed beforehand."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from cutline.paper.setups import OURS
from cutline.plotting.figure import STANDARD_ERRORS
from cutline.policies.oracle import RatioOracle
from cutline.problem import Problem
from cutline.simulation.curves import RegretCurves
from cutline.theory.static_optimum import static_optimum

RATIO_ORACLES = (RatioOracle(), RatioOracle(1))
"""The ratio-test oracles that LSA's budget is compared with."""


@dataclass(frozen=True)
class BudgetRatio:
    """LSA needs ``ratio`` times the budget that a yardstick needs for the regret that LSA has at ``budget``.

    ``error`` is the standard error of the ratio, from those of the two curves; infinite where it cannot be told.
    """

    yardstick: str
    budget: int
    ratio: float
    error: float


def budget_ratios(curves: RegretCurves, yardstick: str) -> list[BudgetRatio]:
    """Compare LSA's budgets with those of a yardstick, at every budget where the yardstick's curve has LSA's regret.

    Between two budgets the logarithm of the yardstick's regret is taken to be a straight line. Left out are budgets
    where LSA made no error, or has more regret than the yardstick at its first budget, or less than at its last; and
    where the yardstick's line would end in a regret of 0. Where a curve has the regret more than once, the last counts.
    """
    ours, theirs = curves.row(OURS), curves.row(yardstick)
    regret, error = curves.mean[ours], curves.standard_error[ours]
    line, line_error = curves.mean[theirs], curves.standard_error[theirs]
    found = []
    for place, budget in enumerate(curves.budgets):
        steps = np.flatnonzero((line[:-1] >= regret[place]) & (regret[place] > line[1:]) & (line[1:] > 0.0))
        if steps.size:
            step = int(steps[-1])
            before, after = curves.budgets[step : step + 2]
            slope = math.log(line[step] / line[step + 1]) / float(after - before)
            needed = float(before) + math.log(line[step] / regret[place]) / slope
            relative = math.hypot(error[place] / regret[place], line_error[step] / line[step])
            ratio = float(budget) / needed
            steepness = _steepness(curves.budgets, line, step)
            known = steepness > 0.0 and math.isfinite(relative)
            spread = ratio * relative / (steepness * needed) if known else math.inf
            found.append(BudgetRatio(yardstick, int(budget), ratio, spread))
    return found


def _steepness(budgets: NDArray[np.int64], line: NDArray[np.float64], step: int) -> float:
    """Return how fast ln regret falls around a step, over up to five budgets: one step alone is mostly noise."""
    first, last = max(0, step - 2), min(line.size - 1, step + 3)
    while line[last] <= 0.0:
        last -= 1
    return math.log(line[first] / line[last]) / float(budgets[last] - budgets[first])


def yardstick_lines(curves: RegretCurves) -> Iterator[str]:
    """Say how much more budget LSA needs than the ratio-test oracles in these curves, and what fixed pulls can do."""
    there = [name for name in map(str, RATIO_ORACLES) if name in curves.policies]
    for name in there:
        ratios = budget_ratios(curves, name)
        if not ratios:
            yield f"    {name} has none of LSA's regrets within these budgets."
            continue
        last, median = ratios[-1], float(np.median([item.ratio for item in ratios]))
        half = f" \N{PLUS-MINUS SIGN} {STANDARD_ERRORS * last.error:.2f}" if math.isfinite(last.error) else ""
        yield (
            f"    For its regret at T = {last.budget:,} LSA needs {last.ratio:.2f}{half} times the budget of {name} "
            f"(median over {len(ratios)} budgets: {median:.2f})."
        )
    if there:
        last_budget = int(curves.budgets[-1])
        fixed = fixed_regret(curves.problem, last_budget)
        yield f"    The best fixed pulls for these gaps have {fixed:.4f} at T = {last_budget:,}, averaged over sides."


@cache
def fixed_regret(problem: Problem, budget: int) -> float:
    """Return the least regret of pulls that are fixed beforehand by one who knows the gaps; each is computed once."""
    return float(static_optimum(problem.gaps, budget, problem.threshold))
