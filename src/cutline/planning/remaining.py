"""How many more pulls a campaign needs: from the records that its arms have now."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betaln, xlog1py, xlogy

from cutline.beliefs.coins import coins
from cutline.beliefs.knowledge import Knowledge
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
_MOST_COINS = 1000.0  # that rewards of an arm count as, if they are fewer: rows of records are gone through
_RULES = "likelier", "mean"


@dataclass(frozen=True)
class Remaining:
    """What ``remaining`` returns: ``expected_errors`` now, and ``pulls``, more of them, until targets are reached.

    A target is reached where the expected errors and their ``standard_error``, the same share of them as now, are no
    more than it: what a campaign that stops at a target goes by. The standard error is 0 with a prior that is given.
    None of the pulls stands for a target that arms come to with more than 131,072 pulls each only, if at all.
    """

    policy: str
    arms: int
    threshold: float
    expected_errors: float
    standard_error: float
    targets: tuple[float, ...]
    pulls: tuple[int | None, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a dict for each target, with the keys errors and more_pulls."""
        return [{"errors": e, "more_pulls": p} for e, p in zip(self.targets, self.pulls, strict=True)]

    def __str__(self) -> str:
        arms = "1 arm" if self.arms == 1 else f"{self.arms:,} arms"
        now = f"{self.expected_errors:.4g} expected errors now"
        if self.standard_error:
            now += f", standard error {self.standard_error:.2g}"
        lines = [f"{arms}, threshold {self.threshold:g}, {self.policy}: {now}"]
        table = [["errors and standard error" if self.standard_error else "expected errors", "more pulls"]]
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

    ``records`` (R, 3): pulls, total reward, and how many arms have this record; or (R, 5): pulls, total reward, sum of
    squared rewards, arms, and how many of these are not pulled as their answer is known. Rewards between 0 and 1 count
    as the coins that say as much of a mean, in whole numbers. ``prior``: a and b of the Beta prior of the means; None:
    it is learnt from the records. ``decide``: an arm is called what is "likelier", or by its "mean". Raises
    InvalidInputError for what is out of range, for a policy that learns or must be told more, and where no arm has a
    result, or all have a known answer.
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
    if not np.any(given.pulls > 0):
        raise InvalidInputError("no arm has a result yet; plan with --prior")
    if not np.any(given.arms > given.known):
        raise InvalidInputError("the answers of all arms are known, so nothing is left to pull")
    knowledge = given.knowledge(threshold, prior)
    pulls, totals, arms = given.left(knowledge.spread)
    assert isinstance(knowledge.prior, Prior)
    means, masses = knowledge.prior.nodes(threshold)
    nodes = Nodes.of(means, masses, threshold, likelier=decide != "mean")
    sources = Sources(pulls, totals, arms / _likelihoods(pulls, totals, means, masses))
    caution = knowledge.caution or 1.0
    try:
        _, sums, _ = passed_until(policy, threshold, sources, nodes, min(targets) / caution)
    except TooDeepError as error:
        sums = error.sums
    errors = float((given.arms - given.known) @ given.wrong(knowledge, threshold, decide))
    return Remaining(
        policy=str(policy),
        arms=round(float(arms.sum())),
        threshold=threshold,
        expected_errors=errors,
        standard_error=(caution - 1.0) * errors,
        targets=tuple(targets),
        pulls=tuple(_pulls_until(errors, sums, target / caution, knowledge.spread) for target in targets),
    )


