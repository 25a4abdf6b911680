"""How large batches are: against the least cost found by trying every size, and towards the end."""

import itertools
import math
import random

import pytest

from cutline.campaign.running.batch_sizes import DELAY_COST, FIRST, GROWTH, AutomaticSizes, sizes_of


def cheapest(start: float, each: float, arms: int, jobs: int) -> int:
    """Return the size at which starting and not knowing of the others cost the least together, by trying them all."""
    return min(range(1, arms + 1), key=lambda n: (1 + start / (n * each)) * (1 + DELAY_COST * n * jobs / arms))


def learnt(start: float, each: float, arms: int, jobs: int = 1, noise: float = 0.0) -> int:
    """Return the size that is reached with commands that take so long."""
    sizes, coin = AutomaticSizes(arms, jobs), random.Random(3)
    size = 0
    for _ in range(40):
        size = sizes.next(10**9, math.inf)
        sizes.note(size, (start + each * size) * (1 + noise * coin.random()))
    return size


@pytest.mark.parametrize(
    ("start", "each", "arms", "jobs"),
    [(0.4, 1.0, 200, 2), (0.4, 0.1, 200, 1), (2.0, 0.5, 1000, 4), (0.01, 1.0, 50, 1), (0.4, 0.001, 200, 2)],
)
def test_the_size_is_the_one_that_costs_the_least(start: float, each: float, arms: int, jobs: int) -> None:
    assert learnt(start, each, arms, jobs) == pytest.approx(cheapest(start, each, arms, jobs), abs=1)


def test_a_suite_that_takes_as_long_to_start_as_to_run_is_run_as_a_whole() -> None:
    assert learnt(0.4, 0.002, 200, 2) == 200


def test_times_that_vary_hardly_change_the_size() -> None:
    assert learnt(0.4, 0.1, 200, 1, noise=0.3) == pytest.approx(cheapest(0.4, 0.1, 200, 1), rel=0.3)


def test_the_first_batches_are_one_round_of_all_arms_or_part_of_it() -> None:
    assert AutomaticSizes(60, 2).next(10**9, math.inf) == 30
    assert AutomaticSizes(61, 2).next(10**9, math.inf) == 31
    assert AutomaticSizes(5000, 2).next(10**9, math.inf) == FIRST


def test_sizes_begin_small_and_grow_by_a_factor_of_eight_at_most() -> None:
    sizes = AutomaticSizes(1_000_000, 1)
    assert sizes.next(10**9, math.inf) == FIRST
    grown = []
    for _ in range(4):
        size = sizes.next(10**9, math.inf)
        sizes.note(size, 1.0 + size * 1e-5)
        grown.append(size)
    assert grown[0] == FIRST
    assert all(later <= GROWTH * earlier for earlier, later in itertools.pairwise(grown))
    assert grown[1] == GROWTH * FIRST


def test_batches_shrink_towards_the_end_but_not_below_what_starting_takes() -> None:
    sizes = AutomaticSizes(1000, 2)
    for size in (10, 20, 40, 80, 160):
        sizes.note(size, 1.0 + 0.1 * size)
    assert sizes.next(10**6, math.inf) == round(math.sqrt(1.0 * 1000 / (DELAY_COST * 0.1 * 2)))
    assert sizes.next(200, math.inf) == 50
    assert sizes.next(8, math.inf) == 10


def test_the_last_two_batches_are_of_one_size() -> None:
    sizes = AutomaticSizes(200, 2)
    for size in (50, 100):
        sizes.note(size, 1.0 + 0.002 * size)
    assert [sizes.next(left, math.inf) for left in (400, 398, 225, 200)] == [200, 199, 112, 200]


def test_a_batch_ends_before_the_time_is_up() -> None:
    sizes = AutomaticSizes(1000, 1)
    for size in (10, 100):
        sizes.note(size, 1.0 + 0.1 * size)
    assert sizes.next(10**6, 4.0) == 30
    assert sizes.next(10**6, 0.5) == 1


def test_no_time_at_all_is_no_reason_to_fail() -> None:
    sizes = AutomaticSizes(100, 1)
    for size in (8, 32):
        sizes.note(size, 0.0)
    assert 1 <= sizes.next(10**6, math.inf) <= 100


def test_a_number_is_the_size() -> None:
    sizes = sizes_of(7, 100, 2)
    sizes.note(7, 3.0)
    assert sizes.next(10, 1.0) == 7
