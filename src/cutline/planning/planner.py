"""plan: the smallest budget at which a policy is expected to make few enough errors, and what it is compared with."""

import math
from collections.abc import Iterable
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from cutline.checks import check_whole
from cutline.defaults import POLICY
from cutline.errors import InvalidInputError
from cutline.planning.beliefs import Beliefs, Guess
from cutline.planning.computed import computed
from cutline.planning.computing.exact import UniformErrors, theorem_budgets
from cutline.planning.computing.oracle import OracleErrors
from cutline.planning.result import Beside, Plan, Point
from cutline.planning.search import CONFIDENCE, MOST_PULLS, NOTHING, PRECISION, Found, search
from cutline.policies import Policy
from cutline.problem import Problem
from cutline.progress import Progress
from cutline.simulation.checks import check_policies
from cutline.simulation.workers import jobs_of
from cutline.threshold import check_threshold

_BEYOND = 25  # budgets of Uniform beyond the curve


def plan(
    guess: Beliefs | ArrayLike,
    threshold: float = 0.5,
    *,
    errors: float | None = None,
    accuracy: float | None = None,
    policy: Policy | str | Iterable[Policy | str] = POLICY,
    seed: int = 0,
    executor: Executor | int | None = None,
    progress: Progress | bool | None = None,
) -> Plan:
    """Find the smallest budget at which a policy makes at most so many errors on average.

    ``guess``: the means, K numbers in [0, 1], taken as true; or ``Beliefs``, from which every simulated game draws its
    own means: ``Beliefs.prior(2, 2, 1000)``, or ``Beliefs.after(pulls, totals)`` after a pilot round, whose pulls are
    spent and not part of the budget. The policy itself starts without any of this.
    ``errors``: the target, expected wrong decisions; or ``accuracy``, the share of right ones. One of the two.
    ``policy``: one, or several, of which the plan is for the first and says beside it what the others need.
    ``executor`` and ``progress`` as in ``simulate``. The same seed gives the same plan on any executor.

    With a prior, or at least 10 means or results of a pilot round, and a policy that needs neither budget nor true
    means, the errors are computed (``expected_curve``), unless an arm would need too many pulls. Else games are
    simulated, and the budget is where a line through their errors meets the target. Its interval covers it with a
    probability of 0.95; games are added until half of it is 1.5 % of the budget, or the games have 10^9 pulls. A refit
    of a policy that learns counts as a million of them.
    Raises InvalidInputError for what is out of range.
    """
    limit = check_threshold(threshold)
    known: Guess = guess if isinstance(guess, Beliefs) else Problem(guess, limit)
    target = _target(known.arms, errors, accuracy)
    chosen, *others = check_policies(policy)
    seed = check_whole("seed", seed, 0, 2**64 - 1)
    jobs_of(executor)
    question = _Question.of(known, limit, target)
    on_threshold, reachable = question.on_threshold, question.reachable
    found, *beside = (question.needed_by(one, seed, executor, progress) for one in (chosen, *others))
    promise, denial = theorem_budgets(known, limit, chosen, target)
    by_uniform = question.uniform.budget(target) if reachable else None
    return Plan(
        policy=str(chosen),
        arms=known.arms,
        threshold=limit,
        target=target,
        budget=found.budget,
        low=found.low,
        high=found.high,
        confidence=CONFIDENCE,
        expected_errors=found.expected_errors,
        standard_error=found.standard_error,
        games=found.games,
        uniform=by_uniform,
        upper_bound=promise,
        lower_bound=denial,
        remark=_remark(found, target) if reachable else _why_not(on_threshold, known.arms, target),
        seed=seed,
        curve=question.points(found),
        oracle=question.oracle.budget() if question.oracle else None,
        beside=tuple(question.beside(one, its) for one, its in zip(others, beside, strict=True)),
        uniform_beyond=question.uniform_beyond(found, by_uniform),
    )


