"""What simulate, plan and replay ask of their arguments: policies and budgets."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError
from cutline.policies import Policy, parse


def check_policies(policies: Policy | str | Iterable[Policy | str]) -> list[Policy]:
    """Return the policies, names parsed; raise InvalidInputError if there is none or one twice."""
    if isinstance(policies, (Policy, str)):
        policies = [policies]
    chosen = [parse(item) if isinstance(item, str) else item for item in policies]
    for item in chosen:
        if not isinstance(item, Policy):
            raise InvalidInputError(f"{item!r} is not a policy; give one such as LSA() or its name")
    if not chosen:
        raise InvalidInputError("no policies: give at least one, such as LSA")
    names = [str(policy) for policy in chosen]
    for name in names:
        if names.count(name) > 1:
            raise InvalidInputError(f"policy {name} is given twice")
    return chosen


def check_budgets(budgets: int | Iterable[int], arms: int) -> NDArray[np.int64]:
    """Return budgets as an increasing int64 array; raise InvalidInputError if they are not, or one is below K."""
    given = list(budgets) if isinstance(budgets, Iterable) else [budgets]
    try:
        values = [int(value) for value in given]
    except (TypeError, ValueError, OverflowError):
        raise InvalidInputError(f"budgets must be whole numbers, not {given!r}") from None
    if not values or any(value != original for value, original in zip(values, given, strict=True)):
        raise InvalidInputError(f"budgets must be whole numbers, at least one, not {given!r}")
    if values[0] < arms:
        raise InvalidInputError(f"budget {values[0]} is below the number of arms, {arms}: every arm is pulled once")
    for before, after in pairwise(values):
        if after <= before:
            raise InvalidInputError(f"budgets must increase: {after} comes after {before}")
    if values[-1] >= 2**53:
        raise InvalidInputError(f"budget {values[-1]} is too large; the most is 2^53 - 1")
    return np.array(values, np.int64)
