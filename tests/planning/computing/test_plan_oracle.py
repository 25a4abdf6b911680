"""What the gap oracle needs, against its game played by hand and against means drawn from the prior."""

import math

import pytest

from cutline import Problem
from cutline.planning import Beliefs, plan
from cutline.planning.computing.exact import UniformErrors
from cutline.planning.computing.oracle import OracleErrors
from cutline.planning.result import Plan


def oracle(guess: Beliefs | Problem, target: float, threshold: float = 0.5) -> OracleErrors:
    return OracleErrors(guess, UniformErrors(guess, threshold), threshold, target)


def errors_of_a_game(means: list[float], threshold: float, budget: int) -> float:
    """Play O' as the paper states it and add up the binomial probabilities of wrong decisions."""
    gaps = [abs(mean - threshold) for mean in means]
    pulls = [1] * len(means)
    while sum(pulls) < budget:
        indices = [n * gap * gap - math.log(gap) for n, gap in zip(pulls, gaps, strict=True)]
        pulls[indices.index(min(indices))] += 1
    errors = 0.0
    for mean, n in zip(means, pulls, strict=True):
        chances = [math.comb(n, s) * mean**s * (1.0 - mean) ** (n - s) for s in range(n + 1)]
        errors += sum(chance for s, chance in enumerate(chances) if (s / n >= threshold) != (mean >= threshold))
    return errors


@pytest.mark.parametrize(("means", "threshold"), [([0.3, 0.42, 0.58, 0.7], 0.5), ([0.05, 0.2, 0.31, 0.8], 0.25)])
def test_with_given_means_the_errors_are_those_of_the_game(means: list[float], threshold: float) -> None:
    found = oracle(Problem(means, threshold), 0.5, threshold)
    budget = found.budget()
    assert budget is not None
    assert found.at(budget) == pytest.approx(errors_of_a_game(means, threshold, budget), abs=1e-12)
    assert 0.3 < errors_of_a_game(means, threshold, budget) <= 0.5


def test_for_many_arms_a_prior_gives_the_budget_of_means_drawn_from_it() -> None:
    beliefs = Beliefs.prior(2, 2, 100_000)
    drawn = oracle(beliefs.draw(0.5, 1), 10_000).budget()
    assert oracle(beliefs, 10_000).budget() == pytest.approx(drawn, rel=0.02)


def test_what_is_not_known_or_takes_too_many_pulls_has_no_budget() -> None:
    for guess in (Beliefs.prior(2, 2, 999), Problem([0.5]), Problem([0.4999, 0.2])):
        found = oracle(guess, 0.2)
        assert found.budget() is None
        assert found.at(100) is None


def test_a_plan_has_the_oracle_beside_it() -> None:
    found: Plan = plan(Beliefs.prior(2, 2, 10_000), errors=1000, policy="LSA", progress=False)
    known = oracle(Beliefs.prior(2, 2, 10_000), 1000)
    assert found.oracle == known.budget()
    assert str(found).splitlines()[-1].split()[:2] == ["Gap-Oracle", f"{found.oracle:,}"]
    assert [point.oracle for point in found.curve] == [known.at(point.budget) for point in found.curve]
    assert found.curve[-1].oracle is not None
