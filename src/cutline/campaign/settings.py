"""What a campaign is created with and keeps, checked."""

import math
import operator
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from cutline.errors import ConflictError, InvalidInputError
from cutline.policies import Policy, available, parse
from cutline.problem import check_threshold

LARGEST = 2**53
"""No budget and no seed is larger, so that every store and every JSON reader keeps them exactly."""


class Options(TypedDict, total=False):
    """What ``Campaign.create`` takes by name."""

    seed: int
    """Seeds the order of the arms that breaks ties."""
    max_pulls_per_arm: int | None
    """No arm is asked for beyond that many results; None for no limit."""
    repeat_workers: bool
    """Whether a worker may get an arm again that it has or had."""
    prior: tuple[float, float]
    """The Beta(a, b) belief about an arm's mean before its first result, for probabilities of being wrong."""
    target_errors: float | None
    """Stop when the expected number of errors is at most this; None to spend the whole budget."""


class Expected(Options, total=False):
    """What ``Campaign.open`` holds against the stored settings."""

    threshold: float
    policy: Policy | str
    budget: int


@dataclass(frozen=True)
class Settings:
    """The settings of a campaign; see ``Campaign.create``. Raises InvalidInputError for a bad one."""

    threshold: float
    policy: Policy
    budget: int
    seed: int = 0
    max_pulls_per_arm: int | None = None
    repeat_workers: bool = False
    prior: tuple[float, float] = (1.0, 1.0)
    target_errors: float | None = None

    def __post_init__(self) -> None:
        checked = {
            "threshold": check_threshold(self.threshold),
            "policy": check_policy(self.policy),
            "budget": check_whole("budget", self.budget, 1),
            "seed": check_whole("seed", self.seed, 0),
            "max_pulls_per_arm": _optional(self.max_pulls_per_arm, lambda n: check_whole("max_pulls_per_arm", n, 1)),
            "repeat_workers": bool(self.repeat_workers),
            "prior": _check_prior(self.prior),
            "target_errors": _optional(self.target_errors, _check_target),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def require(self, expected: dict[str, Any]) -> None:
        """Raise ConflictError, naming every field and both values, unless the settings are as expected."""
        wanted = replace(self, **expected)
        differing = [
            f"{item.name} is {_written(getattr(self, item.name))}, not {_written(getattr(wanted, item.name))}"
            for item in fields(self)
            if getattr(self, item.name) != getattr(wanted, item.name)
        ]
        if differing:
            raise ConflictError("; ".join(differing))


def check_whole(name: str, value: Any, least: int) -> int:
    """Return the value as an int; raise InvalidInputError unless it is a whole number from ``least`` to 2^53."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= LARGEST:
        raise InvalidInputError(f"{name} is {value!r}; it must be a whole number from {least} to 2^53")
    return number


def check_positive(name: str, value: Any) -> float:
    """Return the value as a float; raise InvalidInputError unless it is a finite number above 0."""
    number = _finite(value)
    if not number > 0:
        raise InvalidInputError(f"{name} is {value!r}; it must be a number above 0")
    return number


def check_policy(policy: Policy | str) -> Policy:
    """Return the policy; raise InvalidInputError, with the reason, for one that cannot run a live campaign."""
    chosen = parse(policy) if isinstance(policy, str) else policy
    if not isinstance(chosen, Policy):
        raise InvalidInputError(f"policy is {policy!r}; it must be a policy such as LSA() or its name")
    usable = ", ".join(item.name for item in available() if item.anytime and not item.needs_truth)
    if chosen.needs_truth:
        raise InvalidInputError(f"{chosen} needs the true means, which no campaign knows; use one of {usable}")
    if not chosen.anytime:
        raise InvalidInputError(f"{chosen} needs to know in advance how many pulls there will be; use one of {usable}")
    return chosen


def _check_prior(prior: Any) -> tuple[float, float]:
    try:
        a, b = prior
    except (TypeError, ValueError):
        raise InvalidInputError(f"prior is {prior!r}; it must be two numbers above 0, the a and b of a Beta") from None
    return check_positive("prior a", a), check_positive("prior b", b)


def _check_target(target: Any) -> float:
    number = _finite(target)
    if not number >= 0:
        raise InvalidInputError(f"target_errors is {target!r}; it must be a number of errors, 0 or above")
    return number


def _finite(value: Any) -> float:
    """Return a finite float, NaN for anything else."""
    if isinstance(value, (bool, str, bytes)):
        return math.nan
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return number if math.isfinite(number) else math.nan


def _optional(value: Any, check: Any) -> Any:
    return None if value is None else check(value)


def _written(value: Any) -> str:
    return str(value) if isinstance(value, Policy) else repr(value)
