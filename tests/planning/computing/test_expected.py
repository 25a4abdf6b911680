"""Expected errors without games: against closed forms, simulated games, and what is true of any curve."""

import numpy as np
import pytest

from cutline import LSA, parse
from cutline.errors import InvalidInputError
from cutline.planning import Beliefs, expected_curve, plan
from cutline.planning.computing.exact import UniformErrors
from cutline.planning.computing.expected import can_be_expected


@pytest.mark.parametrize("threshold", [0.5, 0.2])
def test_uniform_has_its_exact_errors_after_whole_rounds(threshold: float) -> None:
    guess = Beliefs.prior(2, 2, 40)
    curve = expected_curve(guess, threshold, "Uniform", errors=6)
    exact = UniformErrors(guess, threshold)
    rounds = 40 * np.arange(1, 8)  # later some levels hold the errors of two rounds
    assert [curve.at(int(b)) for b in rounds] == pytest.approx([exact.at(int(b)) for b in rounds], rel=1e-5)


def test_a_thousand_arms_have_the_errors_of_games_where_the_curve_of_more_arms_has_a_kink() -> None:
    # 6,000 draws, each with a game: the mean errors at these budgets and their standard errors.
    games = {
        1100: (185.16, 0.10),
        1300: (72.21, 0.11),
        1382: (48.347, 0.048),
        1500: (48.080, 0.044),
        2000: (44.14, 0.04),
    }
    computed = expected_curve(Beliefs.prior(1, 3, 1000), 0.8, "LSA", errors=30)
    for budget, (mean, error) in games.items():
        assert abs(computed.at(budget) - mean) < 4.0 * error


def test_few_arms_need_more_pulls_for_each_than_many() -> None:
    # 8,000 draws of 1,000 arms put 50 errors at 41,377 pulls, with a standard error of 0.24 %.
    needed = []
    for arms in (100, 1000, 1_000_000):
        budget = expected_curve(Beliefs.prior(2, 2, arms), policy="LSA", errors=0.05 * arms).budget(0.05 * arms)
        assert budget is not None
        needed.append(budget / arms)
    assert needed == sorted(needed, reverse=True)
    assert needed == pytest.approx([41.98, 41.28, 41.21], abs=0.02)
    assert needed[1] == pytest.approx(41.377, rel=3 * 0.0024)


def test_a_hundred_arms_need_what_games_say() -> None:
    # 120 million pulls of games put 2 errors at 331.3 pulls, with a standard error of 0.11 %.
    found = expected_curve(Beliefs.prior(1, 3, 100), 0.8, "LSA", errors=2)
    assert found.at(0.995 * 331.3) > 2 > found.at(1.005 * 331.3)


@pytest.mark.slow
def test_a_budget_is_the_one_at_which_the_curve_comes_to_the_errors() -> None:
    curve = expected_curve(Beliefs.prior(1, 3, 5000), 0.4, LSA(), errors=200)
    budget = curve.budget(200)
    assert budget is not None
    assert curve.at(budget) <= 200 < curve.at(budget - 1)
    assert curve.budgets[0] == 5000
    assert np.all(np.diff(curve.budgets) > 0)
    assert curve.budget(1e-9) is None
    assert np.isnan(curve.at(4999))


def test_a_plan_of_many_arms_plays_no_games() -> None:
    many = plan(Beliefs.prior(2, 2, 5000), errors=600, progress=False)
    assert (many.games, many.standard_error) == (0, 0.0)
    assert many.low is not None
    assert many.budget is not None
    assert many.high is not None
    assert many.low < many.budget < many.high
    assert "computed, good to 0.5%" in str(many)


def test_policies_that_are_told_more_or_learn_are_left_to_games() -> None:
    assert [can_be_expected(parse(name)) for name in ("LSA", "UCBE", "Gap-Oracle", "Bayes")] == [
        True,
        False,
        False,
        False,
    ]


@pytest.mark.slow
def test_what_no_table_can_say_is_refused_with_the_reason() -> None:
    guess = Beliefs.prior(2, 2, 1000)
    with pytest.raises(InvalidInputError, match=r"^errors is 0; it must be a number above 0$"):
        expected_curve(guess, errors=0)
    with pytest.raises(InvalidInputError, match=r"UCBE\(0\) must be told the budget or the true means"):
        expected_curve(guess, policy="UCBE", errors=10)
    with pytest.raises(
        InvalidInputError, match=r"1 expected errors are too few: LSA\(1.35\) pulls some arms more than"
    ):
        expected_curve(np.full(20, 0.5), policy=LSA(), errors=1)
