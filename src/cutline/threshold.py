"""The threshold, and which side of it an arm's mean is on. Light to import: a campaign needs no arrays for it."""

from typing import TYPE_CHECKING, Any, overload

from cutline.errors import InvalidInputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@overload
def is_above(pulls: float, total: float, threshold: float) -> bool: ...
@overload
def is_above(pulls: "NDArray[Any]", total: "NDArray[Any]", threshold: float) -> "NDArray[np.bool_]": ...
def is_above(pulls: Any, total: Any, threshold: float) -> Any:
    """Say whether total / pulls, an arm's mean reward, is at or above the threshold: the decision d_i of Algorithm 1.

    For two numbers or two arrays. The quotient is rounded just as the threshold was when it was read, so 3 of 10 at 0.3
    is a tie: above.
    """
    return total / pulls >= threshold


def check_threshold(threshold: float) -> float:
    """Return the threshold as a float; raise InvalidInputError unless 0 < threshold < 1."""
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        raise InvalidInputError(f"threshold {threshold!r} is not a number in (0, 1)") from None
    if not 0.0 < value < 1.0:
        raise InvalidInputError(f"threshold {threshold!r} is outside (0, 1)")
    return value
