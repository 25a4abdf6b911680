"""KL-LSA against its formula, and next to LSA."""

import math

import pytest

from cutline import LSA, InvalidInputError
from cutline.policies.kl_lsa import KLLSA

RECORDS = [(n, s) for n in range(1, 41) for s in range(n + 1)]


@pytest.mark.parametrize(
    ("pulls", "total", "want"),
    [(1, 1, math.log(4)), (1, 0, math.log(4 / 3)), (4, 1, math.log(2)), (2, 1, math.log(4 / 3) + 0.5 * math.log(2))],
)
def test_its_index_is_known_for_the_first_records(pulls: int, total: int, want: float) -> None:
    """At threshold 1/4: 2 kl(1/2, 1/4) = ln 2 + ln(2 / 3), and a mean on the threshold leaves the logarithm."""
    assert KLLSA.index(float(pulls), float(total), 0.25, 2.0) == pytest.approx(want, rel=1e-12)


def test_it_is_never_below_lsa_with_the_same_alpha() -> None:
    """Pinsker's inequality; equality where the mean is the threshold."""
    for n, s in RECORDS:
        divergence, square = (policy.index(float(n), float(s), 0.3, 1.35) for policy in (KLLSA, LSA))
        assert divergence == square if 10 * s == 3 * n else divergence > square


def test_its_alpha_is_that_of_lsa_for_long_records_near_one_half() -> None:
    ours, theirs = (policy.index(1e6, 501_000.0, 0.5, 1.35) for policy in (KLLSA, LSA))
    assert ours == pytest.approx(theirs, rel=1e-5)
    assert KLLSA() == KLLSA(LSA().alpha)


def test_at_one_half_ones_and_zeros_are_alike() -> None:
    for n, s in RECORDS:
        assert KLLSA.index(float(n), float(s), 0.5, 1.35) == KLLSA.index(float(n), float(n - s), 0.5, 1.35)


@pytest.mark.parametrize("alpha", [0.0, -1.0, 1e101])
def test_its_alpha_has_limits(alpha: float) -> None:
    with pytest.raises(InvalidInputError, match=r"^KL-LSA: alpha is .*; it must be a number above 0, at most 1e100$"):
        KLLSA(alpha)
