import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cutline import Problem, parse
from cutline.planning import Beliefs, search as searching
from cutline.planning.search import Found, fit_crossing, search
from cutline.planning.simulator import Batch, Simulator, play_batch
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import play
from cutline.simulation.rewards import stream_key
from cutline.simulation.simulate import simulate
from learners import Shrunk

SETUP_1 = [0.2, 0.25, 0.3, 0.35, 0.45, 0.55, 0.65, 0.7, 0.75, 0.8]


def simulator(guess: Problem | Beliefs, policy: str = "LSA", seed: int = 0, executor: Any = 1) -> Simulator:
    return Simulator(guess, 0.5, parse(policy), seed, executor, False)


def test_a_line_through_exact_powers_meets_the_target_where_they_do() -> None:
    budgets = np.array([90, 95, 100, 105, 110])
    errors = np.tile(7.0 * (budgets / 100.0) ** -1.5, (4, 1))
    fit = fit_crossing(budgets, errors, 7.0 * 1.04**-1.5, 100.0)
    assert fit.shift == pytest.approx(math.log(1.04))
    assert fit.slope == pytest.approx(-1.5)
    assert fit.half == pytest.approx(0.0, abs=1e-12)


def test_a_curve_that_does_not_fall_has_no_crossing() -> None:
    fit = fit_crossing(np.array([90, 100, 110]), np.array([[1.9] * 3, [2.1] * 3] * 20), 1.0, 100.0)
    assert (fit.shift, fit.half) == (0.0, math.inf)


def interval_of(found: Found) -> tuple[int, int, int]:
    """The budget that was found, and the ends of its interval."""
    assert found.budget is not None
    assert found.low is not None
    assert found.high is not None
    return found.budget, found.low, found.high


def coverage(scale: float) -> int:
    """How often the interval, ``scale`` times as wide, holds the true crossing of Poisson errors that go together."""
    generator = np.random.default_rng(20)
    budgets: NDArray[Any] = np.geomspace(90, 110, 9)
    expected = 3.0 * (budgets / 100.0) ** -2.0
    hits = 0
    for _ in range(1000):
        errors = generator.poisson(np.diff(expected[::-1], prepend=0.0), (60, 9)).cumsum(axis=1)[:, ::-1]
        fit = fit_crossing(budgets, errors.astype(float), 3.0, 100.0)
        hits += abs(fit.shift) <= scale * fit.half
    return hits


def test_the_interval_holds_the_crossing_as_often_as_it_says() -> None:
    # Of 1,000 intervals 950 should, with a standard deviation of 6.9: 4.1 of them is a probability of 4e-5.
    assert 950 - 28 <= coverage(1.0) <= 950 + 28
    assert coverage(0.8) < 950 - 28


def test_a_batch_of_known_means_plays_what_simulate_plays() -> None:
    budgets = np.array([50, 100], np.int64)
    batch = Batch(Problem(SETUP_1), 0.5, parse("LSA"), budgets, 3, 1, 0, 400, 1)
    errors = play_batch(batch)
    assert errors.shape == (400, 2)
    reference = simulate(Problem(SETUP_1), "LSA", [50, 100], runs=4000, seed=3, progress=False)
    spread = np.hypot(errors.std(axis=0) / 20, reference.standard_error[0])
    assert np.abs(errors.mean(axis=0) - reference.mean[0]).max() < 4.5 * spread.max()  # two deviates: 1.4e-5


def test_games_do_not_depend_on_how_they_are_cut_into_batches() -> None:
    for guess, policy in ((Beliefs.prior(2, 2, 6), "LSA"), (Problem(SETUP_1), "UCBE(0)")):
        budgets = np.array([30, 60], np.int64)
        whole = Batch(guess, 0.5, parse(policy), budgets, 3, 1, 0, 6, 2)
        parts = [Batch(guess, 0.5, parse(policy), budgets, 3, 1, first, 2, 2) for first in (0, 2, 4)]
        assert np.concatenate([play_batch(part) for part in parts]).tolist() == play_batch(whole).tolist()


def test_every_draw_of_a_belief_has_means_of_its_own() -> None:
    budgets = np.array([200], np.int64)
    spread = [
        play_batch(Batch(guess, 0.5, parse("LSA"), budgets, 0, 1, 0, 300, 1)).std()
        for guess in (Beliefs.prior(0.5, 0.5, 20), Problem(Beliefs.prior(0.5, 0.5, 20).draw(0.5, 0, 1, 0).means))
    ]
    assert spread[0] > 1.1 * spread[1]


def test_a_game_of_a_policy_that_learns_stands_for_the_errors_that_its_records_let_expect() -> None:
    """On average over games they are those that are counted, and they vary less from game to game."""
    beliefs, budgets, draws = Beliefs.prior(2, 3, 20), np.array([40, 90], np.int64), 250
    expected = play_batch(Batch(beliefs, 0.3, Shrunk(), budgets, 4, 1, 0, draws, 1))
    counted = np.empty_like(expected)
    for draw in range(draws):
        chunk = Chunk(beliefs.draw(0.3, 4, 1, draw), Shrunk(), budgets, stream_key(4, "plan 1"), draw, 1)
        counted[draw] = play(chunk).errors[:, 0]
    more = counted - expected
    bound = 4.1 * more.std(axis=0, ddof=1) / math.sqrt(draws)  # of two normal deviates: a probability of 1e-4
    assert (np.abs(more.mean(axis=0)) < bound).all()
    assert (np.abs((1.25 * counted - expected).mean(axis=0)) > bound).all()
    assert (expected.std(axis=0) < 0.7 * counted.std(axis=0)).all()


