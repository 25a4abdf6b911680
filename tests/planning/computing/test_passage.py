"""Arms that pass levels: against all sequences of rewards, closed forms, and one another."""

import numpy as np
import pytest
from scipy.stats import beta, binom

from cutline import LSA, Policy, Uniform, parse
from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.passage import Sources, pass_levels
from cutline.planning.computing.sums import Sums
from cutline.theory.concentration import error_probability

FRESH = Sources(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1))


def by_all_sequences(
    policy: Policy, mean: float, threshold: float, level: float, begin: tuple[int, int], depth: int
) -> tuple[float, float, float]:
    """The expected pulls, their squares and the probability of error of one arm, sequence by sequence of rewards.

    An arm with no more than ``depth`` pulls; the squares are those of all its pulls, less what it began with.
    """

    def follow(pulls: int, total: int) -> tuple[float, float, float]:
        value = -np.inf
        if pulls or not policy.pulls_each_arm_first:
            value = policy.index(float(pulls), float(total), threshold, *policy.parameters())
        if value > level or pulls == depth:
            called = pulls > 0 and total / pulls >= threshold
            return float(pulls), float(pulls**2), float(called != (mean >= threshold))
        one, none = follow(pulls + 1, total + 1), follow(pulls + 1, total)
        pulled, squares, wrong = (mean * a + (1.0 - mean) * b for a, b in zip(one, none, strict=True))
        return pulled, squares, wrong

    pulled, squares, wrong = follow(*begin)
    return pulled - begin[0], squares - begin[0] ** 2, wrong


def passed(policy: Policy, threshold: float, levels: list[float], sources: Sources, nodes: Nodes, depth: int) -> Sums:
    edges = np.arange(depth + 1)
    return pass_levels(policy, threshold, policy.parameters(), np.array(levels), sources, nodes, edges)


@pytest.mark.parametrize("name", ["LSA", "APT(0.1)", "Opt-KG(1,1)", "Uniform"])
@pytest.mark.parametrize("threshold", [0.5, 0.3])
def test_pulls_and_errors_are_those_of_all_sequences_of_rewards(name: str, threshold: float) -> None:
    policy, means, masses = parse(name), np.array([0.2, 0.45, 0.7]), np.array([3.0, 1.0, 2.0])
    levels = sorted(policy.index(float(n), float(n // 2), threshold, *policy.parameters()) for n in (1, 2, 5, 8))
    sums = passed(policy, threshold, levels, FRESH, Nodes.of(means, masses, threshold), 11)
    for place, level in enumerate(levels):
        wanted = masses @ np.array([by_all_sequences(policy, mean, threshold, level, (0, 0), 11) for mean in means])
        assert [sums.pulls[place], sums.squares[place], sums.errors[place]] == pytest.approx(list(wanted), rel=1e-9)


def test_arms_that_have_records_already_go_on_from_them() -> None:
    policy, means, masses = LSA(), np.array([0.35, 0.6]), np.array([0.25, 0.75])
    begins, counts = [(2, 1), (4, 3), (4, 2), (7, 0)], np.array([5.0, 1.0, 2.0, 4.0])
    pulls, totals = np.array(begins).T
    density = beta.pdf(means[:, None], totals + 1, pulls - totals + 1)
    sources = Sources(pulls, totals, counts / (masses @ density))
    levels = [0.3, 0.6, 0.9, 1.1]
    sums = passed(policy, 0.5, levels, sources, Nodes.of(means, masses, 0.5), 12)
    likelihood = masses[:, None] * binom.pmf(totals, pulls, means[:, None])
    believed = likelihood / likelihood.sum(axis=0)
    for place, level in enumerate(levels):
        each = np.array([[by_all_sequences(policy, mean, 0.5, level, begin, 12) for begin in begins] for mean in means])
        wanted = np.einsum("mb,b,mbk->k", believed, counts, each)
        assert [sums.pulls[place], sums.squares[place], sums.errors[place]] == pytest.approx(list(wanted), rel=1e-9)


def test_uniform_has_the_errors_of_the_binomial_distribution() -> None:
    means, masses = np.array([0.1, 0.48, 0.55, 1.0]), np.array([1.0, 20.0, 7.0, 2.0])
    levels = [1.0, 5.0, 30.0]
    sums = passed(Uniform(), 0.5, levels, FRESH, Nodes.of(means, masses, 0.5), 40)
    assert sums.pulls == pytest.approx([60.0, 180.0, 930.0])
    for place, level in enumerate(levels):
        wrong = error_probability(means, np.array([level + 1.0]), 0.5)
        assert sums.errors[place] == pytest.approx(float(masses @ wrong), rel=1e-9)


def test_pulls_by_their_number_and_what_they_do_add_up_to_all() -> None:
    nodes = Nodes.of(np.array([0.3, 0.52]), np.array([4.0, 6.0]), 0.5)
    sums = passed(LSA(), 0.5, [0.2, 0.5, 0.8, 1.1], FRESH, nodes, 30)
    assert sums.taken.sum(axis=0) == pytest.approx(sums.pulls)
    assert 6.0 + sums.gains.sum(axis=0) == pytest.approx(sums.errors)  # without pulls arms are called below
    assert sums.taken[0] == pytest.approx([10.0] * 4)


def test_arms_that_are_left_at_the_last_row_are_told() -> None:
    nodes = Nodes.of(np.array([0.5]), np.array([1.0]), 0.5)
    sums = passed(Uniform(), 0.5, [3.0, 9.0, 20.0], FRESH, nodes, 10)
    assert sums.left == pytest.approx([0.0, 1.0, 1.0])
    sums = passed(Uniform(), 0.5, [3.0, 9.0, 20.0], FRESH, nodes, 11)
    assert sums.left == pytest.approx([0.0, 0.0, 1.0])


def test_rows_may_be_wider_than_the_first_room() -> None:
    begins = np.array([3, 1500, 1500])
    sources = Sources(begins, np.array([1, 100, 1490]), np.array([1.0, 1e-3, 1e-3]))
    nodes = Nodes.of(np.array([0.07, 0.4, 0.99]), np.array([0.3, 0.4, 0.3]), 0.5)
    sums = passed(Uniform(), 0.5, [4.0, 1499.0], sources, nodes, 1510)
    assert sums.pulls[0] == pytest.approx(2.0 * float(nodes.masses @ beta.pdf([0.07, 0.4, 0.99], 2, 3)), rel=1e-9)
    assert sums.left == pytest.approx([0.0, 0.0])


def test_very_many_means_are_taken_in_groups_that_come_to_the_same() -> None:
    means = np.random.default_rng(3).beta(2, 2, 10_000)
    grouped = Nodes.of(means, np.ones(10_000), 0.5)
    assert grouped.masses.size < 4_096
    assert grouped.masses.sum() == 10_000
    alone = [Nodes.of(part, np.ones(part.size), 0.5) for part in np.split(means, 4)]
    levels, fresh = np.array([0.5, 1.5, 2.5]), Sources(np.zeros(1, np.int64), np.zeros(1, np.int64), np.ones(1))
    sums, *parts = (
        pass_levels(LSA(), 0.5, (1.35,), levels, fresh, nodes, np.array([0, 256])) for nodes in (grouped, *alone)
    )
    assert sums.pulls == pytest.approx(sum(part.pulls for part in parts), rel=1e-5)
    assert sums.errors == pytest.approx(sum(part.errors for part in parts), rel=1e-5)
