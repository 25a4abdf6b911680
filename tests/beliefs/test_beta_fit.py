"""The fitted shapes against the likelihood of the books, written out, and a general optimiser."""

import numpy as np
import pytest
from scipy import optimize, stats

from cutline.beliefs.beta_fit import Shape, shapes
from cutline.beliefs.intervals import Floats

Record = tuple[Floats, Floats, Floats]


def records(means: Floats, pulls: int, seed: int = 1) -> Record:
    """Draw a record of as many pulls for each of the arms with these means: pulls, totals, arms."""
    totals, arms = np.unique(np.random.default_rng(seed).binomial(pulls, means), return_counts=True)
    return np.full(totals.size, float(pulls)), totals.astype(float), arms.astype(float)


def log_posterior(shape: Shape, record: Record, points: int) -> tuple[float, float]:
    """Return ln of likelihood times prior density, but for a constant, and ln of the likelihood alone."""
    n, total, arms = record
    likelihood = shape.weight * stats.betabinom.pmf(total, n, shape.a, shape.b)
    likelihood += shape.zero * (total == 0) + shape.one * (total == n)
    of_records = float(arms @ np.log(likelihood))
    mean, size = shape.a / (shape.a + shape.b), shape.a + shape.b
    of_prior = -0.5 * (np.log(mean / (1 - mean)) / 3) ** 2 - 0.5 * (np.log(size / 2) / 2) ** 2 + np.log(shape.weight)
    if points == 2:
        of_prior += 0.02 * np.log(shape.zero * shape.one)
    return float(of_records + of_prior), of_records


SETS = {
    "a crowd": records(np.random.default_rng(2).beta(2.0, 2.0, 300), 5),
    "a suite": records(np.append(np.ones(1900), np.random.default_rng(2).beta(3.0, 1.0, 100)), 20),
    "both ends": records(np.concatenate([np.zeros(60), np.ones(80), np.random.default_rng(2).random(60)]), 10),
}


@pytest.mark.parametrize("name", SETS)
def test_a_general_optimiser_finds_nothing_more_probable(name: str) -> None:
    record = SETS[name]
    found = [shape for _, shape in shapes(*record)]
    for points, shape in ((0, found[0]), (2, found[3])):

        def unlikely(x: Floats, points: int = points) -> float:
            weights = np.exp(np.append(0.0, x[2:])) / np.exp(np.append(0.0, x[2:])).sum()
            a, b = np.exp(x[:2])
            return -log_posterior(Shape(weights[0], a, b, *(weights[1:] if points else (0.0, 0.0))), record, points)[0]

        start = np.log([shape.a, shape.b, *([shape.zero / shape.weight, shape.one / shape.weight] if points else [])])
        starts = [start, np.array([0.0, 0.0, -2.0, -2.0][: start.size]), np.array([1.0, 0.0, 1.0, 1.0][: start.size])]
        best = min(optimize.minimize(unlikely, each, method="Nelder-Mead").fun for each in starts)
        assert log_posterior(shape, record, points)[0] == pytest.approx(-best, abs=0.01)


def test_shapes_are_weighed_by_their_likelihood_and_how_many_points_they_have() -> None:
    record = SETS["a crowd"]
    found = shapes(*record)
    criteria = [
        log_posterior(shape, record, 0)[1] - 0.5 * points * np.log(300)
        for points, (_, shape) in zip((0, 1, 1, 2), found, strict=True)
    ]
    expected = np.exp(criteria - np.max(criteria)) / np.exp(criteria - np.max(criteria)).sum()
    assert [weight for weight, _ in found] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("name", "low", "high"), [("a crowd", 0.0, 0.02), ("a suite", 0.9, 0.96)])
def test_a_point_counts_for_what_the_records_need_it(name: str, low: float, high: float) -> None:
    assert low < sum(weight * shape.one for weight, shape in shapes(*SETS[name])) < high


def test_from_no_records_the_beta_is_flat() -> None:
    nothing = np.array([])
    for weight, shape in shapes(nothing, nothing, nothing):
        assert (weight, shape.a, shape.b) == pytest.approx((0.25, 1.0, 1.0), abs=1e-6)
