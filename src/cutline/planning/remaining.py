"""How many more pulls a campaign needs: from the records that its arms have now."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, xlog1py, xlogy

from cutline.beliefs.prior import Prior
from cutline.checks import check_positive, finite
from cutline.errors import InvalidInputError
from cutline.planning.computing.expected import can_be_expected
from cutline.planning.computing.levels import TooDeepError, passed_until
from cutline.planning.computing.nodes import Nodes
from cutline.planning.computing.passage import Sources
from cutline.planning.computing.sums import Sums
from cutline.policies import Policy
from cutline.simulation.checks import check_policies
from cutline.text import aligned
from cutline.threshold import check_threshold, is_above

_Floats = NDArray[np.float64]
_Whole = NDArray[np.int64]

TARGETS = 50.0, 20.0, 10.0
"""Expected errors that people ask about."""

_PIECE = 2000  # records
_RULES = "likelier", "mean"


@dataclass(frozen=True)
class Remaining:
    """What ``remaining`` returns: ``expected_errors`` now, and ``pulls``, more of them, until there are ``targets``.

    None of the pulls stands for a target that arms come to with more than 131,072 pulls each only, if at all.
    """

    policy: str
    arms: int
    threshold: float
    expected_errors: float
    targets: tuple[float, ...]
    pulls: tuple[int | None, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for each target, with the keys errors and more_pulls."""
        return [{"errors": e, "more_pulls": p} for e, p in zip(self.targets, self.pulls, strict=True)]

    def __str__(self) -> str:
        arms = "1 arm" if self.arms == 1 else f"{self.arms:,} arms"
        lines = [f"{arms}, threshold {self.threshold:g}, {self.policy}: {self.expected_errors:.4g} expected errors now"]
        table = [["expected errors", "more pulls"]]
        table += [[f"{e:g}", "-" if p is None else f"{p:,}"] for e, p in zip(self.targets, self.pulls, strict=True)]
        return "\n".join([*lines, "", *aligned(table, left=0)])


def remaining(
    records: ArrayLike,
    threshold: float,
    policy: Policy | str,
    targets: Sequence[float] = TARGETS,
    prior: tuple[float, float] | None = None,
    decide: str = "likelier",
) -> Remaining:
    """Return about how many more pulls it takes until so few errors are expected, by the policy and without games.

    ``records`` (R, 3): pulls, total reward, and how many arms have this record. ``prior``: a and b of the Beta prior of
    the means; None: it is learnt from the records. ``decide``: an arm is called what is "likelier", or by its "mean".
    Totals count as the nearest whole number. Raises InvalidInputError for what is out of range, for a policy that
    learns or must be told more, and where no arm has a result.
    """
    threshold = check_threshold(threshold)
    (policy,) = check_policies(policy)
    targets = [check_positive("a target", target) for target in targets]
    if prior is not None and (len(prior) != 2 or not min(map(finite, prior)) > 0.0):
        raise InvalidInputError(f"prior is {prior!r}; it must be two numbers above 0, as in (1, 1)")
    if not targets:
        raise InvalidInputError("there are no targets; give at least one, such as 50")
    if not can_be_expected(policy):
        raise InvalidInputError(f"{policy} has no fixed table of indices, so what is left cannot be computed")
    if decide not in _RULES:
        raise InvalidInputError(f"decide is {decide!r}; it must be {' or '.join(_RULES)}")
    given = _checked(records)
    if not np.any(given[:, 0] > 0):
        raise InvalidInputError("no arm has a result yet; plan with --prior")
    whole, places = np.unique(np.round(given[:, :2]).astype(np.int64), axis=0, return_inverse=True)
    arms = np.bincount(places.ravel(), weights=given[:, 2])
    pulls, totals = np.ascontiguousarray(whole.T)
    told = pulls > 0
    belief = Prior.beta(*prior) if prior else Prior.learn(pulls[told], totals[told], arms[told])
    means, masses = belief.nodes(threshold)
    nodes = Nodes.of(means, masses, threshold, likelier=decide != "mean")
    sources = Sources(pulls, totals, arms / _likelihoods(pulls, totals, means, masses))
    try:
        _, sums, _ = passed_until(policy, threshold, sources, nodes, min(targets))
    except TooDeepError as error:
        sums = error.sums
    return Remaining(
        policy=str(policy),
        arms=round(float(arms.sum())),
        threshold=threshold,
        expected_errors=float(arms @ _wrong(belief, pulls, totals, threshold, decide)),
        targets=tuple(targets),
        pulls=tuple(_pulls_until(sums, target) for target in targets),
    )


def _checked(records: ArrayLike) -> _Floats:
    """Return records as floats, (R, 3); raise InvalidInputError for what are none."""
    try:
        given = np.asarray(records, np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError("records must be numbers: pulls, total reward and arms of each") from None
    if given.ndim != 2 or given.shape[1] != 3:
        raise InvalidInputError(f"records have the shape {given.shape}; it must be (R, 3): pulls, total reward, arms")
    pulls, totals, arms = given.T
    bad = np.flatnonzero(~((totals >= 0.0) & (totals <= pulls) & (pulls < 2**53) & (arms >= 0.0) & (arms < 2**53)))
    if bad.size:
        raise InvalidInputError(
            f"record {bad[0]} is {given[bad[0]].tolist()}; it must be pulls, a total reward from 0 to that, and arms"
        )
    return given


def _wrong(belief: Prior, pulls: _Whole, totals: _Whole, threshold: float, decide: str) -> _Floats:
    """Return the probabilities that what an arm is called is wrong, for each record."""
    below, above = belief.sides(pulls, totals, threshold)
    if decide != "mean":
        return np.minimum(below, above)
    by_mean = np.where(pulls > 0, is_above(np.maximum(pulls, 1), totals, threshold), above >= below)
    return np.where(by_mean, below, above)


def _pulls_until(sums: Sums, target: float) -> int | None:
    """Return the pulls at which a line through the errors at the levels first comes to the target."""
    reached = sums.errors <= target
    if not reached.any():
        return None
    place = int(np.argmax(reached))
    if place == 0:
        return 0
    before, after = (float(value) for value in sums.errors[place - 1 : place + 1])
    low, high = (float(value) for value in sums.pulls[place - 1 : place + 1])
    return math.ceil(low + (high - low) * (before - target) / (before - after))


def _likelihoods(pulls: _Whole, totals: _Whole, means: _Floats, masses: _Floats) -> _Floats:
    """Return the integral of the density of Beta(total + 1, pulls - total + 1) over the means, for each record."""
    found = np.empty(pulls.size)
    for start in range(0, pulls.size, _PIECE):
        n, s = (part[start : start + _PIECE, None].astype(np.float64) for part in (pulls, totals))
        density = np.exp(xlogy(s, means) + xlog1py(n - s, -means) - betaln(s + 1.0, n - s + 1.0))
        found[start : start + _PIECE] = (density * masses).sum(axis=1)
    return found
