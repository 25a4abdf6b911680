"""Holds the order that an index gives records against the order of its slow twin."""

from collections.abc import Callable, Iterable
from itertools import pairwise

import naive


def assert_orders_alike(
    index: Callable[[int, int], float], twin: naive.Index, records: Iterable[tuple[int, int]]
) -> int:
    """Assert that two indices order all records alike, ties included; return how many records tie with another."""
    ranked = sorted((twin(n, s), n, s) for n, s in records)
    ties = 0
    for (low, *before), (high, *after) in pairwise(ranked):
        if low == high:
            ties += 1
            assert index(*before) == index(*after), (before, after)
        else:
            assert index(*before) < index(*after), (before, after)
    return ties
