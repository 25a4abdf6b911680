"""What is guessed about arms whose means are not known: a Beta distribution for each."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cutline.checks import check_whole
from cutline.errors import InvalidInputError
from cutline.memory import require_memory
from cutline.problem import Problem

_SMALLEST, _LARGEST = 1e-6, 1e6
_BYTES_PER_ARM = 200.0


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Mean i of K arms is drawn from Beta(a_i, b_i), each on its own.

    ``a`` and ``b``: K >= 1 numbers each, at least 1e-6 and at most 1e6; kept as read-only float64 arrays of shape (K,).
    Raises InvalidInputError for anything else.
    """

    a: NDArray[np.float64]
    b: NDArray[np.float64]

    def __init__(self, a: ArrayLike, b: ArrayLike) -> None:
        for name, given in (("a", a), ("b", b)):
            try:
                values = np.array(given, dtype=np.float64)
            except (TypeError, ValueError):
                values = np.empty(0)
            wanted = f"{name} of a Beta distribution must be a list of numbers from {_SMALLEST:g} to {_LARGEST:g}"
            if values.ndim != 1 or not values.size:
                raise InvalidInputError(f"{wanted}, one an arm")
            bad = np.flatnonzero(~((values >= _SMALLEST) & (values <= _LARGEST)))
            if bad.size:
                raise InvalidInputError(f"{wanted}; that of arm {bad[0]} is {values[bad[0]]}")
            values.setflags(write=False)
            object.__setattr__(self, name, values)
        if self.a.size != self.b.size:
            raise InvalidInputError(f"{self.a.size} numbers a and {self.b.size} numbers b; give one of each an arm")

    @classmethod
    def prior(cls, a: float, b: float, arms: int) -> "Beliefs":
        """Return the same Beta(a, b) for every one of ``arms`` >= 1 arms.

        Raises InvalidInputError for bad numbers, and OutOfMemoryError for more arms than can be planned for.
        """
        count = check_whole("arms", arms, 1, 2**31 - 1)
        require_memory(_BYTES_PER_ARM * count, f"plans for {count:,} arms")
        return cls(np.full(count, a, dtype=np.float64), np.full(count, b, dtype=np.float64))

    @classmethod
    def after(cls, pulls: ArrayLike, totals: ArrayLike, places: Sequence[str] | None = None) -> "Beliefs":
        """Return Beta(1 + total, 1 + pulls - total) for each arm: what a pilot round leaves of a uniform prior.

        ``pulls`` and ``totals`` (sums of rewards in [0, 1]): K numbers each, 0 <= total <= pulls < 1e6. Raises
        InvalidInputError for anything else, with the arm: its number, or what ``places`` calls it, K texts.
        """
        try:
            n, s = np.array(pulls, dtype=np.float64), np.array(totals, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInputError("pilot results must be numbers: each arm's pulls and total reward") from None
        if n.ndim != 1 or n.shape != s.shape or not n.size:
            raise InvalidInputError(f"pulls have shape {n.shape} and totals {s.shape}; give one of each an arm")
        bad = np.flatnonzero(~((s >= 0) & (s <= n) & (n < _LARGEST)))
        if bad.size:
            arm = bad[0]
            where = f"arm {arm}" if places is None else places[arm]
            wanted = "needed is 0 <= total <= pulls < 1e6"
            raise InvalidInputError(f"{where}: total {s[arm]:.15g} of {n[arm]:.15g} pulls; {wanted}")
        return cls(1.0 + s, 1.0 + n - s)

    @property
    def arms(self) -> int:
        """K, the number of arms."""
        return self.a.size

    @property
    def all_alike(self) -> bool:
        """Whether all means are drawn from one distribution."""
        return bool(np.all(self.a == self.a[0]) and np.all(self.b == self.b[0]))

    def draw(self, threshold: float, *seed: int) -> Problem:
        """Return a Problem whose means are drawn from the beliefs; the same seed gives the same means."""
        generator = np.random.default_rng(seed)
        return Problem(generator.beta(self.a, self.b), threshold)


Guess = Problem | Beliefs
"""What a plan starts from: means that are taken as true, or beliefs, from which every game draws its own."""
