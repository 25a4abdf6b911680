"""Checks of arguments."""

import math
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from cutline.checks import check_positive, check_whole, finite
from cutline.errors import InvalidInputError


@pytest.mark.parametrize("value", [1, 7, 2**53, np.int8(3), np.uint64(5)])
def test_a_whole_number_within_its_limits_is_returned_as_an_int(value: Any) -> None:
    number = check_whole("n", value, 1)
    assert (number, type(number)) == (value, int)


@pytest.mark.parametrize(
    ("value", "most", "limit"),
    [
        (0, 2**53, "2^53"),
        (2**53 + 1, 2**53, "2^53"),
        (2**64, 2**64 - 1, "2^64 - 1"),
        (11, 10, "10"),
        (1.0, 2**31 - 1, "2^31 - 1"),
        ("1", 16, "16"),
        (True, 2**53, "2^53"),
        (None, 2**53, "2^53"),
    ],
)
def test_anything_else_is_refused_with_both_limits(value: Any, most: int, limit: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        check_whole("n", value, 1, most)
    assert str(caught.value) == f"n is {value!r}; it must be a whole number from 1 to {limit}"


@pytest.mark.parametrize("value", [0, -1, math.nan, math.inf, "1", True, None, 10**400])
def test_what_is_not_a_finite_number_above_zero_is_refused(value: Any) -> None:
    with pytest.raises(InvalidInputError, match=r"^lease is .*; it must be a number above 0$"):
        check_positive("lease", value)


def test_numbers_of_any_kind_are_finite_numbers() -> None:
    assert [finite(value) for value in (1, 0.5, Decimal("0.25"), np.float32(2))] == [1.0, 0.5, 0.25, 2.0]
    others: list[object] = [False, "1", b"1", None, [], math.inf]
    assert all(math.isnan(finite(value)) for value in others)
