"""How many more pulls a campaign needs: against games that go on from its records, and what it refuses."""

import heapq
from collections import Counter
from typing import Any

import numpy as np
import pytest
from scipy.special import betainc

from cutline import LSA, parse
from cutline.beliefs.caution import caution
from cutline.beliefs.prior import Prior
from cutline.errors import InvalidInputError
from cutline.planning.remaining import remaining


def test_games_that_go_on_have_about_the_errors_that_are_aimed_at() -> None:
    rng = np.random.default_rng(5)
    means = rng.beta(2, 2, 2000)
    pulls, totals = np.full(2000, 12), rng.binomial(12, means)
    records = [(n, s, arms) for (n, s), arms in Counter(zip(pulls.tolist(), totals.tolist(), strict=True)).items()]
    found = remaining(records, 0.5, LSA(), (150.0,))
    n, s = pulls.tolist(), totals.tolist()
    queue = [(LSA.index(12.0, float(total), 0.5, 1.35), arm) for arm, total in enumerate(s)]
    heapq.heapify(queue)
    assert found.pulls[0] is not None
    for chance in rng.random(found.pulls[0]):
        arm = queue[0][1]
        n[arm] += 1
        s[arm] += chance < means[arm]
        heapq.heapreplace(queue, (LSA.index(float(n[arm]), float(s[arm]), 0.5, 1.35), arm))
    wrong = np.sum((np.array(s) / np.array(n) >= 0.5) != (means >= 0.5))
    assert abs(wrong - 150) < 4 * np.sqrt(150)


def test_the_errors_now_are_those_of_the_prior_that_is_learnt() -> None:
    records = np.array([[3, 1, 40], [3, 3, 30], [8, 4, 10], [0, 0, 5], [20, 1, 60]])
    pulls, totals, arms = records.T
    prior = Prior.learn(*records[records[:, 0] > 0].T)
    below, above = prior.sides(pulls, totals, 0.4)
    found = remaining(records, 0.4, LSA(), (5.0, 1000.0))
    assert found.expected_errors == pytest.approx(float(arms @ np.minimum(below, above)), rel=1e-3)
    assert found.arms == 145
    assert found.pulls[1] == 0
    assert found.rows()[1] == {"errors": 1000.0, "more_pulls": 0}
    assert str(found).splitlines()[2].split() == ["errors", "and", "standard", "error", "more", "pulls"]
    given = remaining(records, 0.4, LSA(), (5.0,), (2, 2))
    assert given.standard_error == 0.0
    assert str(given).splitlines()[2].split() == ["expected", "errors", "more", "pulls"]


def test_a_target_is_held_against_errors_and_their_standard_error() -> None:
    records = np.array([[3, 1, 40], [3, 3, 30], [8, 4, 10], [0, 0, 5], [20, 1, 60]])
    found = remaining(records, 0.4, LSA(), (5.0, 1000.0))
    pulls, totals, arms = records[records[:, 0] > 0].T.astype(float)
    below, above = Prior.learn(pulls, totals, arms).sides(pulls, totals, 0.4)
    factor = caution(pulls, totals, arms, above >= below, 0.4)
    assert factor > 1.02
    assert found.standard_error == pytest.approx((factor - 1) * found.expected_errors)
    now = found.expected_errors + found.standard_error
    assert [p == 0 for p in remaining(records, 0.4, LSA(), (1.01 * now, 0.99 * now)).pulls] == [True, False]


def test_known_arms_are_not_pulled_and_not_wrong_but_teach_the_prior() -> None:
    records = [(6, 2, 2, 40, 0), (6, 4, 4, 40, 25), (6, 5, 5, 20, 20)]
    found = remaining(records, 0.5, LSA(), (3.0,))
    prior = Prior.learn([6, 6, 6], [2, 4, 5], [40, 40, 20])
    below, above = prior.sides([6, 6], [2, 4], 0.5)
    assert found.arms == 55
    assert found.expected_errors == pytest.approx(float(np.array([40, 15]) @ np.minimum(below, above)), rel=1e-3)
    with pytest.raises(InvalidInputError, match="the answers of all arms are known"):
        remaining([(6, 2, 2, 40, 40)], 0.5, LSA())


