"""Yardsticks: two policies that are told every arm's true gap, which no competitor may know.

O' stands in the paper (Section 3). It ignores the rewards: what an arm gets is decided by its gap alone.

The ratio oracle also looks at the rewards. An arm with the gap Delta has one of two means, p = theta + Delta or
q = theta - Delta, and its record speaks for p with the log-likelihood ratio

    L = S ln(p / q) + (T_i - S) ln((1 - p) / (1 - q)),    S = the arm's total reward.

The decision d_i of Algorithm 1 is right with log odds L where it says above and -L where it says below; Wald's
sequential probability ratio test stops pulling an arm when these odds are high enough. At theta = 1/2,
|L| = 2 |S - T_i / 2| ln((1/2 + Delta) / (1/2 - Delta)).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError
from cutline.policies.policy import Parameters, Policy, above_rounding, below_rounding, check_parameter, excess, settle
from cutline.problem import Problem

_PROOF = 1e6  # a reward that one of the two means rules out; far more than any other evidence comes to, and finite


def gap_oracle_index(pulls: float, total: float, threshold: float, gap: float) -> float:
    """Return T_i Delta_i^2 + ln(1 / Delta_i), Delta_i = gap; infinite for a gap of 0: no pull helps such an arm."""
    if gap == 0.0:
        return math.inf
    return settle(pulls * gap * gap - math.log(gap))  # paper, Section 3: the algorithm O'


def pulls_above(levels: NDArray[np.float64], gaps: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return with how many pulls, at least 1, arms with these gaps first have a Gap-Oracle index above these levels."""
    with np.errstate(divide="ignore", invalid="ignore"):
        last = np.floor((levels + np.log(gaps)) / (gaps * gaps))
    return np.where(gaps > 0.0, np.maximum(last + 1.0, 1.0), 1.0).astype(np.int64)


def gap_oracle_ceiling(
    pulls: float, length: float, lowest: float, highest: float, threshold: float, gap: float
) -> float:
    """Return the index after the most pulls."""
    return gap_oracle_index(pulls + length, 0.0, threshold, gap)


@dataclass(frozen=True)
class GapOracle(Policy):
    """O', which is told the gaps and pulls the arm with the smallest T_i Delta_i^2 + ln(1 / Delta_i).

    An arm whose mean lies on the threshold gets no pull after its first. Source: paper, Section 3.
    """

    name = "Gap-Oracle"
    formula = "T_i * Delta_i^2 + ln(1 / Delta_i), Delta_i the true gap"
    source = "O' of Tao, Blanco, Peng, Zhou: Thresholding Bandit with Optimal Aggregate Regret, NeurIPS 2019, Section 3"
    needs_truth = True
    yardstick = True
    reads_rewards = False

    index = staticmethod(gap_oracle_index)
    ceiling = staticmethod(gap_oracle_ceiling)

    def parameters(self, problem: Problem | None = None, budget: int | None = None) -> Parameters:
        """Return (Delta,), the gaps, shape (K,)."""
        return (_told(self, problem).gaps,)


def ratio_oracle_index(
    pulls: float, total: float, threshold: float, per_reward: float, per_pull: float, handicap: float
) -> float:
    """Return half the log odds that the arm's decision is right, plus its handicap (infinite for a gap of 0).

    L / 2 is written as per_reward * (S - theta T_i) + per_pull * T_i: at theta = 1/2 the second part is exactly 0.
    """
    if handicap == math.inf:
        return math.inf
    above = excess(pulls, total, threshold)
    half_ratio = per_reward * above + per_pull * pulls
    return settle((half_ratio if above >= 0.0 else -half_ratio) + handicap)


def ratio_oracle_ceiling(
    pulls: float,
    length: float,
    lowest: float,
    highest: float,
    threshold: float,
    per_reward: float,
    per_pull: float,
    handicap: float,
) -> float:
    """Return an upper bound over a block: "above" is surest at the highest excess, "below" at the lowest."""
    end = pulls + length
    above = per_reward * highest + max(per_pull * pulls, per_pull * end)
    below = per_reward * lowest + min(per_pull * pulls, per_pull * end)
    scale = per_reward * max(-lowest, highest) + abs(per_pull) * end + handicap
    return above_rounding(max(above, -below) + handicap, scale)


