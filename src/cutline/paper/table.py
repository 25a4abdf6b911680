"""The paper's table of t-tests between LSA and every other policy, with the paper's own p-values beside ours.

Two correct implementations get different p-values, since their rewards differ: p = 1e-78 for one may be 1e-90 for
the other. Turned into |z|, the normal deviate with that p-value, each is a normal variable with standard deviation
about 1 around the same number, so two of them differ by sqrt(2) or so. A p-value that the paper prints as 0 stands
for |z| > 37. |z| grows with the square root of the number of runs; with R runs instead of the paper's 5,000 its
|z| times sqrt(R / 5,000) is what ours should be.
"""

import csv
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass

from cutline.paper.setups import BEYOND, COMPETITORS, OURS, RUNS
from cutline.policies import Policy
from cutline.simulation.curves import RegretCurves
from cutline.simulation.statistics import normal_deviate

PAPER_P_VALUES: dict[int, tuple[str, ...]] = {
    1: ("1.4e-32", "0.60", "0.95", "1.3e-5", "0", "2.5e-69", "4.1e-225", "7.8e-3", "5.6e-8", "1.1e-295"),
    2: ("0", "8.9e-21", "1.5e-78", "4.0e-160", "0", "0", "1.6e-251", "2.9e-26", "4.6e-46", "0"),
    3: ("0", "7.8e-28", "3.6e-88", "1.5e-192", "0", "0", "2.0e-157", "2.1e-24", "6.5e-36", "0"),
}
"""The p-values as the paper prints them, by setup and in the order of ``COMPETITORS`` (Appendix F.1)."""

Z_OF_ZERO = 37.0
"""The least |z| whose p-value a float cannot hold, so that it is printed as 0."""

FALSE_ALARM = 1e-4
"""The probability that a right implementation disagrees with the paper anywhere in the table."""

COLUMNS = ("setup", "budget", "policy", "regret_lsa", "regret", "p_paper", "p_ours", "z_paper", "z_ours", "agrees")


@dataclass(frozen=True)
class Cell:
    """One comparison of LSA with a policy: what the paper got, what we got, and whether the two agree.

    ``p_paper`` and ``p_ours`` are texts, since a float cannot hold them all. ``z_paper`` is |z| of the paper's 5,000
    runs (its lower bound where p is 0), ``z_ours`` is |z| of ours. All that is the paper's, and whether it agrees, is
    None for a policy that the paper does not have.
    """

    setup: int
    budget: int
    policy: str
    regret_lsa: float
    regret: float
    p_paper: str | None
    p_ours: str
    z_paper: float | None
    z_ours: float
    agrees: bool | None


def table(curves: Mapping[int, RegretCurves], false_alarm: float = FALSE_ALARM) -> list[Cell]:
    """Compare LSA with every policy at the last budget of Setups 1 to 3, as far as there are curves.

    Policies past the paper come after those of the paper, where the curves have them.

    ``curves``: by setup number, with two runs or more and independent streams, as the paper's are.
    ``false_alarm``: probability that any of the 30 cells disagrees by chance alone (Bonferroni).
    """
    return [
        _cell(number, policy, p_paper, curves[number], false_alarm)
        for number, p_values in PAPER_P_VALUES.items()
        if number in curves
        for policy, p_paper in [*zip(COMPETITORS, p_values, strict=True), *((policy, None) for policy in BEYOND)]
        if str(policy) in curves[number].policies
    ]


def agrees(z_ours: float, z_paper: float, at_least: bool, runs: int, false_alarm: float = FALSE_ALARM) -> bool:
    """Say whether our |z| from so many runs is what the paper's |z| from 5,000 (or its lower bound) lets us expect."""
    cells = sum(len(row) for row in PAPER_P_VALUES.values())
    share = runs / RUNS
    spread = math.sqrt(1.0 + share)
    tolerance = normal_deviate(math.log(false_alarm / cells)) * spread
    difference = z_ours - z_paper * math.sqrt(share)
    return difference >= -tolerance and (at_least or difference <= tolerance)


def to_csv(cells: list[Cell]) -> str:
    """Return the table as CSV with the columns of ``COLUMNS``."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([getattr(cell, name) for name in COLUMNS] for cell in cells)
    return text.getvalue()


def to_markdown(cells: list[Cell], runs: int) -> str:
    """Return the table as Markdown, with a line on how to read it."""
    lines = [
        f"# LSA against the other policies: two-tailed t-tests, {runs:,} runs",
        "",
        "p and |z| of the difference in aggregate regret from LSA(1.35), the paper's (Appendix F.1, 5,000 runs) and",
        "ours. The rewards differ, so the p-values do; |z| should differ by no more than chance allows. Where the",
        f"paper prints p = 0, |z| is above {Z_OF_ZERO:g}. Chance alone makes any cell of the table say no with",
        f"probability {FALSE_ALARM:g}.",
        "",
        "| Setup | T | Policy | regret | LSA's | p, paper | p, ours | z, paper | z, ours | agrees |",
        "|---|---:|---|---:|---:|---:|---:|---:|---:|---|",
    ]
    for cell in cells:
        p_paper, z_paper, verdict = "-", "-", "-"
        if cell.p_paper is not None and cell.z_paper is not None:
            p_paper, verdict = cell.p_paper, "yes" if cell.agrees else "no"
            z_paper = f"> {cell.z_paper:g}" if _is_zero(cell.p_paper) else f"{cell.z_paper:.2f}"
        lines.append(
            f"| {cell.setup} | {cell.budget:,} | {cell.policy} | {cell.regret:.4f} | {cell.regret_lsa:.4f} "
            f"| {p_paper} | {cell.p_ours} | {z_paper} | {cell.z_ours:.2f} | {verdict} |"
        )
    return "\n".join(lines) + "\n"


def p_text(log10_p: float) -> str:
    """Write a p-value as the paper does, two digits, however small it is."""
    if log10_p == -math.inf:
        return "0"
    if log10_p > -2:
        return f"{10**log10_p:.2f}"
    exponent = math.floor(log10_p)
    digits = f"{10 ** (log10_p - exponent):.1f}"
    return f"1.0e{exponent + 1}" if digits == "10.0" else f"{digits}e{exponent}"


def _is_zero(p: str) -> bool:
    return p == "0"


def _cell(number: int, policy: Policy, p_paper: str | None, curves: RegretCurves, false_alarm: float) -> Cell:
    found = curves.compare(OURS, policy)
    z_paper, alike = None, None
    if p_paper is not None:
        z_paper = Z_OF_ZERO if _is_zero(p_paper) else normal_deviate(math.log(float(p_paper)))
        alike = agrees(abs(found.z), z_paper, _is_zero(p_paper), curves.runs, false_alarm)
    return Cell(
        setup=number,
        budget=int(curves.budgets[-1]),
        policy=str(policy),
        regret_lsa=float(curves.mean[curves.row(OURS), -1]),
        regret=float(curves.mean[curves.row(policy), -1]),
        p_paper=p_paper,
        p_ours=p_text(found.log10_p),
        z_paper=z_paper,
        z_ours=abs(found.z),
        agrees=alike,
    )
