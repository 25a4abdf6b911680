"""Pictures as numbers for SVG: the curve of expected errors, and the interval of an arm.

The templates draw them. A picture stretches to the width there is, so that its texts stand outside it, and in it are
lines alone, whose places are in parts of ``WIDE`` and ``HIGH``.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cutline.campaign.results import Decision, ProgressPoint

WIDE, HIGH = 1000, 400


@dataclass(frozen=True)
class Curve:
    """A line, the corners of the area below it, the height of the goal, and what stands along the two axes."""

    line: str
    area: str
    goal: float | None
    up: tuple[float, ...]
    along: tuple[int, ...]


def curve(points: Sequence[ProgressPoint], budget: int, target: float | None) -> Curve | None:
    """Return the picture of expected errors over pulls, up to the budget; None if there are no two points of it."""
    if len(points) < 2:
        return None
    top = _round_up(max(point.expected_errors for point in points))
    places = [
        f"{_short(WIDE * min(point.spent / budget, 1.0))},{_short(HIGH * (1 - point.expected_errors / top))}"
        for point in points
    ]
    first, last = places[0].split(",")[0], places[-1].split(",")[0]
    return Curve(
        line=" ".join(places),
        area=" ".join([f"{first},{HIGH}", *places, f"{last},{HIGH}"]),
        goal=None if target is None or target > top else float(_short(HIGH * (1 - target / top))),
        up=(top, top / 2, 0.0),
        along=(0, budget // 2, budget),
    )


@dataclass(frozen=True)
class Interval:
    """Where the interval of an arm, its mean and the threshold stand, in percent."""

    low: str
    high: str
    mean: str | None
    threshold: str


def interval(decision: Decision, threshold: float) -> Interval:
    """Return the picture of an arm."""
    mean = None if decision.mean is None else _short(100 * decision.mean)
    return Interval(_short(100 * decision.low), _short(100 * decision.high), mean, _short(100 * threshold))


def _round_up(value: float) -> float:
    """Return the next round number that is not below, such as 12, 150 or 4,000."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 1.2, 1.6, 2, 3, 4, 6, 8, 10) if value <= step * power * (1 + 1e-12))


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
