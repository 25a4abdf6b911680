"""Tables of indices: which records they hold, and the ranks of these."""

import math

import numpy as np
import pytest

from cutline.policies import LearningPolicy, available, parse
from cutline.policies.policy import Policy
from cutline.simulation.ranking.table import IndexTable, index_table, rank

POLICIES = [
    str(policy())
    for policy in available()
    if policy.anytime and not policy.needs_truth and not issubclass(policy, LearningPolicy)
]


def records_of(table: IndexTable) -> dict[tuple[int, int], float]:
    """Return the index that a table has for every (pulls, total), none for those at its edge."""
    found: dict[tuple[int, int], float] = {}
    for n, (row, low, high) in enumerate(zip(*table.layout, strict=True)):
        if table.first <= n < table.depth:
            found |= {(n, total): float(table.values[row + total]) for total in range(low, high + 1)}
    return found


def reachable(policy: Policy, threshold: float, depth: int, level: float) -> dict[tuple[int, int], float]:
    """Return the index of every record that an arm comes to before it is above the level, by following all arms."""
    first = int(policy.pulls_each_arm_first)
    found: dict[tuple[int, int], float] = {}
    waiting = [(first, total) for total in range(first + 1)]
    while waiting:
        n, total = waiting.pop()
        if (n, total) in found or n == depth:
            continue
        found[n, total] = policy.index(float(n), float(total), threshold, *policy.parameters())
        if found[n, total] <= level:
            waiting += [(n + 1, total), (n + 1, total + 1)]
    return found


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("threshold", [0.5, 0.3, 0.97])
@pytest.mark.parametrize("pulls_at_level", [3, 9, None])
def test_a_table_has_every_record_that_an_arm_comes_to(name: str, threshold: float, pulls_at_level: int | None) -> None:
    policy = parse(name)
    level = math.inf
    if pulls_at_level is not None:
        level = policy.index(float(pulls_at_level), pulls_at_level * threshold // 1, threshold, *policy.parameters())
    table = index_table(policy, threshold, policy.parameters(), 25, level)
    expected = reachable(policy, threshold, 25, level)
    held = records_of(table)
    assert held.keys() >= expected.keys()
    assert {record: held[record] for record in expected} == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert table.closed == (max(n for n, _ in expected) < 24)


@pytest.mark.parametrize("name", POLICIES)
def test_ranks_are_in_the_order_of_the_indices_and_equal_where_they_are(name: str) -> None:
    policy = parse(name)
    table = index_table(policy, 0.5, policy.parameters(), 20, math.inf)
    ranks, different = rank(table, 0.5)
    held = records_of(table)
    places = {record: ranks.codes[ranks.rows[record[0]] + record[1]] // 2 for record in held}
    assert {different[place] == held[record] for record, place in places.items()} == {True}
    assert np.all(np.diff(different) > 0.0)
    assert {int(ranks.codes[ranks.rows[20] + total]) // 2 for total in range(21)} == {ranks.above + 1}


def test_what_is_above_the_level_shares_a_rank() -> None:
    lsa = parse("LSA")
    level = lsa.index(7.0, 3.0, 0.5, *lsa.parameters())
    table = index_table(lsa, 0.5, lsa.parameters(), 100, level)
    ranks, different = rank(table, 0.5)
    assert different[-1] == level
    assert table.closed
    assert {ranks.codes[place] // 2 == ranks.above for place in np.flatnonzero(table.values > level)} == {True}
