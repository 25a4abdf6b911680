"""The smallest whole number for which a condition holds, found by doubling and bisection."""

from collections.abc import Callable


def smallest(holds: Callable[[int], bool], least: int, most: int) -> int | None:
    """Return the smallest number from ``least`` >= 1 to ``most`` for which a condition holds, or None if none does.

    The condition must hold for every number above one for which it holds. Where it does not, what comes back is a
    number for which it holds although it does not hold for the number before.
    """
    last, before = least, least - 1
    while not holds(last):
        if last == most:
            return None
        before, last = last, min(2 * last, most)
    while last - before > 1:
        middle = (before + last) // 2
        before, last = (before, middle) if holds(middle) else (middle, last)
    return last
