"""The contract of a policy, and the two pieces of arithmetic that every index shares.

Every policy here is an *index policy*: from an arm's own record (pulls, total reward) it computes one
number, and it pulls the arm with the smallest. ``index`` is therefore the whole policy: the simulators, the
live campaign and the replay all call that one function. It is plain Python on floats and ``math``, so that
it can be compiled and can also be called as it is.

Two numbers that are equal on paper must be equal as floats, else ties would be broken by rounding noise
instead of by arm number. ``excess`` and ``settle`` see to that for thresholds of up to six decimals; at others,
such as 1/3, a tie between unlike records can still go to the last bit.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, ClassVar, NamedTuple, TypeAlias

from cutline.bits import bits_of, float_of
from cutline.errors import InvalidInputError

if TYPE_CHECKING:  # NumPy takes longer to load than an ask and a tell
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from cutline.problem import Problem

Index: TypeAlias = Callable[..., float]
Parameters: TypeAlias = "tuple[float | NDArray[np.float64], ...]"
Learnt: TypeAlias = tuple[float, ...]

LOG_SLACK = 2.6e-6
"""How much ``log_above`` is above the logarithm at most."""

_LN_2 = 0.6931471805599453
_BITS_OF_SQRT_HALF = 0x3FE6A09E667F3BCD


def excess(pulls: float, total: float, threshold: float) -> float:
    """Return total - threshold * pulls: how far the rewards lie above the threshold, in rewards.

    Exact wherever the threshold has at most six decimals (3 rewards of 10 at 0.3 give 0, and 0 of 10 gives
    as much below as 6 of 10 above); for other thresholds exactly 0 when total / pulls is the threshold.
    """
    millionths = math.floor(threshold * 1e6 + 0.5)
    if millionths / 1e6 == threshold:
        return (total * 1e6 - millionths * pulls) / 1e6
    return (total / pulls - threshold) * pulls


def settle(index: float) -> float:
    """Round an index to 40 significant bits, one part in 10^12.

    The last bits of a computed index are noise. Without them two records whose indices are equal in exact
    arithmetic get equal floats, and the tie goes to the lowest arm, as it must.
    """
    scaled = index * 8193.0
    return scaled - (scaled - index)


def above_rounding(bound: float, scale: float) -> float:
    """Move an upper bound up by more than rounding and ``settle`` can add to an index made of parts up to ``scale``."""
    return bound + 1e-11 * scale


def below_rounding(bound: float, scale: float) -> float:
    """Move a lower bound down, by as much as ``above_rounding`` moves an upper one up."""
    return bound - 1e-11 * scale


def log_above(x: float) -> float:
    """Return no less than ln x and at most ``LOG_SLACK`` more, for a positive x that is not subnormal: for ceilings.

    x is m 2^e with m from sqrt(1/2) to sqrt(2), and ln m = 2 artanh z, z = (m - 1) / (m + 1), a series in z^2 that is
    cut after three terms. No call and no branch, so a compiler computes it for several records side by side.
    """
    bits = bits_of(x)
    exponent = (bits - _BITS_OF_SQRT_HALF) >> 52
    m = float_of(bits - (exponent << 52))
    z = (m - 1.0) / (m + 1.0)
    w = z * z
    return float(exponent * _LN_2 + 2.0 * z * (1.0 + w * (1 / 3 + w * (1 / 5))) + 0.5 * LOG_SLACK)


def number(value: float) -> str:
    """Write a parameter as the paper does: 1, not 1.0; all digits that it takes to read it back."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


