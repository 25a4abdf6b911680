"""The setups are the paper's, to the last bit of every decimal."""

from decimal import Decimal

import pytest

from cutline.errors import InvalidInputError
from cutline.paper.setups import ALPHAS, COMPETITORS, OURS, SETUPS, check_setups, yardsticks

D = Decimal
FIVE, TWO = D("0.05"), D("0.2")

# As the paper writes them (Section 5 and Appendix F.2), in decimal arithmetic.
PAPER_MEANS = {
    1: [*(D("0.2") + i * FIVE for i in range(4)), D("0.45"), D("0.55"), *(D("0.65") + i * FIVE for i in range(4))],
    2: [D("0.405") + D(i - 1) / 100 for i in range(1, 21)],
    3: [D("0.45")] * 5 + [D("0.505")] * 5,
    4: [
        *(D("0.4") - TWO**i for i in range(1, 5)),
        D("0.45"),
        D("0.55"),
        *(D("0.6") + TWO ** (5 - i) for i in range(1, 5)),
    ],
    5: [D("0.4")] * 50 + [D("0.51")] * 50,
    6: [D("0.4") + D(i - 1) / 100 for i in range(1, 11)],
}


@pytest.mark.parametrize("number", PAPER_MEANS)
def test_the_means_are_the_floats_nearest_to_the_papers_decimals(number: int) -> None:
    assert SETUPS[number].problem.means.tolist() == [float(mean) for mean in PAPER_MEANS[number]]
    assert SETUPS[number].problem.threshold == 0.5


def test_twenty_budgets_are_equally_spaced_up_to_the_largest() -> None:
    largest = {1: 1000, 2: 40_000, 3: 100_000, 4: 2000, 5: 100_000, 6: 20_000}
    for number, setup in SETUPS.items():
        assert setup.budgets == [largest[number] // 20 * look for look in range(1, 21)]
        assert setup.budgets[0] >= setup.problem.arms


def test_the_policies_are_the_papers() -> None:
    assert str(OURS) == "LSA(1.35)"
    assert [str(policy) for policy in COMPETITORS] == [
        *("APT(0)", "APT(0.025)", "APT(0.05)", "APT(0.1)", "UCBE(-1)", "UCBE(0)", "UCBE(4)"),
        *("Opt-KG(1,1)", "Opt-KG(0.5,0.5)", "Uniform"),
    ]
    assert [str(policy) for policy in ALPHAS] == ["LSA(0.5)", "LSA(1)", "LSA(1.35)", "LSA(2)", "LSA(4)"]


def test_yardsticks_are_policies_that_are_told_the_truth_and_not_among_the_competitors() -> None:
    names = {policy.name for policy in COMPETITORS} | {OURS.name}
    assert all(policy.yardstick and policy.name not in names for policy in yardsticks())


def test_setups_are_chosen_by_number_in_order() -> None:
    assert [setup.number for setup in check_setups([5, 2])] == [2, 5]
    assert SETUPS[2].name == "Setup 2: arithmetic progression II"


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ([], "no setups; give some of 1 to 6"),
        ([1, 7], "no setup 7; there are 1 to 6"),
        ([2, 2], "setup 2 is given twice"),
    ],
)
def test_a_setup_that_is_not_there_or_given_twice_is_refused(numbers: list[int], message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        check_setups(numbers)
