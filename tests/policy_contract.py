"""What holds for every policy: an importable list of checks, each a function of a policy class.

``policies/test_contract.py`` puts every policy that is found through all of them.
"""

import dataclasses
import math
import pickle
from collections.abc import Callable, Iterable
from itertools import combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import naive
from cutline import InvalidInputError, NotFoundError, Problem, parse
from cutline.cli import cutline
from cutline.compiled import jit, with_parameters
from cutline.policies import Policy, available
from cutline.policies.policy import excess
from cutline.simulation.chunks import parameter_tables
from games import ENGINES, play

Check = Callable[[type[Policy]], None]
CHECKS: list[Check] = []

PROBLEM = Problem([0.2, 0.55, 0.4, 0.8, 0.5, 0.0, 1.0], 0.45)
BUDGET = 700
THRESHOLDS = (0.5, 0.3, 0.55, 1 / 3, 0.02, 0.985)


def check(function: Check) -> Check:
    CHECKS.append(function)
    return function


def rows(policy: Policy, problem: Problem = PROBLEM, budget: int = BUDGET) -> list[list[float]]:
    """The parameters of the index, a list an arm."""
    return parameter_tables(policy, problem, np.array([budget]))[0].tolist()


def records(policy: Policy, most: int) -> list[tuple[float, float]]:
    """Every record (pulls, total) with at most ``most`` pulls that the index can be asked about."""
    fewest = 1 if policy.pulls_each_arm_first else 0
    return [(float(n), float(s)) for n in range(fewest, most + 1) for s in range(n + 1)]


def assert_orders_alike(
    index: Callable[[int, int], float], twin: naive.Index, records: Iterable[tuple[int, int]]
) -> int:
    """Assert that two indices order all records alike, ties included; return how many records tie with another."""
    ranked = sorted((twin(n, s), n, s) for n, s in records)
    ties = 0
    for (low, *before), (high, *after) in pairwise(ranked):
        if low == high:
            ties += 1
            assert index(*before) == index(*after), (before, after)
        else:
            assert index(*before) < index(*after), (before, after)
    return ties


@check
def is_a_frozen_dataclass_whose_fields_are_numbers_with_defaults(policy: type[Policy]) -> None:
    made = policy()
    for item in dataclasses.fields(policy):
        assert isinstance(getattr(made, item.name), float)
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(made, item.name, 1.0)
    assert made == policy()
    assert hash(made) == hash(policy())


@check
def says_in_one_line_each_what_it_is_and_where_it_comes_from(policy: type[Policy]) -> None:
    for text in (policy.name, policy.formula, policy.source):
        assert text == text.strip()
        assert text
        assert "\n" not in text
    assert policy.__doc__
    assert "Source:" in policy.__doc__


@check
def prints_what_parse_reads_back(policy: type[Policy]) -> None:
    for made in (policy(), policy(*(0.75 + item.default for item in dataclasses.fields(policy)))):
        assert parse(str(made)) == made
        assert str(parse(str(made))) == str(made)
        assert parse(f" {str(made).lower().replace('-', '_')} ") == made
    assert parse(policy.name) == policy()


@check
def refuses_parameters_that_are_not_finite_numbers(policy: type[Policy]) -> None:
    for item in dataclasses.fields(policy):
        for bad in (math.nan, math.inf, -math.inf, "many", None, [1.0]):
            with pytest.raises(InvalidInputError) as caught:
                policy(**{item.name: bad})
            assert str(caught.value).startswith(f"{policy.name}: {item.name} is {bad!r}; it must be ")
            assert "\n" not in str(caught.value)


@check
def names_its_parameters_when_it_is_given_too_many(policy: type[Policy]) -> None:
    names = [item.name for item in dataclasses.fields(policy)]
    with pytest.raises(InvalidInputError) as caught:
        parse(f"{policy.name}({','.join('1' * (len(names) + 1))})")
    assert str(caught.value).endswith(f"write {policy.name}({', '.join(names)})" if names else f"write {policy.name}")
    with pytest.raises(NotFoundError) as missing:
        parse("no-such-policy")
    assert policy.name in str(missing.value)


@check
def has_an_index_that_is_a_number_for_every_record(policy: type[Policy]) -> None:
    made = policy()
    far = [(n, s) for n in (1e3, 1e5, 1e6) for s in (0.0, 1.0, n / 3, n / 2, n - 1.0, n)]
    for row in rows(made):
        for theta in (*THRESHOLDS, 1e-9, 1 - 1e-9):
            for n, s in records(made, 12) + [(n, math.floor(s)) for n, s in far]:
                value = made.index(n, s, theta, *row)
                assert isinstance(value, float)
                assert math.isfinite(value), (n, s, theta, row)


@check
def has_the_same_index_compiled_and_as_it_is(policy: type[Policy]) -> None:
    made = policy()
    compiled = with_parameters(policy.index, 3)
    table = parameter_tables(made, PROBLEM, np.array([BUDGET]))[0]

    @jit
    def fill(pulls: Any, totals: Any, theta: float, table: Any, values: Any) -> None:
        for arm in range(table.shape[0]):
            for place in range(pulls.size):
                values[arm, place] = compiled(pulls[place], totals[place], theta, arm, table)

    pulls, totals = np.array([*records(made, 40), (1e6, 400_000.0), (12_345.0, 678.0)]).T
    for theta in THRESHOLDS:
        values = np.empty((PROBLEM.arms, pulls.size))
        fill(pulls, totals, theta, table, values)
        plain = [
            [made.index(n, s, theta, *row) for n, s in zip(pulls.tolist(), totals.tolist(), strict=True)]
            for row in rows(made)
        ]
        np.testing.assert_allclose(values, plain, rtol=1e-12, atol=0)


