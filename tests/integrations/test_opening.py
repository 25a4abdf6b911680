"""The campaign of a suite: what it is made with, and how it is found again."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.errors import ConflictError, InvalidInputError, StoreError
from cutline.integrations.failure_logs import FailureLogs, open_logs
from cutline.integrations.pytest_suite import Suite, handling, open_campaign, require_database

SUITE = Suite((), {f"test_a.py::test_{number}": "test_a.py" for number in range(10)})


@pytest.fixture
def opened(tmp_path: Path) -> Callable[..., tuple[float, int, bool]]:
    """Open the campaign of a suite in a database; return its threshold, its budget, and whether it is new."""

    def opened(
        runs_per_test: int | None = None, minutes: float | None = None, **settings: Any
    ) -> tuple[float, int, bool]:
        db = str(tmp_path / "x.db")
        campaign, new = open_campaign(db, None, SUITE, settings, runs_per_test=runs_per_test, minutes=minutes)
        with campaign:
            return campaign.settings.threshold, campaign.settings.budget, new

    return opened


@pytest.mark.parametrize(
    ("given", "made"),
    [
        ({}, (0.95, 200)),
        ({"threshold": 0.8, "runs_per_test": 3}, (0.8, 30)),
        ({"budget": 17}, (0.95, 17)),
        ({"minutes": 5.0}, (0.95, 100_000)),
        ({"minutes": 5.0, "runs_per_test": 3}, (0.95, 30)),
    ],
)
def test_a_new_campaign_has_what_is_given_or_usual(opened: Any, given: dict[str, Any], made: tuple[float, int]) -> None:
    assert opened(**given) == (*made, True)


def test_what_is_there_goes_on_and_only_what_is_given_is_held_against_it(opened: Any) -> None:
    opened(threshold=0.8, budget=50)
    assert opened() == (0.8, 50, False)
    assert opened(minutes=3.0) == (0.8, 50, False)
    assert opened(runs_per_test=5) == (0.8, 50, False)
    with pytest.raises(ConflictError, match=r"campaign 'main': budget is 50, not 60"):
        opened(runs_per_test=6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"runs_per_test": 3, "budget": 30}, "give the runs of a test or the budget of all, not both"),
        ({"runs_per_test": 0}, "runs_per_test is 0; it must be a whole number from 1"),
    ],
)
def test_what_makes_no_sense_is_refused(opened: Any, given: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInputError, match=message):
        opened(**given)
    assert not (tmp_path / "x.db").exists()


def test_a_database_that_is_none_is_noticed_before_tests_are_collected(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    require_database(str(path), None)
    assert not path.exists()
    path.write_text("no database at all, but long enough to be looked at" * 100)
    with pytest.raises(StoreError):
        require_database(str(path), None)


def test_a_hang_and_a_crash_are_failures_and_a_missing_test_is_left_alone() -> None:
    assert handling("zero", "fail") == {"crash": "zero", "timeout": "zero", "missing": "abandon", "error": "zero"}
    assert handling("stop", "abandon") == {"crash": "zero", "timeout": "stop", "missing": "abandon", "error": "abandon"}


def test_the_last_three_failures_of_each_test_are_kept_apart(tmp_path: Path) -> None:
    logs = FailureLogs(tmp_path / "logs")
    for number in range(5):
        logs.keep("a.py::test[x/y]", f"failure {number}")
    logs.keep("a.py::test[x:y]", "another")
    texts = sorted(path.read_text() for path in (tmp_path / "logs").iterdir())
    assert texts == [
        "a.py::test[x/y]\nfailure 2\n",
        "a.py::test[x/y]\nfailure 3\n",
        "a.py::test[x/y]\nfailure 4\n",
        "a.py::test[x:y]\nanother\n",
    ]
    assert all(path.name.startswith("a.py_test[x_y].") for path in (tmp_path / "logs").iterdir())


def test_failures_that_cannot_be_written_are_said_at_the_end_and_end_nothing(tmp_path: Path) -> None:
    logs = FailureLogs(tmp_path / "logs")
    (tmp_path / "logs").write_text("a file by now")
    logs.keep("a", "text")
    assert logs.wrong == f"cannot write {tmp_path / 'logs'}: File exists"


def test_a_folder_for_failures_that_cannot_be_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file")
    with pytest.raises(InvalidInputError, match="it is a file; give the name of a folder"):
        open_logs(str(tmp_path / "logs"))
    assert open_logs(None) is None


def test_tests_that_are_skipped_are_no_arms_of_a_new_campaign_and_stay_those_of_an_older_one(tmp_path: Path) -> None:
    def opened(name: str, suite: Suite) -> tuple[int, list[str]]:
        campaign, _ = open_campaign(str(tmp_path / "x.db"), name, suite, {}, runs_per_test=3, minutes=None)
        with campaign:
            return campaign.settings.budget, [item.arm for item in campaign.decisions()]

    paths = {"a": "a", "b": "b", "c": "c"}
    assert opened("new", Suite((), paths, ["b"])) == (6, ["a", "c"])
    assert opened("new", Suite((), paths, ["b"])) == (6, ["a", "c"])
    assert opened("older", Suite((), paths)) == (9, ["a", "b", "c"])
    assert opened("older", Suite((), paths, ["b"])) == (9, ["a", "b", "c"])
    with pytest.raises(ConflictError, match="arms: 'b' is new"):
        open_campaign(str(tmp_path / "x.db"), "new", Suite((), paths), {}, runs_per_test=None, minutes=None)