@dataclass(frozen=True)
class _Question:
    """What is asked of every policy, and what is known without any."""

    guess: Guess
    threshold: float
    target: float
    on_threshold: int
    uniform: UniformErrors
    oracle: OracleErrors | None

    @classmethod
    def of(cls, guess: Guess, threshold: float, target: float) -> "_Question":
        """Return the question; half of the arms whose means lie on the threshold stay wrong."""
        on_threshold = 0 if isinstance(guess, Beliefs) else int(np.count_nonzero(guess.gaps == 0.0))
        uniform = UniformErrors(guess, threshold)
        oracle = OracleErrors(guess, uniform, threshold, target) if target >= on_threshold / 2 else None
        return cls(guess, threshold, target, on_threshold, uniform, oracle)

    @property
    def reachable(self) -> bool:
        """Whether some budget reaches the target."""
        return self.target >= self.on_threshold / 2

    def needed_by(
        self, policy: Policy, seed: int, executor: Executor | int | None, progress: Progress | bool | None
    ) -> Found:
        """Return what a policy needs: computed, or else simulated."""
        if not self.reachable:
            return NOTHING
        found = computed(self.guess, self.uniform, self.threshold, policy, self.target)
        if found is not None:
            return found
        from cutline.planning.simulator import Simulator  # loads the engines

        return search(Simulator(self.guess, self.threshold, policy, seed, executor, progress), self.target)

    def points(self, found: Found) -> tuple[Point, ...]:
        """Return the curve of what was found, with Uniform's errors and the gap oracle's."""
        columns = zip(*found.curve.columns(), strict=True)
        at_oracle = self.oracle.at if self.oracle else lambda budget: None
        return tuple(
            Point(int(at), float(mean), float(error), self.uniform.at(int(at)), at_oracle(at))
            for at, mean, error in columns
        )

    def uniform_beyond(self, found: Found, budget: int | None) -> tuple[tuple[int, float], ...]:
        """Return Uniform's errors at budgets from beyond the curve of what was found to what Uniform needs."""
        if budget is None or not found.curve.budgets.size or budget <= found.curve.budgets[-1]:
            return ()
        budgets = np.round(np.geomspace(found.curve.budgets[-1], budget, _BEYOND)).astype(np.int64)[1:]
        return tuple((int(at), self.uniform.at(int(at))) for at in np.unique(budgets))

    def beside(self, policy: Policy, found: Found) -> Beside:
        """Return what another policy needs."""
        return Beside(str(policy), found.budget, found.low, found.high, found.games, self.points(found))


def _target(arms: int, errors: float | None, accuracy: float | None) -> float:
    """Return the target as expected errors."""
    name, value = ("errors", errors) if accuracy is None else ("accuracy", accuracy)
    if value is None or (errors is not None and accuracy is not None):
        raise InvalidInputError("give the target once: either errors, such as 50, or accuracy, such as 0.95")
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if accuracy is None:
        if not 0.0 < number < math.inf:
            raise InvalidInputError(f"errors is {value!r}; it must be a number above 0")
        return number
    if not 0.0 < number < 1.0:
        raise InvalidInputError(f"{name} is {value!r}; it must be a number in (0, 1)")
    return arms - number * arms


def _why_not(on_threshold: int, arms: int, target: float) -> str:
    which = "The only mean lies" if arms == 1 else f"{on_threshold:,} of the {arms:,} means {_lie(on_threshold)}"
    return (
        f"{which} on the threshold, where half of all decisions are wrong however many pulls there are. "
        f"The expected errors tend to {on_threshold / 2:g}: no budget keeps them at {target:g} or below."
    )


def _lie(count: int) -> str:
    return "lies" if count == 1 else "lie"


def _remark(found: Found, target: float) -> str:
    if found.budget is None and not found.games:
        return f"{target:g} expected errors are too few to simulate: it would take more than {MOST_PULLS:,} pulls."
    if found.budget is None:
        last = int(found.curve.budgets[-1])
        seen = f"with {last:,} pulls {found.expected_errors:.4g} errors are expected"
        return f"Not reached: {seen}, and games with more would take over {MOST_PULLS:,} pulls."
    if found.low == found.high:
        return "One pull of every arm is enough."
    if found.high is not None and found.low is not None and found.high - found.low > 3.3 * PRECISION * found.budget + 2:
        return (
            f"The interval is wide: the errors hardly fall there, or more games would take over {MOST_PULLS:,} pulls."
        )
    return ""