@check
def has_no_ceiling_or_one_that_its_index_never_exceeds_inside_a_block(policy: type[Policy]) -> None:
    if policy.ceiling is None:
        return
    made = policy()
    answers = 0
    for theta in THRESHOLDS[:4]:
        for row in rows(made)[:2]:
            known = [
                (n, excess(n, s, theta) if n else 0.0, made.index(n, s, theta, *row)) for n, s in records(made, 14)
            ]
            for pulls in range(int(known[0][0]), 7):
                for length in (1, 3, 8):
                    block = [(middle, value) for n, middle, value in known if pulls <= n <= pulls + length]
                    edges = sorted({middle for middle, _ in block})
                    edges = edges[:: max(1, len(edges) // 9)]
                    for lowest, highest in combinations_with_replacement(edges, 2):
                        top = policy.ceiling(float(pulls), float(length), lowest, highest, theta, *row)
                        inside = max(
                            (value for middle, value in block if lowest <= middle <= highest), default=-math.inf
                        )
                        assert inside <= top, (pulls, length, lowest, highest, theta, row)
                        answers += top < math.inf
    assert answers > 1000


@check
def has_no_band_or_one_within_which_no_index_is_above_the_level(policy: type[Policy]) -> None:
    if policy.band is None:
        return
    assert policy.ceiling is not None
    made = policy()
    answers = 0
    for theta in THRESHOLDS[:4]:
        for row in rows(made)[:2]:
            known = [(n, excess(n, s, theta), made.index(n, s, theta, *row)) for n, s in records(made, 14) if n]
            levels = sorted({value for _, _, value in known})
            for pulls, length, level in product(range(1, 7), (1, 3, 8), levels[:: max(1, len(levels) // 25)]):
                first, last = policy.band(float(pulls), float(length), level, theta, *row)
                if first < 0.0 or last < 0.0:
                    continue
                for n, middle, value in known:
                    half = first + (last - first) * (n - pulls) / length
                    if pulls <= n <= pulls + length and abs(middle) <= half - 1e-12:
                        assert value <= level, (pulls, length, level, n, middle, theta, row)
                        answers += 1
    assert answers > 1000


@check
def has_no_head_start_or_one_that_its_index_keeps_from_budget_to_budget(policy: type[Policy]) -> None:
    if policy.head_start is None:
        return
    assert not policy.anytime
    made = policy()
    answers = 0
    for theta in THRESHOLDS[:4]:
        before, after = rows(made, budget=600)[0], rows(made)[0]
        played = [(n, made.index(n, s, theta, *before), made.index(n, s, theta, *after)) for n, s in records(made, 30)]
        for _, level, _ in played[::11]:
            for _, _, next_level in played[::5]:
                most = policy.head_start(level, np.array(before), next_level, np.array(after))
                answers += most >= 1
                assert all(new <= next_level for n, old, new in played if n <= most and old <= level)
    assert answers > 1000


@check
def says_whether_its_index_depends_on_the_rewards(policy: type[Policy]) -> None:
    made = policy()
    depends = any(
        len({made.index(float(n), float(s), theta, *row) for s in range(n + 1)}) > 1
        for theta in THRESHOLDS
        for row in rows(made)
        for n in (1, 2, 7, 30)
    )
    assert depends == policy.reads_rewards


@check
def ignores_the_budget_if_it_is_anytime(policy: type[Policy]) -> None:
    made = policy()
    assert (rows(made, budget=BUDGET) == rows(made, budget=2 * BUDGET)) == policy.anytime


@check
def asks_for_the_problem_if_and_only_if_it_needs_the_truth(policy: type[Policy]) -> None:
    made = policy()
    if policy.needs_truth:
        with pytest.raises(InvalidInputError, match=f"^{policy.name} needs the true "):
            made.parameters()
    else:
        assert made.parameters() == made.parameters(PROBLEM, BUDGET)


@check
def is_pulled_by_every_engine_in_the_order_of_its_running_maxima(policy: type[Policy]) -> None:
    made = policy()
    params = rows(made)
    key = naive.key_of(7, "")
    for run in range(3):
        rewards = np.array(
            [
                [naive.reward(key, run, arm, t, float(mean)) for t in range(BUDGET)]
                for arm, mean in enumerate(PROBLEM.means)
            ]
        )
        order = naive.running_maximum_order(
            lambda arm, n, s: made.index(float(n), float(s), PROBLEM.threshold, *params[arm]),
            rewards,
            BUDGET,
            policy.pulls_each_arm_first,
        )
        budgets = list(range(PROBLEM.arms, BUDGET + 1)) if policy.anytime else [BUDGET]
        want = [np.bincount(order[:budget], minlength=PROBLEM.arms).tolist() for budget in budgets]
        for engine in filter(lambda engine: engine.plays(policy), ENGINES):
            assert play(engine, made, PROBLEM, budgets, key, run).pulls.tolist() == want


@check
def can_be_sent_to_another_process(policy: type[Policy]) -> None:
    assert pickle.loads(pickle.dumps(policy())) == policy()


@check
def is_listed_by_the_command_line_with_its_parameters(policy: type[Policy]) -> None:
    result = CliRunner().invoke(cutline, ["policies"])
    assert result.exit_code == 0
    settings = ", ".join(f"{item.name}={item.default:g}" for item in dataclasses.fields(policy))
    head = next(line for line in result.output.splitlines() if line.split("(")[0].split("  [")[0] == policy.name)
    assert head.startswith(f"{policy.name}({settings})" if settings else policy.name)
    assert policy.formula in result.output
    assert policy.source in result.output


@check
def has_a_name_that_no_other_policy_has(policy: type[Policy]) -> None:
    plain = [item.name.lower().replace("-", "") for item in available()]
    assert plain.count(policy.name.lower().replace("-", "")) == 1
