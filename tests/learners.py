"""A small policy that learns: quick enough to be refitted thousands of times."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cutline.policies import LearningPolicy, Tally


def nearest_first(pulls: float, total: float, threshold: float, table: NDArray[np.float64]) -> float:
    """Return how far the mean, drawn to that of all arms, is from the threshold, times the root of the pulls."""
    mean = (total + float(table[0])) / (pulls + 1.0)
    return abs(mean - threshold) * math.sqrt(pulls) + float(table[1])


@dataclass(frozen=True)
class Shrunk(LearningPolicy):
    """It learns the mean of all rewards, as one more reward of every arm. Source: made for these tests."""

    name = "Shrunk"
    formula = "sqrt(T_i) * |mean_i, drawn to the mean of all arms - theta|"
    source = "Made for these tests"

    index = staticmethod(nearest_first)

    def next_refit(self, arms: int, spent: int) -> int:
        return arms * (spent // arms + 1)

    def learn(self, records: Tally, threshold: float) -> tuple[float, ...]:
        pulls = float(records.pulls @ records.arms)
        return (float(records.totals @ records.arms) / pulls if pulls else 0.5,)

    def table(self, learnt: tuple[float, ...], threshold: float) -> NDArray[np.float64]:
        return np.array([learnt[0], 0.0])
