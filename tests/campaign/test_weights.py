"""What a campaign keeps of its workers, and how many pulls it says a target takes."""

import math

import numpy as np
import pytest

from cutline.campaign.arithmetic import UNIT, Learnt
from cutline.campaign.settings import Settings
from cutline.campaign.weights import WeighedArithmetic, Weights
from cutline.policies.lsa import LSA

SETTINGS = Settings(0.5, LSA(), 100, workers="weighed", target_errors=5)
BY_AN_OLDER_CUTLINE = {
    "workers": [["ann", -2 * UNIT, UNIT], [None, -UNIT, UNIT]],
    "anybody": [-UNIT, UNIT],
    "prior": 0,
    "mistaken": 0.04,
    "tells": True,
    "correlation": 0.1,
}


def arithmetic(**learnt: object) -> WeighedArithmetic:
    return WeighedArithmetic(SETTINGS, Learnt(crowd=BY_AN_OLDER_CUTLINE | learnt), str.encode)


def test_what_an_older_cutline_has_learnt_is_read_and_says_of_arms_what_it_said() -> None:
    assert Weights.from_json(BY_AN_OLDER_CUTLINE) == Weights(
        {"ann": (-2 * UNIT, UNIT), None: (-UNIT, UNIT)}, (-UNIT, UNIT), 0, 0.04, True, 0.1, 1.0
    )
    above, wrong = arithmetic().decide(*(np.array([each]) for each in (2, UNIT, UNIT, 3 * UNIT)))
    assert above.tolist() == [True]
    assert wrong == pytest.approx([0.04 + 0.92 / (1 + math.exp(3 / 1.1))])


def test_evidence_that_is_believed_half_leaves_more_wrong_and_takes_twice_as_many_pulls_to_a_target() -> None:
    half = arithmetic(sureness=0.5)
    _, wrong = half.decide(*(np.array([each]) for each in (1, UNIT, UNIT, 3 * UNIT)))
    assert wrong == pytest.approx([0.04 + 0.92 / (1 + math.exp(1.5))])
    whole = arithmetic().more_pulls(40.0, 10.0, 100)
    assert whole is not None
    assert half.more_pulls(40.0, 10.0, 100) == pytest.approx(2 * whole, abs=2)


def test_no_number_of_pulls_is_enough_for_less_than_all_have_wrong_or_with_evidence_that_is_not_believed() -> None:
    assert arithmetic().least_wrong == 0.04
    assert arithmetic().more_pulls(40.0, 4.0, 100) is None
    assert arithmetic(mistaken=0.5).more_pulls(50.0, 40.0, 100) is None
    assert arithmetic(sureness=0.0).more_pulls(40.0, 10.0, 100) is None
