"""Problem: what it computes, and what it refuses."""

import copy
import math
import pickle
from typing import Any

import numpy as np
import pytest

from cutline import CutlineError, InvalidInputError, Problem


def test_it_knows_which_arms_are_above_a_mean_on_the_threshold_included() -> None:
    problem = Problem([0.2, 0.3, 0.30000000000000004, 1, 0], 0.3)
    assert problem.truth.tolist() == [False, True, True, True, False]
    assert problem.arms == 5


def test_it_computes_gaps_and_the_hardness_of_section_4() -> None:
    problem = Problem([0.25, 0.75, 0.375], 0.5)
    assert problem.gaps.tolist() == [0.25, 0.25, 0.125]
    assert problem.hardness == 16 + 16 + 64


def test_its_hardness_is_infinite_where_a_mean_lies_on_the_threshold_or_next_to_it() -> None:
    assert Problem([0.3, 0.5], 0.3).hardness == math.inf
    assert Problem([1e-300, 0.5], 5e-324).hardness == math.inf


def test_its_threshold_is_one_half_unless_given() -> None:
    assert Problem([0.1]).threshold == 0.5


@pytest.mark.parametrize(
    "means", [[0.1, 0.9], (0.1, 0.9), np.array([0.1, 0.9]), iter([0.1, 0.9]), (m / 10 for m in (1, 9))]
)
def test_it_takes_any_sequence_of_means(means: Any) -> None:
    assert Problem(means) == Problem([0.1, 0.9])


def test_it_keeps_its_own_copy_that_nobody_can_change() -> None:
    means = np.array([0.1, 0.9])
    problem = Problem(means)
    means[0] = 0.7
    assert problem.means.tolist() == [0.1, 0.9]
    for array in (problem.means, problem.truth, problem.gaps):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_problems_are_equal_by_value_and_hash_alike() -> None:
    assert Problem([0.1, 0.9], 0.3) == Problem([0.1, 0.9], 0.3)
    assert hash(Problem([0.1, 0.9], 0.3)) == hash(Problem([0.1, 0.9], 0.3))
    assert Problem([0.1, 0.9], 0.3) != Problem([0.1, 0.9], 0.31)
    assert Problem([0.1, 0.9], 0.3) != Problem([0.1, 0.8], 0.3)
    assert Problem([0.1]) != [0.1]


def test_a_copy_is_the_same_problem_and_as_little_to_be_changed() -> None:
    problem = Problem([0.1, 0.9], 0.3)
    for twin in (pickle.loads(pickle.dumps(problem)), copy.copy(problem), copy.deepcopy(problem)):
        assert twin == problem
        with pytest.raises(ValueError, match="read-only"):
            twin.means[0] = 1


@pytest.mark.parametrize(
    ("means", "message"),
    [
        ([], "no arms: give at least one mean in [0, 1]"),
        ([0.5, 1.5], "mean of arm 1 is 1.5; it must be in [0, 1]"),
        ([-1e-9], "mean of arm 0 is -1e-09; it must be in [0, 1]"),
        ([0.1, 0.2, math.nan], "mean of arm 2 is nan; it must be in [0, 1]"),
        ([math.inf], "mean of arm 0 is inf; it must be in [0, 1]"),
        ([[0.1, 0.2]], "means must be a list of numbers in [0, 1], not an array of shape (1, 2)"),
        (["0.1", "many"], "means must be a list of numbers in [0, 1]"),
        ([0.1, None], "mean of arm 1 is nan; it must be in [0, 1]"),
        (0.5, "means must be a list of numbers in [0, 1]"),
        ("0.5", "means must be a list of numbers in [0, 1], not an array of shape ()"),
        ([0.1, [0.2]], "means must be a list of numbers in [0, 1]"),
    ],
)
def test_bad_means_are_refused_in_one_line(means: Any, message: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Problem(means)
    assert str(caught.value) == message


@pytest.mark.parametrize("threshold", [0, 1, -0.1, 1.1, math.nan, math.inf])
def test_a_threshold_outside_0_and_1_is_refused(threshold: float) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Problem([0.5], threshold)
    assert str(caught.value) == f"threshold {threshold!r} is outside (0, 1)"


@pytest.mark.parametrize("threshold", ["many", None, [0.5, 0.6]])
def test_a_threshold_that_is_no_number_is_refused(threshold: Any) -> None:
    with pytest.raises(InvalidInputError) as caught:
        Problem([0.5], threshold)
    assert str(caught.value) == f"threshold {threshold!r} is not a number in (0, 1)"


def test_what_it_raises_is_a_value_error_and_a_cutline_error() -> None:
    with pytest.raises(ValueError, match="no arms"):
        Problem([])
    with pytest.raises(CutlineError, match="no arms"):
        Problem([])
