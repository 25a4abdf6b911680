"""What the paper's experiments say, in a few lines of plain text."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from cutline.paper.setups import BEYOND, COMPETITORS, OURS, SETUPS
from cutline.paper.table import FALSE_ALARM, Cell
from cutline.paper.yardsticks import yardstick_lines
from cutline.simulation.curves import RegretCurves

SIGNIFICANCE = 0.05
"""Of all comparisons of one setup together: each is held to this divided by their number (Bonferroni)."""


@dataclass(frozen=True)
class Rival:
    """A policy at a budget next to LSA: how much lower LSA's regret is (in arms), and whether that is significant.

    ``lead`` is negative where the policy is the better one.
    """

    policy: str
    budget: int
    lead: float
    significant: bool


def rivals(curves: RegretCurves) -> dict[int, list[Rival]]:
    """Compare LSA with every competitor of the paper in these curves, at every budget: budget -> one Rival a policy.

    Nothing is significant where there is a single run.
    """
    names = [str(policy) for policy in COMPETITORS if str(policy) in curves.policies]
    level = math.log10(SIGNIFICANCE / (len(names) * curves.budgets.size))
    mean, ours = curves.mean, curves.row(OURS)
    return {
        int(budget): [
            Rival(
                policy=name,
                budget=int(budget),
                lead=float(mean[curves.row(name), place] - mean[ours, place]),
                significant=curves.runs > 1 and curves.compare(name, OURS, int(budget)).log10_p < level,
            )
            for name in names
        ]
        for place, budget in enumerate(curves.budgets)
    }


def summary(curves: Mapping[int, RegretCurves], cells: list[Cell]) -> str:
    """Return where LSA has the lowest regret, where it has not, and how our t-tests agree with the paper's.

    ``curves``: by setup number, at least one. ``cells``: the table of t-tests, empty where there is none.
    """
    lines = list(_opening(next(iter(curves.values()))))
    for number in sorted(curves):
        lines += _setup_lines(number, curves[number])
    lines += _table_lines(cells)
    return "\n".join(lines) + "\n"


def _opening(curves: RegretCurves) -> Iterator[str]:
    compared = sum(str(policy) in curves.policies for policy in COMPETITORS)
    if curves.runs == 1:
        yield f"Regret of {OURS} against {compared} policies, one run: too few for a test."
    else:
        yield f"Regret of {OURS} against {compared} policies, {curves.runs:,} runs."
        yield f"Significant: p < {SIGNIFICANCE} / {compared * curves.budgets.size}, the comparisons of a setup."
    yield ""


def _setup_lines(number: int, curves: RegretCurves) -> Iterator[str]:
    found = rivals(curves)
    lowest = [budget for budget, row in found.items() if all(rival.lead >= 0 for rival in row)]
    clear = [budget for budget in lowest if all(rival.significant for rival in found[budget])]
    how = f", at {len(clear)} of them significantly below every other" if curves.runs > 1 else ""
    yield f"{SETUPS[number].name}. LSA is lowest at {len(lowest)} of {len(found)} budgets{how}."
    last = int(curves.budgets[-1])
    best = min(found[last], key=lambda rival: rival.lead)
    ours = float(curves.mean[curves.row(OURS), -1])
    yield f"    At T = {last:,}: LSA {ours:.4f}, the best other {ours + best.lead:.4f} ({best.policy})."
    ahead = [rival for row in found.values() for rival in row if rival.lead < 0]
    if curves.runs > 1:
        yield f"    Significantly lower than LSA: {_where([rival for rival in ahead if rival.significant])}."
    yield f"    Lower by what may be chance: {_where([rival for rival in ahead if not rival.significant])}."
    yield from _beyond_line(curves)
    yield from yardstick_lines(curves)


def _beyond_line(curves: RegretCurves) -> Iterator[str]:
    last = [
        f"{name} {float(curves.mean[curves.row(name), -1]):.4f}" for name in map(str, BEYOND) if name in curves.policies
    ]
    if last:
        yield f"    Past the paper, at T = {int(curves.budgets[-1]):,}: {', '.join(last)}."


def _table_lines(cells: list[Cell]) -> Iterator[str]:
    compared = [cell for cell in cells if cell.agrees is not None]
    if compared:
        agreeing = sum(cell.agrees is True for cell in compared)
        yield ""
        yield f"t-tests: {agreeing} of {len(compared)} cells agree with the paper's table within chance,"
        yield f"allowing a right program a miss anywhere in the table with probability {FALSE_ALARM:g}."
        for cell in compared:
            if not cell.agrees:
                at_least = "above " if cell.p_paper == "0" else ""
                yield (
                    f"    Setup {cell.setup}, {cell.policy}: |z| is {cell.z_ours:.1f}, "
                    f"the paper's {at_least}{cell.z_paper:.1f}"
                )


def _where(ahead: list[Rival]) -> str:
    budgets: dict[str, list[int]] = {}
    for rival in ahead:
        budgets.setdefault(rival.policy, []).append(rival.budget)
    return "; ".join(f"{policy} at {len(places)} ({_span(places)})" for policy, places in budgets.items()) or "none"


def _span(budgets: list[int]) -> str:
    return f"T = {budgets[0]:,}" if len(budgets) == 1 else f"T = {budgets[0]:,} to {budgets[-1]:,}"
