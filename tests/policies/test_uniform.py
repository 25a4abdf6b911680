"""Uniform: arm 1 to arm K again and again."""

import naive
from cutline import Problem, Uniform
from games import ENGINES, play, sequence


def test_its_index_is_the_number_of_pulls() -> None:
    assert [Uniform.index(float(n), float(s), 0.5) for n, s in [(1, 0), (1, 1), (7, 3)]] == [1.0, 1.0, 7.0]


def test_it_pulls_the_arms_in_order_again_and_again() -> None:
    problem = Problem([0.1, 0.9, 0.5, 1.0, 0.0])
    for engine in ENGINES:
        outcome = play(engine, Uniform(), problem, list(range(5, 28)), naive.key_of(3, ""))
        assert sequence(outcome) == [t % 5 for t in range(5, 27)]
        assert outcome.pulls[-1].tolist() == [6, 6, 5, 5, 5]


def test_it_is_written_without_parentheses() -> None:
    assert str(Uniform()) == "Uniform"
