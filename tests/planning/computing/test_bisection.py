"""The smallest number that holds, against looking at every number."""

import pytest
from hypothesis import given, strategies as st

from cutline.planning.computing.bisection import smallest


@given(st.integers(1, 50), st.integers(0, 60), st.integers(1, 80))
def test_it_is_the_first_that_looking_at_every_number_finds(least: int, more: int, first: int) -> None:
    most = least + more
    expected = next((number for number in range(least, most + 1) if number >= first), None)
    assert smallest(lambda number: number >= first, least, most) == expected


def test_no_number_outside_the_range_is_asked_about_and_few_within() -> None:
    asked = []

    def holds(number: int) -> bool:
        asked.append(number)
        return number >= 10**9 + 7

    assert smallest(holds, 1, 10**15) == 10**9 + 7
    assert min(asked) == 1
    assert max(asked) <= 2**30
    assert len(asked) <= 2 * 30 + 1


@pytest.mark.parametrize("most", [1, 1000, 2**53 - 1])
def test_nothing_is_found_where_nothing_holds(most: int) -> None:
    assert smallest(lambda number: False, 1, most) is None
