"""The engine by rank against the definition, where budgets cut through ties, and when it is chosen."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

from cutline import APT, LSA, UCBE, OptKG, Problem, Uniform, simulate
from cutline.policies import LearningPolicy, Policy, available, parse
from cutline.policies.oracle import GapOracle
from cutline.simulation.chunks import Chunk, ChunkResult
from cutline.simulation.engines import choose, engines_for, play
from cutline.simulation.ranking import by_rank
from cutline.simulation.ranking.by_rank import play_by_rank
from cutline.simulation.ranking.leaps import Window
from cutline.simulation.ranking.pilot import Aim, take_aim
from cutline.simulation.ranking.table import index_table, rank
from games import share_of_examples

EQUAL = [str(policy()) for policy in available() if not policy.yardstick and not issubclass(policy, LearningPolicy)]
POLICIES = [*EQUAL, "APT(0.05)", "Opt-KG(0.5,0.5)", "LSA(4)"]


def beta_arms(arms: int, threshold: float = 0.5) -> Problem:
    return Problem(np.random.default_rng(arms).beta(2, 2, arms), threshold)


def chunk_of(policy: Policy, problem: Problem, budgets: list[int], runs: int = 2) -> Chunk:
    return Chunk(problem, policy, np.array(budgets, np.int64), 5, 3, runs)


def assert_same(ranked: ChunkResult, stepped: ChunkResult) -> None:
    assert np.array_equal(ranked.errors, stepped.errors)
    assert np.array_equal(ranked.pulls, stepped.pulls)
    assert np.array_equal(ranked.totals, stepped.totals)


def assert_ranked_as_stepped(chunk: Chunk) -> None:
    """Play all runs by rank, with and without what comes of each arm, which is worked out in other ways.

    Without it once more, counted in blocks as the pulls of many arms are, which are not logged.
    """
    stepped = play(chunk, "stepping")
    assert_same(play_by_rank(chunk), stepped)
    only_errors = play_by_rank(replace(chunk, by_arm=False))
    assert np.array_equal(only_errors.errors, stepped.errors)
    assert only_errors.pulls.shape == only_errors.totals.shape == (chunk.budgets.size, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_rank, "_WORTH_A_LOG", 0)
        assert np.array_equal(play_by_rank(replace(chunk, by_arm=False)).errors, stepped.errors)


@pytest.mark.parametrize("name", POLICIES)
@share_of_examples(0.15)
@given(
    arms=st.sampled_from([1, 2, 7, 15, 16, 17, 255, 256, 257, 300, 513]),
    threshold=st.sampled_from([0.5, 0.3, 1 / 3, 0.9, 0.01]),
    shares=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=6),
    longest=st.sampled_from([1, 3, 12, 40]),
)
def test_every_run_is_the_stepping_engines(
    name: str, arms: int, threshold: float, shares: list[float], longest: int
) -> None:
    """On either side of a tile's size, or a block's; with budgets anywhere, equal arms' ties cut through among them."""
    budgets = sorted({arms + round(share * longest * arms) for share in shares})
    chunk = chunk_of(parse(name), beta_arms(arms, threshold), budgets)
    stepped = play(chunk, "stepping")
    assert_same(play(chunk, "ranking"), stepped)
    only_errors = replace(chunk, by_arm=False)
    assert np.array_equal(play(only_errors, "ranking").errors, stepped.errors)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_rank, "_WORTH_A_LOG", 0)
        assert np.array_equal(play(only_errors, "ranking").errors, stepped.errors)


@pytest.mark.parametrize("policy", [LSA(), APT(0.05), OptKG(), Uniform(), parse("Lai")], ids=str)
@pytest.mark.parametrize(("looks", "each"), [(1, 20), (20, 10), (20, 20), (20, 40)])
def test_tables_hold_the_records_of_many_arms(policy: Policy, looks: int, each: int) -> None:
    """With more pulls an arm there are more ranks, and so more arms in a block, also more than a tile has."""
    arms = 3000
    chunk = chunk_of(
        policy, beta_arms(arms), np.linspace(each * arms / looks + arms, each * arms, looks).astype(int).tolist()
    )
    assert_ranked_as_stepped(chunk)