@dataclass(frozen=True)
class Policy(ABC):
    """Base of all policies: a frozen dataclass whose fields are its tuning parameters, numbers all.

    A subclass sets the class variables, checks its fields in ``__post_init__``, and gives ``index``.
    ``docs/new_policy.md`` has a skeleton to copy.
    """

    name: ClassVar[str]
    """What the paper calls it; ``parse`` reads it in any case, with or without hyphens."""
    formula: ClassVar[str]
    """The index in one line of plain text."""
    source: ClassVar[str]
    """Where the policy was published."""
    anytime: ClassVar[bool] = True
    """False if the index depends on the budget: then every budget is a simulation of its own."""
    needs_truth: ClassVar[bool] = False
    """True if the parameters need the true means: no such policy can run a live campaign."""
    yardstick: ClassVar[bool] = False
    """True if the policy is told what no competitor may know."""
    reads_rewards: ClassVar[bool] = True
    """False if the index depends on the pulls alone: then all runs have the same pulls, and one finds them."""
    pulls_each_arm_first: ClassVar[bool] = True
    """True if every arm is pulled once, in order, before the first index is computed."""

    index: ClassVar[Index]
    """index(pulls, total, threshold, *parameters) -> float: the arm with the smallest is pulled.

    A static method. ``pulls`` (T_i) and ``total`` (sum of rewards) are one arm's record, as floats; pulls is
    at least 1, or at least 0 where ``pulls_each_arm_first`` is False.
    """
    ceiling: ClassVar[Index | None] = None
    """ceiling(pulls, length, lowest, highest, threshold, *parameters) -> float, or None.

    A static method for the skip-ahead engine: no less than the index, as computed, of any record that has ``pulls`` to
    ``pulls + length`` pulls and an excess (total - threshold * pulls) from ``lowest`` to ``highest``; infinity where
    it cannot say. A policy without it runs on the stepping engine.
    """

    band: ClassVar[Callable[..., tuple[float, float]] | None] = None
    """band(pulls, length, level, threshold, *parameters) -> (float, float), or None; for policies with a ceiling.

    A static method for the skip-ahead engine, a ceiling the other way round: how far an excess may be from 0 with the
    index, as computed, still at most ``level``. It holds for records with ``pulls`` to ``pulls + length`` pulls, on the
    straight line from the first number to the second; a negative number says that nothing is known. Where the distance
    is concave in the pulls, the line between its values at both ends is below it.
    """

    head_start: ClassVar[Callable[..., float] | None] = None
    """head_start(level, before, next_level, after) -> float, or None; for policies that are not anytime.

    A static method for the skip-ahead engine: a number of pulls up to which a record whose index is at most ``level``
    with the parameters ``before``, shape (P,), has one of at most ``next_level`` with ``after``; 0 where it cannot say.
    So the game for the next budget need not look again at what the game before went through.
    """

    def parameters(self, problem: "Problem | None" = None, budget: int | None = None) -> Parameters:
        """Return what ``index`` takes after the threshold: the fields, unless a policy needs problem or budget.

        Each is a number, or an array of shape (K,) with one number an arm.
        """
        return tuple(float(getattr(self, item.name)) for item in fields(self))

    def __str__(self) -> str:
        values = ",".join(number(getattr(self, item.name)) for item in fields(self))
        return f"{self.name}({values})" if values else self.name


class Tally(NamedTuple):
    """How many arms stand at each record: (R,) each, ``pulls`` and ``totals`` in increasing order, no record twice."""

    pulls: "NDArray[np.float64]"
    totals: "NDArray[np.float64]"
    arms: "NDArray[np.float64]"


def tally(pulls: "ArrayLike" = (), totals: "ArrayLike" = ()) -> Tally:
    """Count the arms at each record; ``pulls`` and ``totals``, (K,) each, are those of all arms in any order."""
    import numpy as np

    n, total = np.asarray(pulls, np.float64), np.asarray(totals, np.float64)
    order = np.lexsort((total, n))
    n, total = n[order], total[order]
    first = np.ones(n.size, np.bool_)
    first[1:] = (np.diff(n) != 0.0) | (np.diff(total) != 0.0)
    places = np.flatnonzero(first)
    return Tally(n[places], total[places], np.diff(places, append=n.size).astype(np.float64))


class LearningPolicy(Policy):
    """Base of the policies that learn from the records of all arms: between two refits an index policy as ever.

    ``index`` takes one parameter after the threshold: an array of float64 that all arms share, such as a table of
    indices; it uses nothing of it but its items. At budgets that follow from the number of arms alone (``next_refit``)
    the policy is shown how many arms stand at each record. What it learns (``learn``) is a few numbers, so that a
    database can keep them; the array follows from them (``table``), in any process and at any later time. Before the
    first refit it stands at what it learns from no record. It is anytime, and it is not told the truth.
    """

    @abstractmethod
    def next_refit(self, arms: int, spent: int) -> int:
        """Return the first budget above ``spent`` at which the policy learns anew: at least K, the number of arms."""

    @abstractmethod
    def learn(self, records: Tally, threshold: float) -> Learnt:
        """Return what the records say about all arms. Deterministic; it has only counts, so no arm has a name or place.

        Every refit begins anew, from all records.
        """

    @abstractmethod
    def table(self, learnt: Learnt, threshold: float) -> "NDArray[np.float64]":
        """Return the parameter of ``index``, shape (M,); it follows from what is learnt alone."""

    def parameters(self, problem: "Problem | None" = None, budget: int | None = None) -> Parameters:
        """Return the parameter before the first refit; raise InvalidInputError without a problem's threshold."""
        if problem is None:
            raise InvalidInputError(f"{self.name} learns its parameters; they depend on the threshold")
        return (self.table(self.learn(tally(), problem.threshold), problem.threshold),)


def check_parameter(policy: Policy, field_name: str, ok: Callable[[float], bool], wanted: str) -> None:
    """Turn a field into a float; raise InvalidInputError unless it is a finite number for which ``ok`` holds."""
    value = getattr(policy, field_name)
    try:
        converted = float(value)
    except (TypeError, ValueError):
        converted = math.nan
    if not (math.isfinite(converted) and ok(converted)):
        raise InvalidInputError(f"{policy.name}: {field_name} is {value!r}; it must be {wanted}")
    object.__setattr__(policy, field_name, converted)
