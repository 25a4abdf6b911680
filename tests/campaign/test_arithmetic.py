"""A policy from elsewhere whose index breaks down ends in one line, and nothing is lost."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from cutline import Campaign
from cutline.errors import InvalidInputError
from cutline.policies import Policy


def policy_with(index: Callable[..., Any]) -> Policy:
    """A policy of somebody's own with that index."""

    @dataclass(frozen=True)
    class Own(Policy):
        name: ClassVar[str] = "Own"
        formula: ClassVar[str] = "?"
        source: ClassVar[str] = "-"

    Own.index = staticmethod(index)
    return Own()


def divide(pulls: float, total: float, threshold: float) -> float:
    return 1.0 / (pulls - 2.0)


@pytest.mark.parametrize(
    ("index", "what"),
    [
        (divide, "ZeroDivisionError: "),
        (lambda pulls, total, threshold: None if pulls == 2 else pulls, "TypeError: "),
        (lambda pulls, total, threshold: {1.0: 1.0}[pulls], "KeyError: 2.0"),
    ],
    ids=["divides by zero", "is no number", "knows one record only"],
)
def test_an_index_that_fails_is_named_with_the_record_and_changes_nothing(index: Callable[..., Any], what: str) -> None:
    campaign = Campaign.create(None, "own", ["a"], threshold=0.25, policy=policy_with(index), budget=10)
    (pull,) = campaign.ask()
    campaign.tell(pull, 1)
    with pytest.raises(InvalidInputError) as caught:
        campaign.observe("a", 0.5)
    assert str(caught.value).startswith(
        "the index of policy Own must be a number for every record; with 2 pulls, total 1.5 and threshold 0.25 it "
        f"fails with {what}"
    )
    assert (campaign.decisions()[0].pulls, campaign.status().observed) == (1, 0)