def test_arms_at_the_edge_of_a_table_above_the_last_look_hold_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk that finds the levels goes on to the end of a window that is far too wide."""
    chunk = chunk_of(LSA(), beta_arms(500), [1500, 3000], 20)
    ranks = rank(index_table(LSA(), 0.5, (1.35,), 40, np.inf), 0.5)[0]
    wide = Aim(ranks, Window(-1, ranks.above - 1))
    monkeypatch.setattr(by_rank, "take_aim", lambda chunk, budgets, farther: None if farther else wide)
    assert_ranked_as_stepped(chunk)


@pytest.mark.parametrize("shallow", [7, 8, 9, 10])
def test_tables_with_hardly_more_rows_than_a_byte_has_rewards_hold_their_last_pulls(shallow: int) -> None:
    chunk = chunk_of(Uniform(), beta_arms(300), [300 * shallow - 10, 300 * shallow], 3)
    assert_ranked_as_stepped(chunk)


def test_the_arm_at_which_a_look_comes_makes_some_of_its_pulls_in_a_later_word() -> None:
    """An arm whose excess is close to 0 is below the highest of its indices for many pulls, all at one level."""
    chunk = chunk_of(APT(0.05), beta_arms(60), list(range(2400, 6000, 7)), 2)
    assert_ranked_as_stepped(chunk)


@pytest.mark.parametrize("policy", [LSA(), OptKG(), Uniform()], ids=str)
@pytest.mark.parametrize("budgets", [range(30, 300), range(30, 62)], ids=str)
def test_budgets_one_apart_show_every_pull_of_a_tie_in_the_order_of_the_arms(policy: Policy, budgets: range) -> None:
    """Many looks come at one level."""
    problem = Problem([0.5, 0.2, 0.8] * 10)
    chunk = chunk_of(policy, problem, list(budgets), 1)
    assert_ranked_as_stepped(chunk)


@pytest.mark.parametrize("policy", [LSA(), parse("Lai")], ids=str)
def test_several_looks_that_come_in_one_block_each_get_their_own_part_of_its_pulls(policy: Policy) -> None:
    """There are more looks than levels, and than blocks."""
    assert_ranked_as_stepped(chunk_of(policy, beta_arms(300), list(range(310, 3000, 4)), 4))


def test_runs_that_a_log_has_no_room_for_are_played_by_another_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    chunk = replace(chunk_of(LSA(), beta_arms(300), [700, 6000], 3), by_arm=False)
    monkeypatch.setattr(by_rank, "_room", lambda games, ranks: 1)
    assert play_by_rank(chunk).errors.shape[1] == 0
    assert np.array_equal(play(chunk, "ranking").errors, play(chunk, "stepping").errors)


def test_arms_with_means_of_0_and_1_and_next_to_them_get_their_own_rewards() -> None:
    problem = Problem([0.0, 1.0, 1e-9, 2.0**-11, 1 - 2.0**-53, 0.5, 5e-324] * 50)
    chunk = chunk_of(LSA(), problem, [350, 1000, 5000])
    assert_ranked_as_stepped(chunk)


def test_records_pass_from_word_to_word() -> None:
    chunk = chunk_of(Uniform(), beta_arms(40), [40 * 63, 40 * 64, 40 * 64 + 5, 40 * 65, 40 * 130])
    assert_ranked_as_stepped(chunk)


def test_windows_that_earlier_runs_made_narrower_lose_no_pull() -> None:
    for looks in ([3000], [700, 1500, 3000]):
        chunk = chunk_of(LSA(), beta_arms(300), looks, 80)
        assert_ranked_as_stepped(chunk)


def test_sums_over_more_runs_than_half_a_word_holds_are_whole() -> None:
    """No arm has more than 11 pulls in a run, and 16 bits hold 65,535."""
    chunk = chunk_of(Uniform(), Problem([0.3, 0.6, 0.9]), [10, 30], 6_600)
    played = play_by_rank(chunk)
    assert played.pulls.tolist() == [[26_400, 19_800, 19_800], [66_000] * 3]
    assert_same(played, play(chunk, "stepping"))


@pytest.mark.parametrize("budgets", [[5000], [1500, 5000]], ids=["one look", "two looks"])
def test_runs_whose_windows_were_wrong_are_walked_again(monkeypatch: pytest.MonkeyPatch, budgets: list[int]) -> None:
    chunk = chunk_of(LSA(), beta_arms(500), budgets, 40)
    found = take_aim(chunk, chunk.budgets)
    assert found is not None
    stepped = play(chunk, "stepping")
    last = found.ranks.above - 1
    for low, high in ((-1, 0), (last - 1, last), (last - 1, last - 1), (0, 1)):
        aim = found._replace(window=Window(low, high))
        monkeypatch.setattr(by_rank, "take_aim", lambda chunk, budgets, farther, aim=aim: aim)
        assert_same(play_by_rank(chunk), stepped)


def test_what_no_table_holds_is_played_by_another_engine() -> None:
    for policy in (APT(0), GapOracle()):
        chunk = chunk_of(policy, beta_arms(200), [40 * 200])
        assert play_by_rank(chunk).errors.shape[1] < chunk.runs
        assert_same(play(chunk, "ranking"), play(chunk, "stepping"))


def test_runs_after_one_that_no_table_holds_are_played_by_another_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table that ends at a level that not all runs stay below, and no larger one."""
    chunk = chunk_of(LSA(), beta_arms(500), [5000], 60)
    aim = take_aim(chunk, chunk.budgets)
    assert aim is not None
    low, high = aim.window
    ends = []
    for last in range(low + 1, high + 1):
        codes = 2 * np.minimum(aim.ranks.codes >> 1, last + 1) + (aim.ranks.codes & 1)
        ranks = aim.ranks._replace(above=last + 1, codes=codes)
        small = aim._replace(ranks=ranks, window=Window(low, last))
        monkeypatch.setattr(by_rank, "take_aim", lambda chunk, budgets, farther, aim=small: None if farther else aim)
        ends.append(play_by_rank(chunk).errors.shape[1])
        if 0 < ends[-1] < chunk.runs:
            break
    assert 0 < ends[-1] < chunk.runs
    assert_same(play(chunk, "ranking"), play(chunk, "stepping"))


