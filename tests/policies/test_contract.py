"""Every policy that is found keeps the whole contract, and what only Cutline's own tests can hold it to."""

import dataclasses
import functools
import os
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from numpy.typing import NDArray

import naive
from cutline.cli import cutline
from cutline.policies import LearningPolicy, Policy, available
from cutline.testing import BUDGET, PROBLEM, PolicyContract, parameters
from cutline.testing.games import RUNS
from games import ENGINES, play

EVERY = 63 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 1
"""Budgets that are looked at are so far apart: kernels in plain Python take a hundred times as long."""

every_policy = pytest.mark.parametrize("policy", available(), ids=lambda item: item.name)


@every_policy
class TestContract(PolicyContract):
    """What a policy from elsewhere is held to as well."""


@functools.cache
def first_rewards(key: int, run: int) -> NDArray[np.int64]:
    """The rewards of each arm, in order, as the slow twin has them; the same for all policies."""
    return np.array(
        [[naive.reward(key, run, arm, t, float(mean)) for t in range(BUDGET)] for arm, mean in enumerate(PROBLEM.means)]
    )


@pytest.mark.kernel
@pytest.mark.parametrize(
    "policy", [item for item in available() if not issubclass(item, LearningPolicy)], ids=lambda item: item.name
)
def test_every_engine_pulls_in_the_order_of_the_running_maxima(policy: type[Policy]) -> None:
    """A policy that learns has another order after each refit; what it plays is in test_learning.py."""
    made = policy()
    rows = parameters(made)
    key = naive.key_of(7, "")
    for run in range(RUNS):
        rewards = first_rewards(key, run)
        order = naive.running_maximum_order(
            lambda arm, n, s: made.index(float(n), float(s), PROBLEM.threshold, *rows[arm]),
            rewards,
            BUDGET,
            policy.pulls_each_arm_first,
        )
        budgets = list(range(PROBLEM.arms, BUDGET + 1, EVERY)) if policy.anytime else [BUDGET]
        want = [np.bincount(order[:budget], minlength=PROBLEM.arms).tolist() for budget in budgets]
        totals = [int(row[:n].sum()) for row, n in zip(rewards, want[-1], strict=True)]
        for engine in filter(lambda engine: engine.plays(policy), ENGINES):
            played = play(engine, made, PROBLEM, budgets, key, run)
            assert played.pulls.tolist() == want
            assert played.totals[-1].tolist() == totals


@every_policy
def test_the_command_line_lists_a_policy_with_its_parameters(policy: type[Policy]) -> None:
    result = CliRunner().invoke(cutline, ["policies"])
    settings = ", ".join(f"{item.name}={item.default:g}" for item in dataclasses.fields(policy))
    head = next(line for line in result.output.splitlines() if line.split("(")[0].split("  [")[0] == policy.name)
    assert head.startswith(f"{policy.name}({settings})" if settings else policy.name)
    assert policy.formula in result.output
    assert policy.source in result.output


@pytest.mark.parametrize("policy", [item for item in available() if item.__module__.startswith("cutline.")])
def test_a_policy_has_a_test_file_of_its_own(policy: type[Policy]) -> None:
    module = policy.__module__.rpartition(".")[2]
    assert (Path(__file__).parent / f"test_{module}.py").is_file()


def test_the_policies_of_the_paper_are_found_lsa_first_and_yardsticks_last() -> None:
    names = [policy.name for policy in available()]
    competitors = [policy.name for policy in available() if not policy.yardstick]
    assert names[: len(competitors)] == competitors
    assert competitors[0] == "LSA"
    assert set(competitors) >= {"LSA", "APT", "Opt-KG", "UCBE", "Uniform"}
