"""The errors of arms at every budget: against games that are played out reward by reward."""

import numpy as np
import pytest
from scipy.stats import beta

from cutline import Policy, Problem, parse
from cutline.planning import Beliefs, expected_curve
from cutline.planning.computing import expected
from cutline.planning.computing.expected import is_good

Arms = tuple[tuple[int, int], ...]


def by_all_games(policy: Policy, means: np.ndarray, masses: np.ndarray, threshold: float, budget: int) -> list[float]:
    """The expected errors after K and more pulls of K arms, of every game that there can be.

    ``means`` and ``masses`` have shape (K, N): where each arm's mean may lie.
    """
    arms = len(means)

    def chance(arm: int, pulls: int, total: int) -> np.ndarray:
        joint: np.ndarray = masses[arm] * means[arm] ** total * (1.0 - means[arm]) ** (pulls - total)
        return joint

    def value(pulls: int, total: int) -> float:
        if not pulls and policy.pulls_each_arm_first:
            return -np.inf
        return policy.index(float(pulls), float(total), threshold, *policy.parameters())

    def wrong(state: Arms) -> float:
        found = 0.0
        for arm, (pulls, total) in enumerate(state):
            joint = chance(arm, pulls, total)
            called = pulls > 0 and total / pulls >= threshold - 1e-12
            found += joint[(means[arm] >= threshold) != called].sum() / joint.sum()
        return float(found)

    states: dict[Arms, float] = {((0, 0),) * arms: 1.0}
    errors = []
    for _ in range(budget):
        after: dict[Arms, float] = {}
        for state, weight in states.items():
            arm = int(np.argmin([value(*record) for record in state]))
            pulls, total = state[arm]
            up = chance(arm, pulls + 1, total + 1).sum() / chance(arm, pulls, total).sum()
            for reward, share in ((1, up), (0, 1.0 - up)):
                record = (pulls + 1, total + reward)
                reached = (*state[:arm], record, *state[arm + 1 :])
                after[reached] = after.get(reached, 0.0) + weight * share
        states = after
        errors.append(sum(weight * wrong(state) for state, weight in states.items()))
    return errors[arms - 1 :]


def nodes_of_beta(a: float, b: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss's nodes and masses of a Beta distribution of whole numbers, exact for short records.

    Those below and above the threshold 1/2 are taken on their own, so that errors are exact, too.
    """
    places, weights = np.polynomial.legendre.leggauss(24)
    means = np.concatenate([0.25 * (1.0 + places), 0.5 + 0.25 * (1.0 + places)])
    masses = np.tile(weights, 2) * means ** (a - 1.0) * (1.0 - means) ** (b - 1.0)
    return means, masses / masses.sum()


@pytest.mark.parametrize("name", ["LSA", "Lai", "APT(0.1)", "APT(0)", "Opt-KG(1,1)", "KL-LSA"])
def test_arms_of_one_prior_have_the_errors_of_all_games(name: str) -> None:
    means, masses = nodes_of_beta(2, 2)
    wanted = by_all_games(parse(name), np.tile(means, (3, 1)), np.tile(masses, (3, 1)), 0.5, 12)
    curve = expected_curve(Beliefs.prior(2, 2, 3), 0.5, name, errors=0.75)
    assert [curve.at(budget) for budget in range(3, 13)] == pytest.approx(wanted, rel=0.005)
    assert curve.at(3) == pytest.approx(wanted[0], rel=1e-6)


def test_arms_whose_means_are_given_have_the_errors_of_all_games() -> None:
    given = np.array([0.15, 0.4, 0.8])
    wanted = by_all_games(parse("LSA"), given[:, None], np.ones((3, 1)), 0.3, 12)
    curve = expected_curve(given, 0.3, "LSA", errors=0.5)
    assert [curve.at(budget) for budget in range(3, 13)] == pytest.approx(wanted, rel=0.01)


def test_arms_after_a_pilot_round_have_the_errors_of_all_games() -> None:
    nodes = [nodes_of_beta(1 + total, 1 + pulls - total) for pulls, total in ((4, 1), (6, 4))]
    means, masses = (np.stack(parts) for parts in zip(*nodes, strict=True))
    wanted = by_all_games(parse("LSA"), means, masses, 0.5, 12)
    curve = expected_curve(Beliefs.after([4, 6], [1, 4]), 0.5, "LSA", errors=0.35)
    assert [curve.at(budget) for budget in range(2, 13)] == pytest.approx(wanted, rel=0.01)


def test_arms_that_differ_are_computed_in_groups_that_come_to_nearly_the_same() -> None:
    means = np.repeat(np.linspace(0.05, 0.95, 10), 4)
    alike = expected_curve(means, policy="APT(0.1)", errors=4)
    apart = expected_curve(means + 1e-4 * np.tile(np.arange(4.0), 10), policy="APT(0.1)", errors=4)
    budgets = np.linspace(50, alike.budgets[-1], 20)
    assert [apart.at(at) for at in budgets] == pytest.approx([alike.at(at) for at in budgets], rel=0.005)


def test_very_few_arms_that_differ_are_left_to_games() -> None:
    assert is_good(Beliefs.prior(2, 2, 2))
    assert [arms for arms in (2, 9, 10, 700) if is_good(Problem(np.linspace(0.1, 0.9, arms)))] == [10, 700]


@pytest.mark.slow
def test_where_hardly_any_may_be_wrong_arms_that_differ_need_what_games_say() -> None:
    """30,194 games with 25 means i / 27 and 0.1 errors ask for 4,740 \N{PLUS-MINUS SIGN} 72 pulls."""
    budget = expected_curve(np.arange(1, 26) / 27, policy="Lai", errors=0.1).budget(0.1)
    assert budget == pytest.approx(4740, abs=2 * 72)


@pytest.mark.slow
def test_groups_of_arms_by_the_pulls_that_they_take_come_to_what_each_arm_on_its_own_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """24 of the 30 means are exact at 0.1 errors; at 5 errors there are 12 groups."""
    means = beta(2, 2).ppf((np.arange(30) + 0.5) / 30)
    grouped = [expected_curve(means, errors=errors).budget(errors) for errors in (0.15, 5.0)]
    monkeypatch.setattr(expected, "_MOST_GROUPS", 30)
    monkeypatch.setattr(expected, "_GROUPS_AT_ONE_ERROR", 1000)
    alone = [expected_curve(means, errors=errors).budget(errors) for errors in (0.15, 5.0)]
    assert grouped == [pytest.approx(budget, rel=0.002) for budget in alone]
