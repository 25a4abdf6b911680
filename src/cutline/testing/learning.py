"""What holds for every policy that learns, as tests; a policy that does not learn passes them."""

import inspect
import json
from itertools import pairwise

import numpy as np

from cutline.policies import LearningPolicy, Policy, Tally, tally
from cutline.testing.games import THRESHOLDS, records

_NONE, _ALL = np.zeros(5), np.full(5, 8.0)
TALLIES = {
    "no arms": tally(),
    "one arm": tally([1], [1]),
    "a first round": tally(np.ones(7), [0, 1, 1, 0, 1, 1, 1]),
    "arms that never succeed": tally([8.0] * 5, _NONE),
    "arms that always succeed": tally([8.0] * 5, _ALL),
    "many arms": tally([20] * 3000, np.arange(3000) % 21),
    "long records": tally([1e6, 12_345, 3], [400_000, 678, 2]),
    "marks between 0 and 1": tally([3, 2, 5], [0.25, 1.9, 2.5]),
}
"""What a policy that learns is shown: few arms and many, short records and long, points at 0 and 1."""


class LearningContract:
    """The part of ``PolicyContract`` that is about learning."""

    def test_its_refits_follow_from_the_number_of_arms_alone(self, policy: type[Policy]) -> None:
        """``next_refit``: the same schedule whatever budget it is asked from, and never within the first round."""
        if not issubclass(policy, LearningPolicy):
            return
        made = policy()
        for arms in (1, 2, 7, 1000):
            schedule = [made.next_refit(arms, 0)]
            while schedule[-1] < 1000 * arms:
                schedule.append(made.next_refit(arms, schedule[-1]))
            assert all(type(budget) is int for budget in schedule), f"budgets are whole numbers, not {schedule}"
            assert schedule[0] >= arms, f"the first refit of {arms} arms is at {schedule[0]}, before all were pulled"
            for before, after in pairwise([0, *schedule]):
                assert before < after, f"the refit after {before} pulls is at {after}"
                for spent in {before, (before + after) // 2, after - 1}:
                    assert made.next_refit(arms, spent) == after, f"after {spent} pulls the next refit is not {after}"

    def test_what_it_learns_is_a_few_numbers_that_json_keeps(self, policy: type[Policy]) -> None:
        """``learn``: the same from the same counts, which it leaves as they are; ``table`` follows from it alone."""
        if not issubclass(policy, LearningPolicy):
            return
        for title, shown in TALLIES.items():
            before = Tally(*(column.copy() for column in shown))
            learnt = policy().learn(shown, 0.45)
            assert isinstance(learnt, tuple), f"{title}: learn returns {learnt!r}, not a tuple of floats"
            assert all(type(number) is float and np.isfinite(number) for number in learnt), f"{title}: {learnt!r}"
            assert len(learnt) <= 1000, f"{title}: {len(learnt)} numbers are too many to keep for each refit"
            assert policy().learn(shown, 0.45) == learnt, f"{title}: the same counts teach something else"
            for column, copy in zip(shown, before, strict=True):
                np.testing.assert_array_equal(column, copy, err_msg=f"{title}: learn changed what it was shown")
            table = policy().table(learnt, 0.45)
            assert table.dtype == np.float64, f"{title}: the table has the type {table.dtype}; it must be float64"
            assert table.ndim == 1, f"{title}: the table has the shape {table.shape}; it must be (M,)"
            kept = tuple(json.loads(json.dumps(learnt)))
            np.testing.assert_array_equal(policy().table(kept, 0.45), table, err_msg=f"{title}: another table")

    def test_its_index_is_a_finite_float_whatever_it_learnt(self, policy: type[Policy]) -> None:
        """For short records and long ones, and rewards between 0 and 1, at several thresholds."""
        if not issubclass(policy, LearningPolicy):
            return
        made = policy()
        some = [*records(made, 12), (3.0, 1.25), (700.0, 699.5), (1e6, 0.0), (1e6, 400_000.0), (1e6, 1e6)]
        for theta in (*THRESHOLDS, 1e-9, 1 - 1e-9):
            for title in ("no arms", "arms that always succeed", "many arms"):
                table = made.table(made.learn(TALLIES[title], theta), theta)
                for n, s in some:
                    value = made.index(n, s, theta, table)
                    assert isinstance(value, float), f"{title}: index({n}, {s}, {theta}, table) is {value!r}"
                    assert np.isfinite(value), f"{title}: index({n}, {s}, {theta}, table) is {value!r}"

    def test_if_it_learns_its_index_takes_one_table_and_needs_nothing_else(self, policy: type[Policy]) -> None:
        """It is anytime and not told the truth, so that campaigns can use it."""
        if not issubclass(policy, LearningPolicy):
            return
        taken = list(inspect.signature(policy.index).parameters)
        assert len(taken) == 4, f"index takes {taken}; it must take pulls, total, threshold and the table"
        assert policy.anytime, "a policy that learns must be anytime"
        assert not policy.needs_truth, "a policy that learns cannot be told the truth"
