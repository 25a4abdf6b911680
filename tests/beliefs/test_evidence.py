"""The index of a task for a worker, held against the information that his label gives, by enumeration."""

import itertools
import math

import pytest

from cutline.beliefs.evidence import asking_index, index_for


def entropy(p: float) -> float:
    return -sum(q * math.log(q) for q in (p, 1.0 - p) if q > 0.0)


def weights(right_on_no: float, right_on_yes: float) -> tuple[float, float]:
    """The log likelihood ratios of the labels 0 and 1 by a worker with these rates."""
    return math.log((1 - right_on_yes) / right_on_no), math.log(right_on_yes / (1 - right_on_no))


def information(evidence: float, right_on_no: float, right_on_yes: float) -> float:
    """The entropy of the truth less what is left of it after a label, over both labels."""
    p = 1 / (1 + math.exp(-evidence))
    left = 0.0
    for if_yes, if_no in ((right_on_yes, 1 - right_on_no), (1 - right_on_yes, right_on_no)):
        said = p * if_yes + (1 - p) * if_no
        left += said * entropy(p * if_yes / said)
    return entropy(p) - left


@pytest.mark.parametrize("rates", [(0.7, 0.7), (0.95, 0.6), (0.1, 0.95), (0.3, 0.2)])
@pytest.mark.parametrize("evidence", [-4.0, -1.0, 0.0, 0.3, 5.0])
def test_it_is_the_information_of_a_label_over_the_root_of_labels(rates: tuple[float, float], evidence: float) -> None:
    no, yes = weights(*rates)
    expected = (
        -math.log(information(evidence, *rates) / math.sqrt(3.0)) if no < 0 < yes else asking_index(evidence, 3.0)
    )
    assert index_for(evidence, 3.0, no, yes) == pytest.approx(expected, abs=1e-9)


def test_a_worker_who_is_alike_on_both_sides_has_the_order_of_everybody() -> None:
    no, yes = weights(0.8, 0.8)
    tasks = [-7.0, 2.5, -0.1, 0.0, 19.0, -30.0, 400.0]
    assert sorted(tasks, key=lambda e: index_for(e, 4.0, no, yes)) == sorted(tasks, key=lambda e: asking_index(e, 4.0))


def test_far_from_zero_it_grows_as_the_evidence_does() -> None:
    no, yes = weights(0.9, 0.6)
    for side in (-1, 1):
        far = [index_for(side * evidence, 1.0, no, yes) for evidence in (15.0, 19.0, 25.0, 800.0)]
        assert [b - a for a, b in itertools.pairwise(far)] == pytest.approx([4.0, 6.0, 775.0], abs=1e-4)


def test_a_worker_who_is_right_on_no_alone_is_asked_where_yes_is_likely() -> None:
    no, yes = weights(0.6, 0.99)  # his no is nearly certain
    assert index_for(1.0, 2.0, no, yes) < index_for(-1.0, 2.0, no, yes)


def test_a_worker_whose_labels_weigh_nothing_leaves_the_order_of_everybody() -> None:
    assert index_for(-1.5, 4.0, 0.0, 0.0) == asking_index(-1.5, 4.0)