class _Records(NamedTuple):
    """Records, and how many arms have each, ``known`` of them with an answer that is known; (R,) each."""

    pulls: _Floats
    totals: _Floats
    squares: _Floats
    arms: _Floats
    known: _Floats

    def knowledge(self, threshold: float, prior: tuple[float, float] | None) -> Knowledge:
        """Return what a campaign with a target knows with these records, of which there is one with a result."""
        if prior:
            return Knowledge(Prior.beta(*prior))
        told = self.pulls > 0
        pulls, totals, squares, arms = (part[told] for part in self[:4])
        return Knowledge.learn(pulls, totals, squares, arms, threshold)

    def left(self, spread: float) -> tuple[_Whole, _Whole, _Floats]:
        """Return pulls and totals in whole coins, and the arms that can still be pulled, of the records that differ."""
        pulls, totals = coins(self.pulls, self.totals, self.squares, spread)
        most = np.maximum(self.pulls, _MOST_COINS)
        share = np.minimum(most / np.maximum(pulls, 1.0), 1.0)
        arms = self.arms - self.known
        some = arms > 0
        whole = np.round(np.stack([pulls * share, totals * share], axis=1)[some]).astype(np.int64)
        found, places = np.unique(whole, axis=0, return_inverse=True)
        counts = np.bincount(places.ravel(), weights=arms[some]).astype(np.float64)
        return found[:, 0].copy(), found[:, 1].copy(), counts

    def wrong(self, knowledge: Knowledge, threshold: float, decide: str) -> _Floats:
        """Return the probabilities that what an arm is called is wrong, for each record."""
        below, above = knowledge.sides(self.pulls, self.totals, self.squares, threshold)
        if decide != "mean":
            return np.minimum(below, above)
        by_mean = np.where(
            self.pulls > 0, is_above(np.maximum(self.pulls, 1.0), self.totals, threshold), above >= below
        )
        return np.where(by_mean, below, above)


def _checked(records: ArrayLike) -> _Records:
    """Return records; raise InvalidInputError for what are none."""
    try:
        given = np.asarray(records, np.float64)
    except (TypeError, ValueError):
        raise InvalidInputError("records must be numbers: pulls, total reward and arms of each") from None
    if given.ndim != 2 or given.shape[1] not in (3, 5):
        raise InvalidInputError(
            f"records have the shape {given.shape}; it must be (R, 3): pulls, total reward, arms; or (R, 5): pulls, "
            "total reward, sum of squares, arms, those known"
        )
    pulls, totals, *_ = given.T
    squares, arms, known = (totals, given[:, 2], np.zeros(len(given))) if given.shape[1] == 3 else given[:, 2:].T
    good = (totals >= 0.0) & (totals <= pulls) & (pulls < 2**53) & (squares >= 0.0) & (squares <= totals)
    bad = np.flatnonzero(~(good & (known >= 0.0) & (known <= arms) & (arms < 2**53)))
    if bad.size:
        raise InvalidInputError(
            f"record {bad[0]} is {given[bad[0]].tolist()}; it must be pulls, a total reward from 0 to that, of squares "
            "no more, and arms, of which no more are known"
        )
    return _Records(pulls, totals, squares, arms, known)


def _pulls_until(now: float, sums: Sums, target: float, a_coin: float) -> int | None:
    """Return the pulls at which a line through the errors ``now`` and at the levels first comes to the target.

    ``a_coin``: pulls that say as much as a coin.
    """
    errors, pulls = np.append(now, sums.errors), np.append(0.0, sums.pulls)
    reached = errors <= target
    if not reached.any():
        return None
    place = int(np.argmax(reached))
    if place == 0:
        return 0
    share = (errors[place - 1] - target) / (errors[place - 1] - errors[place])
    return math.ceil(a_coin * float(pulls[place - 1] + share * (pulls[place] - pulls[place - 1])))


def _likelihoods(pulls: _Whole, totals: _Whole, means: _Floats, masses: _Floats) -> _Floats:
    """Return the integral of the density of Beta(total + 1, pulls - total + 1) over the means, for each record."""
    found = np.empty(pulls.size)
    for start in range(0, pulls.size, _PIECE):
        n, s = (part[start : start + _PIECE, None].astype(np.float64) for part in (pulls, totals))
        density = np.exp(xlogy(s, means) + xlog1py(n - s, -means) - betaln(s + 1.0, n - s + 1.0))
        found[start : start + _PIECE] = (density * masses).sum(axis=1)
    return found
