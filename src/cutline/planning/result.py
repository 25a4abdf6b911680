"""What a plan says: what each policy needs, with its curve, as a table and as text."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cutline.planning.computed import GOOD
from cutline.policies.oracle import GapOracle
from cutline.rows import Rows
from cutline.text import aligned

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("what", "budget", "low", "high", "how")


@dataclass(frozen=True)
class Point:
    """The expected errors at a budget: simulated, with a standard error, or computed, which has none.

    Beside them those of Uniform, and of the gap oracle where they are known: see ``Plan.oracle``.
    """

    budget: int
    expected_errors: float
    standard_error: float
    uniform: float
    oracle: float | None = None


@dataclass(frozen=True)
class Beside:
    """What another policy needs, and its curve: the same as in the plan in whose ``beside`` it stands."""

    policy: str
    budget: int | None
    low: int | None
    high: int | None
    games: int
    curve: tuple[Point, ...]


@dataclass(frozen=True)
class Plan(Rows):
    """What ``plan`` returns. Budgets are pulls in all; None stands for a budget that does not exist or was not found.

    ``budget``: the smallest at which ``policy`` makes at most ``target`` errors on average, and ``low`` to ``high``,
    its interval: with this ``confidence`` where ``games`` were simulated, 0.5 % to either side where it was computed
    without a game. ``expected_errors``: at that budget, else at the largest one looked at, with their
    ``standard_error``, 0 if computed. ``uniform``: what Uniform needs, exactly.
    ``upper_bound``: the budget from which on Theorem 1 promises the target to LSA. ``lower_bound``: below it Theorem 2
    denies the target to every policy on some choice of the arms' sides. ``remark``: what else there is to know, such as
    why there is no budget. ``curve``: the expected errors at the budgets that were looked at. ``beside``: what the
    other policies need that were asked for. ``uniform_beyond``: Uniform's expected errors at budgets beyond the curve,
    up to what it needs. ``oracle``: what the gap oracle needs, which is told how far each mean is
    from the threshold; None where means of few arms are not known, or it would pull an arm more than 16,384 times.
    """

    policy: str
    arms: int
    threshold: float
    target: float
    budget: int | None
    low: int | None
    high: int | None
    confidence: float
    expected_errors: float
    standard_error: float
    games: int
    uniform: int | None
    upper_bound: int | None
    lower_bound: int | None
    remark: str
    seed: int
    curve: tuple[Point, ...]
    beside: tuple[Beside, ...] = ()
    oracle: int | None = None
    uniform_beyond: tuple[tuple[int, float], ...] = ()

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict a line of the table, with the keys of ``COLUMNS``."""
        plans: list[Plan | Beside] = [self, *self.beside]
        rows = [(one.policy, one.budget, one.low, one.high, self._how(one)) for one in plans]
        rows.append(("Uniform", self.uniform, None, None, "exact"))
        if self.oracle is not None and GapOracle.name not in {one.policy for one in plans}:
            rows.append((GapOracle.name, self.oracle, None, None, "computed, told the gaps"))
        if self.upper_bound is not None:
            rows.append((self.policy, self.upper_bound, None, None, "enough, says Theorem 1"))
        if self.lower_bound is not None:
            rows.append(("any policy", self.lower_bound, None, None, "needed at worst, says Theorem 2"))
        return [dict(zip(COLUMNS, row, strict=True)) for row in rows]

    def _how(self, one: "Plan | Beside") -> str:
        if one.games:
            return f"simulated, {one.games:,} games, {self.confidence:.0%} interval"
        return f"computed, good to {GOOD:.1%}" if one.curve else "not simulated"

    def plot(self, path: str | os.PathLike[str] | None = None) -> "Figure":
        """Return the figure of the plan, and write it to a path if one is given: .svg, .png or .pdf.

        Raises InvalidInputError for another ending, a file that cannot be written or a plan without a curve,
        MissingDependencyError without matplotlib.
        """
        from cutline.planning.figure import plan_figure
        from cutline.plotting.saving import drawn

        return drawn(lambda: plan_figure(self), path)

    def __str__(self) -> str:
        arms = "1 arm" if self.arms == 1 else f"{self.arms:,} arms"
        accuracy = max(0.0, 1.0 - self.target / self.arms)
        aim = f"at most {self.target:g} expected errors (accuracy {accuracy:.10g})"
        lines = [f"{arms}, threshold {self.threshold:g}: {aim}", ""]
        table, how = [["policy", "budget", "low", "high"]], [""]
        for row in self.rows():
            numbers = ["-" if row[key] is None else f"{row[key]:,}" for key in ("budget", "low", "high")]
            table.append([row["what"], *numbers])
            how.append(row["how"])
        lines += [f"{numbers}  {text}".rstrip() for numbers, text in zip(aligned(table), how, strict=True)]
        return "\n".join([*lines, *(["", self.remark] if self.remark else [])])