def ratio_oracle_band(
    pulls: float,
    length: float,
    level: float,
    threshold: float,
    per_reward: float,
    per_pull: float,
    handicap: float,
) -> tuple[float, float]:
    """Return (level - handicap - |per_pull| T_i) / per_reward at both ends, nothing for a gap of 0."""
    if handicap == math.inf:
        return -1.0, -1.0
    drift, slope = abs(per_pull) * pulls, abs(per_pull) / per_reward
    distance = below_rounding(level - handicap - drift, abs(level) + handicap + drift) / per_reward
    return distance, below_rounding(distance, abs(distance) + slope * length) - slope * length


@dataclass(frozen=True)
class RatioOracle(Policy):
    """The sequential probability ratio oracle pulls the arm with the smallest L_i / 2 - h ln Delta_i.

    It is told the gaps; L_i are the log odds that the arm's decision is right. ``handicap`` h >= 0 says how far arms
    with small gaps are put off. h = 2 is |S - theta T_i| ln((.5 + Delta_i) / (.5 - Delta_i)) - 2 ln Delta_i at the
    threshold 1/2. h = 1 does better at small budgets: stopping at the log odds B_i = 2 h ln Delta_i + const minimises
    sum exp(-B_i), which bounds the errors, for a given sum B_i / Delta_i^2, about what the pulls add up to, if h = 1.

    A mean theta + Delta or theta - Delta outside [0, 1] is replaced by 1 or 0, so a single reward can be proof. An
    arm whose mean lies on the threshold gets no pull after its first. Raises InvalidInputError for a negative h.
    Source: Wald: Sequential tests of statistical hypotheses, Annals of Mathematical Statistics 16, 1945.
    """

    name = "Ratio-Oracle"
    formula = "L_i / 2 - h * ln(Delta_i), Delta_i the true gap, L_i the log odds that the decision is right"
    source = "Wald: Sequential tests of statistical hypotheses, Annals of Mathematical Statistics 16, 1945"
    needs_truth = True
    yardstick = True

    handicap: float = 2.0

    index = staticmethod(ratio_oracle_index)
    ceiling = staticmethod(ratio_oracle_ceiling)
    band = staticmethod(ratio_oracle_band)

    def __post_init__(self) -> None:
        check_parameter(self, "handicap", lambda value: 0 <= value <= 1e6, "a number from 0 to 1e6")

    def parameters(self, problem: Problem | None = None, budget: int | None = None) -> Parameters:
        """Return (per_reward, per_pull, handicap), each of shape (K,)."""
        told = _told(self, problem)
        threshold, gaps = told.threshold, told.gaps
        one = _log_ratio(gaps, threshold)  # ln(p / q), what a reward of 1 adds to L
        zero = -_log_ratio(gaps, 1.0 - threshold)  # ln((1 - p) / (1 - q)), what a reward of 0 adds
        handicap = np.where(gaps > 0.0, self.handicap * -np.log(np.maximum(gaps, 5e-324)), math.inf)
        return (one - zero) / 2.0, (threshold * one + (1.0 - threshold) * zero) / 2.0, handicap


def _log_ratio(gaps: NDArray[np.float64], threshold: float) -> NDArray[np.float64]:
    """Return ln(min(theta + Delta, 1) / max(theta - Delta, 0)), ``_PROOF`` where the divisor is 0."""
    proof = gaps >= threshold
    inside = np.where(proof, 0.0, gaps)
    ratio = 2.0 * np.arctanh(inside / threshold)
    ratio = np.where(threshold + gaps > 1.0, -np.log1p(-inside / threshold) - math.log(threshold), ratio)
    return np.where(proof, _PROOF, ratio)


def _told(policy: Policy, problem: Problem | None) -> Problem:
    if problem is None:
        raise InvalidInputError(f"{policy.name} needs the true gap of every arm")
    return problem
