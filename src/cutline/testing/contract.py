"""The contract of a policy as a class of tests."""

import dataclasses
import math
import pickle
from collections.abc import Callable
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np

from cutline.compiled import kernel
from cutline.errors import InvalidInputError, NotFoundError
from cutline.policies import LearningPolicy, Policy, available, excess, parse, unusable
from cutline.simulation.chunks import Chunk, parameter_tables
from cutline.simulation.engines import engines_for, play
from cutline.simulation.records import index_of
from cutline.simulation.rewards import stream_key
from cutline.testing.games import BUDGET, PROBLEM, RUNS, SEED, THRESHOLDS, game, parameters, records, rewards
from cutline.testing.learning import LearningContract

_ENOUGH = 1000  # cases in which a bound must have said something, or it was not tried


class PolicyContract(LearningContract):
    """What holds for every policy: a base class for tests.

    A subclass is parametrised with ``policy``, the class of a policy, or several; each method is one test. What is not
    as it must be is an AssertionError that says where.
    """

    def test_it_is_found_by_its_name_which_no_other_has(self, policy: type[Policy]) -> None:
        """``available`` lists it once, as a policy of Cutline or by the entry point of an installed package."""
        plain = policy.name.lower().replace("-", "").replace("_", "")
        named = [item for item in available() if item.name.lower().replace("-", "").replace("_", "") == plain]
        assert named == [policy], (
            f"{policy.name} is not found: install the package that declares it as an entry point of the group "
            f"cutline.policies. {' '.join(unusable())}"
        )

    def test_it_is_a_frozen_dataclass_whose_fields_are_numbers_with_defaults(self, policy: type[Policy]) -> None:
        """So policies can be compared, kept in sets, and printed with all that tells them apart."""
        made = policy()
        for item in dataclasses.fields(policy):
            value = getattr(made, item.name)
            assert isinstance(value, float), f"{item.name} is {value!r}, not a float; check_parameter makes it one"
            refused = _refusal(lambda name=item.name: setattr(made, name, 1.0))
            assert isinstance(refused, dataclasses.FrozenInstanceError), f"{item.name} can be changed"
        assert made == policy()
        assert hash(made) == hash(policy())

    def test_it_says_in_one_line_each_what_it_is_and_where_it_comes_from(self, policy: type[Policy]) -> None:
        """``cutline policies`` prints the name, the formula and the source; the docstring names the source, too."""
        for attribute in ("name", "formula", "source"):
            text = getattr(policy, attribute)
            assert text == " ".join(text.split()) != "", f"{attribute} is {text!r}; it must be one line of text"
        assert "Source:" in (policy.__doc__ or ""), "the docstring must name the source: 'Source: ...'"

    def test_it_prints_what_parse_reads_back(self, policy: type[Policy]) -> None:
        """A campaign keeps its policy as text, so nothing may be lost, whatever the case and the hyphens."""
        for made in (policy(), policy(*(0.75 + getattr(policy(), item.name) for item in dataclasses.fields(policy)))):
            assert parse(str(made)) == made, f"parse reads {str(made)!r} as {parse(str(made))!r}"
            assert str(parse(str(made))) == str(made)
            assert parse(f" {str(made).lower().replace('-', '_')} ") == made
        assert parse(policy.name) == policy()

    def test_it_refuses_parameters_that_are_not_finite_numbers(self, policy: type[Policy]) -> None:
        """InvalidInputError, in one line that names policy, parameter and value and says what is right."""
        for item in dataclasses.fields(policy):
            for bad in (math.nan, math.inf, -math.inf, "many", None, [1.0]):
                refused = _refusal(lambda name=item.name, value=bad: policy(**{name: value}))
                assert isinstance(refused, InvalidInputError), f"{item.name}={bad!r} ends in {refused!r}"
                begins = f"{policy.name}: {item.name} is {bad!r}; it must be "
                assert str(refused).startswith(begins), f"{str(refused)!r} does not begin with {begins!r}"
                assert "\n" not in str(refused)

    def test_its_parameters_are_named_to_whoever_gives_too_many(self, policy: type[Policy]) -> None:
        """The message of ``parse`` ends with how the policy is written."""
        names = [item.name for item in dataclasses.fields(policy)]
        refused = _refusal(lambda: parse(f"{policy.name}({','.join('1' * (len(names) + 1))})"))
        assert isinstance(refused, InvalidInputError)
        assert str(refused).endswith(f"write {policy.name}({', '.join(names)})" if names else f"write {policy.name}")
        missing = _refusal(lambda: parse("no-such-policy"))
        assert isinstance(missing, NotFoundError)
        assert policy.name in str(missing)

    def test_its_index_is_a_finite_float_for_every_record(self, policy: type[Policy]) -> None:
        """Up to 12 pulls in all records, far beyond in some, at thresholds down to 1e-9."""
        made = policy()
        far = [(n, s) for n in (1e3, 1e5, 1e6) for s in (0.0, 1.0, n / 3, n / 2, n - 1.0, n)]
        for row, theta in product(parameters(made), (*THRESHOLDS, 1e-9, 1 - 1e-9)):
            for n, s in records(made, 12) + [(n, float(math.floor(s))) for n, s in far]:
                value = made.index(n, s, theta, *row)
                assert isinstance(value, float), f"index({n}, {s}, {theta}, *{row}) is {value!r}"
                assert math.isfinite(value), f"index({n}, {s}, {theta}, *{row}) is {value!r}"

    def test_its_index_is_the_same_compiled_and_as_it_is(self, policy: type[Policy]) -> None:
        """Simulators call it compiled, campaigns as plain Python; at most the last digits may differ."""
        made = policy()
        compiled = index_of(policy)
        learns = isinstance(made, LearningPolicy)
        given = parameters(made)[0][0] if learns else parameter_tables(made, PROBLEM, np.array([BUDGET]))[0]

        @kernel
        def fill(pulls: Any, totals: Any, theta: float, table: Any, values: Any) -> None:
            for arm in range(values.shape[0]):
                for place in range(pulls.size):
                    values[arm, place] = compiled(pulls[place], totals[place], theta, arm, table)

        some = [*records(made, 40), (1e6, 400_000.0), (12_345.0, 678.0)]
        pulls, totals = np.array(some).T
        for theta in THRESHOLDS:
            values = np.empty((PROBLEM.arms, pulls.size))
            fill(pulls, totals, theta, given, values)
            plain = [[made.index(n, s, theta, *row) for n, s in some] for row in parameters(made)]
            np.testing.assert_allclose(values, plain, rtol=1e-12, atol=0, err_msg=f"compiled, threshold {theta}")

    def test_it_says_whether_its_index_depends_on_the_rewards(self, policy: type[Policy]) -> None:
        """``reads_rewards``: where it is False one run stands for all."""
        made = policy()
        depends = any(
            len({made.index(float(n), float(s), theta, *row) for s in range(n + 1)}) > 1
            for theta, row, n in product(THRESHOLDS, parameters(made), (1, 2, 7, 30))
        )
        assert depends == policy.reads_rewards, f"reads_rewards must be {depends}"

    def test_it_says_whether_it_depends_on_the_budget(self, policy: type[Policy]) -> None:
        """``anytime``: where it is True one game serves all budgets, and a campaign can use the policy."""
        same = np.array_equal(parameters(policy(), BUDGET), parameters(policy(), 2 * BUDGET))
        assert same == policy.anytime, f"anytime must be {same}"

    def test_it_asks_for_the_problem_if_and_only_if_it_needs_the_truth(self, policy: type[Policy]) -> None:
        """``needs_truth``: a live campaign has no problem to give, and knows no means."""
        made = policy()
        if policy.needs_truth:
            refused = _refusal(made.parameters)
            assert isinstance(refused, InvalidInputError), f"parameters() without a problem ends in {refused!r}"
            assert str(refused).startswith(f"{policy.name} needs the true "), str(refused)
        elif not isinstance(made, LearningPolicy):
            assert made.parameters() == made.parameters(PROBLEM, BUDGET)

    def test_its_ceiling_is_never_below_the_index_of_a_record_inside_the_block(self, policy: type[Policy]) -> None:
        """For blocks of 1 to 8 further pulls and every range of the excess in them; a policy without one passes."""
        if policy.ceiling is None:
            return
        made = policy()
        answers = 0
        for theta, row in product(THRESHOLDS[:4], parameters(made)[:2]):
            known = [
                (n, excess(n, s, theta) if n else 0.0, made.index(n, s, theta, *row)) for n, s in records(made, 14)
            ]
            for pulls, length in product(range(int(known[0][0]), 7), (1, 3, 8)):
                block = [(middle, value) for n, middle, value in known if pulls <= n <= pulls + length]
                edges = sorted({middle for middle, _ in block})
                edges = edges[:: max(1, len(edges) // 9)]
                for lowest, highest in combinations_with_replacement(edges, 2):
                    arguments = (float(pulls), float(length), lowest, highest, theta, *row)
                    top = policy.ceiling(*arguments)
                    inside = max((value for middle, value in block if lowest <= middle <= highest), default=-math.inf)
                    assert inside <= top, f"ceiling{arguments} is {top}, but an index in the block is {inside}"
                    answers += top < math.inf
        assert answers > _ENOUGH, f"the ceiling is infinite in all but {answers} cases; leave it out"

    def test_no_index_is_above_the_level_within_its_band(self, policy: type[Policy]) -> None:
        """For blocks of 1 to 8 further pulls, and levels as high as the indices in them; one without a band passes."""
        if policy.band is None:
            return
        assert policy.ceiling is not None, "a band is used only where there is a ceiling"
        made = policy()
        answers = 0
        for theta, row in product(THRESHOLDS[:4], parameters(made)[:2]):
            known = [(n, excess(n, s, theta), made.index(n, s, theta, *row)) for n, s in records(made, 14) if n]
            levels = sorted({value for _, _, value in known})
            for pulls, length, level in product(range(1, 7), (1, 3, 8), levels[:: max(1, len(levels) // 25)]):
                arguments = (float(pulls), float(length), level, theta, *row)
                first, last = policy.band(*arguments)
                if first < 0.0 or last < 0.0:
                    continue
                for n, middle, value in known:
                    half = first + (last - first) * (n - pulls) / length
                    if pulls <= n <= pulls + length and abs(middle) <= half - 1e-12:
                        assert value <= level, f"band{arguments} is {first, last}, but index({n}, ...) is {value}"
                        answers += 1
        assert answers > _ENOUGH, f"the band says something in {answers} cases only; leave it out"

    def test_its_head_start_is_no_longer_than_its_index_allows(self, policy: type[Policy]) -> None:
        """From the game for one budget to that for the next; a policy without a head start passes."""
        if policy.head_start is None:
            return
        assert not policy.anytime, "a head start is used only by policies that are not anytime"
        made = policy()
        answers = 0
        before, after = parameters(made, 600)[0], parameters(made)[0]
        for theta in THRESHOLDS[:4]:
            played = [
                (n, made.index(n, s, theta, *before), made.index(n, s, theta, *after)) for n, s in records(made, 30)
            ]
            for (_, level, _), (_, _, next_level) in product(played[::11], played[::5]):
                most = policy.head_start(level, np.array(before), next_level, np.array(after))
                answers += most >= 1
                assert all(new <= next_level for n, old, new in played if n <= most and old <= level), (
                    f"head_start({level}, {before}, {next_level}, {after}) is {most}, and too many"
                )
        assert answers > _ENOUGH, f"the head start is above 0 in {answers} cases only; leave it out"

    def test_every_engine_pulls_the_arm_with_the_smallest_index(self, policy: type[Policy]) -> None:
        """Games pull by pull, against one that takes the smallest index, the first arm of equals."""
        made = policy()
        budgets = np.arange(PROBLEM.arms, BUDGET + 1) if policy.anytime else np.array([BUDGET])
        for run in range(RUNS):
            pulls, totals = game(made, rewards(run))
            chunk = Chunk(PROBLEM, made, budgets, stream_key(SEED, ""), run, 1)
            for engine in engines_for(chunk):
                played = play(chunk, engine)
                np.testing.assert_array_equal(
                    played.pulls, pulls[budgets], err_msg=f"pulls, {engine} engine, run {run}"
                )
                np.testing.assert_array_equal(played.totals, totals[budgets], err_msg=f"totals, {engine} engine")

    def test_it_can_be_sent_to_another_process(self, policy: type[Policy]) -> None:
        """By pickle, as executors and clusters do."""
        assert pickle.loads(pickle.dumps(policy())) == policy()


def _refusal(action: Callable[..., Any]) -> BaseException | None:
    """Return the exception that an action ends with, None if it does not."""
    try:
        action()
    except Exception as error:
        return error
    return None
