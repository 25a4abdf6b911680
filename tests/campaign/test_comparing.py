"""Two campaigns with the same arms."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cutline.campaign import Campaign, compare
from cutline.errors import InvalidInputError


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[Campaign, Campaign]]:
    """Two models on prompts: one is right on p and q always, the other never on q; r has no result, s and t one has."""
    path = str(tmp_path / "x.db")
    flat = (1.0, 1.0)
    with (
        Campaign.create(path, "a", ["p", "q", "r", "s"], 0.5, "Uniform", 9, prior=flat) as a,
        Campaign.create(path, "b", ["t", "r", "q", "p"], 0.5, "Uniform", 9, prior=flat) as b,
    ):
        a.observe_many([("p", 1), ("p", 1), ("p", 1), ("q", 1), ("q", 1), ("s", 1)])
        b.observe_many([("p", 1), ("p", 1), ("p", 1), ("q", 0), ("q", 0), ("q", 1), ("t", 0)])
        yield a, b


def test_each_arm_has_both_means_and_decisions_and_the_probability_that_the_first_is_higher(
    two: tuple[Campaign, Campaign],
) -> None:
    found = compare(*two)
    assert [(arm.arm, arm.first_decision, arm.second_decision) for arm in found.arms] == [
        ("p", "above", "above"),
        ("q", "above", "below"),
        ("r", "undecided", "undecided"),
    ]
    assert (found.first_only, found.second_only) == (1, 1)
    assert [arm.arm for arm in found.differing] == ["q"]
    assert [arm.higher for arm in found.arms] == pytest.approx([0.5, 31 / 35, 0.5], abs=2e-5)
    assert found.higher > 0.7


def test_the_other_way_round_the_probabilities_are_the_rest(two: tuple[Campaign, Campaign]) -> None:
    there, back = compare(*two), compare(*two[::-1])
    assert sorted(1 - arm.higher for arm in back.arms) == pytest.approx(sorted(arm.higher for arm in there.arms))
    assert back.higher == pytest.approx(1 - there.higher)


def test_it_is_a_table(two: tuple[Campaign, Campaign]) -> None:
    frame = compare(*two).to_frame()
    assert frame["differs"].tolist() == [False, True, False]


def test_campaigns_without_a_common_arm_are_refused(two: tuple[Campaign, Campaign], tmp_path: Path) -> None:
    with (
        Campaign.create(str(tmp_path / "y.db"), "c", ["z"], 0.5, "Uniform", 9) as other,
        pytest.raises(InvalidInputError, match="campaigns 'a' and 'c' have no arm in common"),
    ):
        compare(two[0], other)
