"""The picture of an arm as numbers for SVG.

The template draws it. A picture stretches to the width there is, so that its texts stand outside it.
"""

from dataclasses import dataclass

from cutline.campaign.results import Decision


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


def _short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