def test_scores_that_vary_less_than_coins_say_as_much_as_more_coins() -> None:
    """50 rewards with a fifth of the variance of coins, as half of the arms have them, say as much as 250 coins."""
    as_scores = [(50, 20.0, 8.0 + 0.2 * 12.0, 100, 0), (50, 28.0, 15.68 + 0.2 * 12.32, 100, 0)]
    as_coins = remaining([(250, 100, 100), (250, 140, 100)], 0.5, LSA(), (0.1,), None)
    found = remaining(as_scores, 0.5, LSA(), (0.1,))
    assert found.expected_errors == pytest.approx(as_coins.expected_errors, rel=0.2)
    assert found.pulls[0] is not None
    assert as_coins.pulls[0] is not None
    assert found.pulls[0] == pytest.approx(as_coins.pulls[0] / 5, rel=0.2)


def test_where_the_mean_decides_arms_called_against_their_prior_are_more_likely_wrong() -> None:
    """Beta(1, 6): 6 of 10 has the posterior Beta(7, 10), 4 of 10 Beta(5, 12), and no reward yet Beta(1, 6)."""
    records, wrong = [(10, 6, 30), (10, 4, 20), (0, 0, 5)], betainc([7, 5, 1], [10, 12, 6], 0.5)
    found = remaining(records, 0.5, LSA(), (5.0,), (1, 6), "mean")
    want = 30 * wrong[0] + 20 * (1 - wrong[1]) + 5 * (1 - wrong[2])
    assert found.expected_errors == pytest.approx(want, rel=1e-3)
    likelier = remaining(records, 0.5, LSA(), (5.0,), (1, 6))
    assert found.expected_errors > 1.5 * likelier.expected_errors
    assert found.pulls[0] is not None
    assert likelier.pulls[0] is not None
    assert found.pulls[0] > likelier.pulls[0]


def test_nodes_that_stand_for_a_prior_have_its_mass_and_its_mean() -> None:
    means, masses = Prior.beta(2, 5).nodes(0.3)
    assert masses.sum() == pytest.approx(1.0)
    assert masses @ means == pytest.approx(2 / 7, abs=1e-4)
    assert masses[means < 0.3].sum() == pytest.approx(0.5798, abs=1e-3)  # I_0.3(2, 5)


def test_a_target_that_is_out_of_reach_has_no_number() -> None:
    found = remaining([(10, 5, 100)], 0.5, LSA(), (1e-9,))
    assert found.pulls == (None,)
    assert str(found).splitlines()[-1].split() == ["1e-09", "-"]


def test_what_cannot_be_computed_is_refused_with_the_reason() -> None:
    with pytest.raises(InvalidInputError, match="no arm has a result yet"):
        remaining([(0, 0, 7)], 0.5, LSA())
    with pytest.raises(InvalidInputError, match="decide is 'prior'; it must be likelier or mean"):
        remaining([(5, 2, 7)], 0.5, LSA(), decide="prior")
    with pytest.raises(InvalidInputError, match="there are no targets"):
        remaining([(5, 2, 7)], 0.5, LSA(), ())
    with pytest.raises(InvalidInputError, match="a target is 0; it must be a number above 0"):
        remaining([(5, 2, 7)], 0.5, LSA(), (0,))
    with pytest.raises(InvalidInputError, match=r"prior is \(0, 1\); it must be two numbers above 0"):
        remaining([(5, 2, 7)], 0.5, LSA(), (5,), (0, 1))
    with pytest.raises(InvalidInputError, match=r"threshold 2(\.0)? is outside"):
        remaining([(5, 2, 7)], 2, LSA())
    with pytest.raises(InvalidInputError, match=r"UCBE\(0\) has no fixed table"):
        remaining([(5, 2, 7)], 0.5, parse("UCBE"))


@pytest.mark.parametrize(
    ("records", "message"),
    [
        ("x", "records must be numbers"),
        ([(5, 2)], r"records have the shape \(1, 2\); it must be \(R, 3\)"),
        ([1, 2, 3], r"records have the shape \(3,\)"),
        ([(5, 2, 7), (5, 9, 7)], r"record 1 is \[5.0, 9.0, 7.0\]"),
        ([(5, np.nan, 7)], "record 0 is"),
        ([(-5, 0, 7)], "record 0 is"),
        ([(5, 2, -1)], "record 0 is"),
    ],
)
def test_what_are_no_records_is_refused(records: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        remaining(records, 0.5, "LSA")