@pytest.mark.slow
def test_at_the_budget_of_a_plan_games_with_bayes_make_as_many_errors_as_were_asked_for() -> None:
    """Games of their own, counted by ``simulate``."""
    beliefs, target, games = Beliefs.prior(2, 2, 2000), 200.0, 10
    found = search(Simulator(beliefs, 0.7, parse("Bayes"), 0, 2, False), target)
    budget, low, high = interval_of(found)
    assert 10_000 < budget < 20_000
    wrong = np.empty(games)
    for game in range(games):
        curves = simulate(beliefs.draw(0.7, 77, game), "Bayes", budget, runs=1, seed=game, progress=False)
        wrong[game] = curves.mean[0, 0]
    error = math.hypot(float(wrong.std(ddof=1)) / math.sqrt(games), found.standard_error)
    assert abs(wrong.mean() - target) < 3.5 * error
    assert abs(1.15 * wrong.mean() - target) > 3.5 * error
    assert high - low < 0.06 * budget


@pytest.mark.slow
@pytest.mark.parametrize("target", [1.5, 0.5, 0.1])
def test_the_budget_is_the_one_that_simulation_at_many_budgets_finds(target: float) -> None:
    found = search(simulator(Problem(SETUP_1)), target)
    budget, low, high = interval_of(found)
    near = np.unique(np.round(budget * np.linspace(0.9, 1.1, 11)).astype(int))
    curves = simulate(Problem(SETUP_1), "LSA", near, runs=60_000, seed=99, progress=False)
    slope, level = np.polyfit(np.log(near), np.log(curves.mean[0]), 1)
    truth = math.exp((math.log(target) - level) / slope)
    # 4.1 standard errors of the difference (a probability of 4e-5), and one pull, since budgets are whole.
    error = curves.standard_error[0].max() / target / -slope
    bound = 4.1 * math.hypot(error, (high - low) / budget / 2 / 1.96) + 1 / budget
    assert abs(math.log(budget / truth)) < bound
    assert abs(math.log(1.1 * budget / truth)) > bound
    assert low <= budget <= high
    assert found.expected_errors == pytest.approx(target, rel=0.03)


def test_simulated_uniform_needs_what_the_closed_form_says() -> None:
    from cutline.planning.computing.exact import UniformErrors

    beliefs = Beliefs.prior(2, 2, 200)
    budget, low, high = interval_of(search(simulator(beliefs, "Uniform", executor=2), 25.0))
    exact = UniformErrors(beliefs, 0.5).budget(25.0)
    # The interval is 1.96 standard errors to each side; 4.1 have probability 4e-5.
    half = (high - low) / 2.0
    assert exact is not None
    assert abs(budget - exact) < half / 1.96 * 4.1
    assert abs(1.1 * budget - exact) > half / 1.96 * 4.1


def test_a_policy_that_is_not_anytime_is_played_at_each_budget_on_its_own() -> None:
    budget, _, _ = interval_of(search(simulator(Problem(SETUP_1), "UCBE(0)"), 0.8))
    curves = simulate(Problem(SETUP_1), "UCBE(0)", budget, runs=20_000, seed=8, progress=False)
    assert curves.mean[0, 0] == pytest.approx(0.8, rel=0.06)
    assert curves.mean[0, 0] != pytest.approx(0.8 * 1.15, rel=0.06)


def test_a_hump_and_a_plateau_before_the_target_are_passed_over() -> None:
    # A second pull can only make ties, which count as above: from 4.1 errors at 12 pulls to 6.6 at 24, 3.8 at 34.
    guess = Problem([0.2, 0.3, 0.4, 0.45] * 3)
    budget, low, high = interval_of(search(simulator(guess), 3.5))
    curves = simulate(guess, "LSA", [budget - 3, budget + 3], runs=40_000, seed=5, progress=False)
    assert curves.mean[0, 0] > 3.5 > curves.mean[0, 1]
    assert 36 < low < high < 44


def test_a_target_above_the_errors_of_one_round_takes_one_round() -> None:
    found = search(simulator(Problem(SETUP_1)), 9.0)
    assert (found.low, found.budget, found.high) == (10, 10, 10)


def test_what_too_few_pulls_can_show_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(searching, "MOST_PULLS", 2_000_000)
    found = search(simulator(Problem([0.49, 0.505])), 0.01)
    assert found.budget is None
    assert found.curve.mean[-1] > 0.01
    assert found.expected_errors == found.curve.mean[-1]
    assert found.games == 5000  # 50 errors at the target
    nothing = search(simulator(Problem([0.3, 0.6])), 1e-7)
    assert (nothing.budget, nothing.games, nothing.curve.budgets.size) == (None, 0, 0)


def test_a_search_that_may_not_play_on_says_how_wide_its_interval_is(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = search(simulator(Problem(SETUP_1)), 0.5)
    monkeypatch.setattr(searching, "MOST_PULLS", 100_000)
    narrow = search(simulator(Problem(SETUP_1)), 0.5)
    assert narrow.games < wide.games
    budget, low, high = interval_of(wide)
    _, lowest, highest = interval_of(narrow)
    assert highest - lowest > 3 * (high - low)
    assert lowest < budget < highest
