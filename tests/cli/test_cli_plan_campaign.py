"""cutline plan --db: how many more pulls a campaign needs."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cutline.campaign import Campaign, Reason
from cutline.planning.remaining import remaining
from cutline.policies import parse

Run = Callable[..., Any]

RECORDS = [(3, 0, 0, 10, 0), (3, 1, 1, 10, 0), (3, 2, 2, 10, 0), (3, 3, 3, 10, 0)]


@pytest.fixture
def database(tmp_path: Path) -> str:
    url = str(tmp_path / "x.db")
    with Campaign.create(url, "c", [f"a{n}" for n in range(40)], 0.5, "LSA", 4000) as campaign:
        campaign.observe_many((f"a{n}", int(label < n % 4), f"w{label}") for n in range(40) for label in range(3))
    return url


@pytest.mark.slow
def test_it_computes_from_the_records_of_the_campaign(cutline: Run, database: str) -> None:
    done = cutline("plan", "--db", database, "--errors", "5")
    found = remaining(RECORDS, 0.5, parse("LSA"), (5.0,))
    assert (done.status, done.out, done.err) == (0, f"{found}\n", "")
    assert found.arms == 40
    assert found.pulls[0] is not None
    assert found.pulls[0] > 40
    in_json = cutline("plan", "--db", database, "--campaign", "c", "--errors", "5", "--format", "json")
    assert json.loads(in_json.out) == json.loads(json.dumps(asdict(found)))


@pytest.mark.parametrize(
    "words", [("--policy", "Lai"), ("--threshold", "0.7"), ("--prior", "1,1"), ("--seed", "3"), ("--jobs", "1")]
)
def test_what_the_campaign_says_itself_is_refused(cutline: Run, database: str, words: tuple[str, str]) -> None:
    done = cutline("plan", "--db", database, *words)
    message = f"cutline: {words[0]} does not go with --db\n"
    assert (done.status, done.out, done.err) == (2, "", message)


def test_a_campaign_without_a_result_is_refused(cutline: Run, tmp_path: Path) -> None:
    with Campaign.create(str(tmp_path / "y.db"), "c", ["a"], 0.5, "LSA", 10):
        pass
    done = cutline("plan", "--db", tmp_path / "y.db")
    assert (done.status, done.out) == (2, "")
    assert done.err == "cutline: no arm has a result yet; plan with --prior\n"


def test_a_campaign_that_weighs_its_workers_is_refused(cutline: Run, database: str) -> None:
    """Its expected errors are not those of pulls and totals, and what a pull brings depends on who answers."""
    with Campaign.open(database, "c") as campaign:
        campaign.change(workers="weighed")
    done = cutline("plan", "--db", database)
    assert (done.status, done.out) == (2, "")
    assert done.err == (
        "cutline: campaign 'c' weighs its workers, so how many more pulls it needs depends on who answers; it is not "
        "computed\n"
    )


@pytest.mark.slow
def test_the_errors_now_are_those_of_the_campaign_where_the_mean_decides(cutline: Run, database: str) -> None:
    with Campaign.open(database, "c") as campaign:
        campaign.change(prior=(1, 6), decide="mean", max_pulls_per_arm=9)
        errors = campaign.status().expected_errors
        assert errors > 1.3 * sum(min(item.wrong, 1 - item.wrong) for item in campaign.decisions())
    done = cutline("plan", "--db", database, "--errors", "5", "--format", "json")
    assert json.loads(done.out)["expected_errors"] == pytest.approx(errors, rel=1e-3)
    assert done.err == "an arm of campaign 'c' may have 9 results; that is not looked at here\n"


@pytest.mark.slow
def test_it_is_said_that_scores_count_as_coins(cutline: Run, tmp_path: Path) -> None:
    with Campaign.create(str(tmp_path / "x.db"), "c", ["a", "b"], 0.5, "LSA", 10) as campaign:
        campaign.observe_many([("a", 0.4), ("b", 0.5)])
    done = cutline("plan", "--db", tmp_path / "x.db", "--errors", "0.5")
    assert done.status == 0
    assert done.err == "rewards between 0 and 1 count as the coins that say as much of a mean\n"


@pytest.mark.slow
def test_errors_and_when_a_target_is_reached_are_those_of_the_campaign(cutline: Run, tmp_path: Path) -> None:
    """Scores that vary little say as much as more coins."""
    rng = np.random.default_rng(3)
    url, arms = str(tmp_path / "x.db"), [f"a{n}" for n in range(300)]
    with Campaign.create(url, "c", arms, 0.5, "LSA", 10**6, target_errors=5) as campaign:
        means = np.repeat(rng.beta(2, 2, 300), 8)
        scores = np.clip(means + 0.1 * rng.standard_normal(2400), 0.0, 1.0).tolist()
        campaign.observe_many((arms[place // 8], score) for place, score in enumerate(scores))
        status = campaign.status()
    done = cutline("plan", "--db", url, "--errors", "5", "--format", "json")
    found = json.loads(done.out)
    assert found["expected_errors"] == pytest.approx(status.expected_errors, rel=0.01)
    assert found["standard_error"] > 0.0
    with Campaign.open(url, "c") as campaign:
        campaign.change(target_errors=found["expected_errors"] + 0.97 * found["standard_error"])
        assert campaign.status().finished is None
        assert campaign.status().more_needed is not None
        campaign.change(target_errors=found["expected_errors"] + 1.03 * found["standard_error"])
        assert campaign.status().finished is Reason.TARGET_REACHED


@pytest.mark.slow
def test_known_arms_are_neither_wrong_nor_pulled(cutline: Run, database: str) -> None:
    with Campaign.open(database, "c") as campaign:
        campaign.change(workers="weighed", known={"a0": True, "a1": False})
        campaign.change(workers="alike")
        assert sorted(campaign.records())[:2] == [(3, 0.0, 0.0, 10, 1), (3, 1.0, 1.0, 10, 1)]
        errors = campaign.status().expected_errors
    done = cutline("plan", "--db", database, "--errors", "5", "--format", "json")
    found = json.loads(done.out)
    assert found["arms"] == 38
    assert found["expected_errors"] == pytest.approx(errors, rel=0.01)