def test_oracles_have_a_parameter_for_each_arm_and_no_table() -> None:
    assert engines_for(chunk_of(GapOracle(), beta_arms(10), [100])) == ["stepping", "waterline"]
    assert engines_for(chunk_of(UCBE(), beta_arms(10), [100])) == ["stepping", "waterline", "ranking"]


def test_many_arms_with_few_pulls_are_played_by_rank_and_long_records_are_not() -> None:
    problem = beta_arms(1000)
    for budget, engine in ((10_000, "ranking"), (100_000, "waterline")):
        assert choose(chunk_of(LSA(), problem, [budget], 100)).engine == engine
    assert choose(chunk_of(LSA(), problem, [10_000], 1)).engine == "stepping"  # not worth a table
    assert choose(chunk_of(APT(0), problem, [40_000], 100)).engine == "waterline"
    curves = simulate(problem, ["LSA", "Uniform"], [5_000, 10_000], runs=50)
    assert curves.engines == ("ranking", "ranking")
    assert curves.pulls.sum(axis=2).tolist() == [[5_000.0, 10_000.0]] * 2


@pytest.mark.parametrize("decide", ["mean", "likelier"])
@pytest.mark.parametrize("policies", [["LSA", "Uniform"], ["APT(0)"]], ids=str)
def test_curves_without_the_pulls_of_each_arm_are_the_same(policies: list[str], decide: str) -> None:
    problem = beta_arms(300)
    each, none = (
        simulate(problem, policies, [1_500, 3_000], runs=120 if decide == "mean" else 3, decide=decide, pulls=pulls)
        for pulls in (True, False)
    )
    assert np.array_equal(each.errors, none.errors)
    assert each.engines == none.engines
    assert none.pulls.shape == (len(policies), 2, 0)
