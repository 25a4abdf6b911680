"""Commands that reach a campaign on a server."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.store import Store
from cutline.server.access.tokens import Tokens
from cutline.server.settings import ServerSettings
from servers import serving

Run = Callable[..., Any]
GOOD = (sys.executable, "-S", "-c", "pass", "{arm}")
"""A command that calls every arm good."""


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A database with one campaign."""
    path = str(tmp_path / "x.db")
    with Campaign.create(path, "main", ["a", "b"], 0.5, "Uniform", 4):
        return path


@pytest.fixture
def address(db: str) -> Iterator[str]:
    """Where it is served."""
    with serving(ServerSettings(db)) as url:
        yield url


@pytest.fixture
def token(db: str, address: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A token to measure with, in the environment."""
    with Store.connect(db, create=False) as store:
        made = Tokens(store, Clock(None)).create("cluster", "labeller", "main")
    monkeypatch.setenv("CUTLINE_TOKEN", made)
    return made


@pytest.mark.usefixtures("token")
def test_a_token_to_measure_with_runs_a_campaign_to_its_end_and_sees_no_decision(
    cutline: Run, address: str, db: str
) -> None:
    done = cutline("run", "--db", address, "--campaign", "main", "--", *GOOD)
    assert (done.status, done.out) == (0, "")
    assert done.err.endswith("what is decided is not for this token to see\n")
    with Campaign.open(db, "main") as campaign:
        assert [(item.pulls, item.mean) for item in campaign.decisions()] == [(2, 1.0), (2, 1.0)]


def test_a_token_to_measure_with_cannot_fail_on_what_it_may_not_see(cutline: Run, address: str, token: str) -> None:
    done = cutline("run", "--db", address, "--campaign", "main", "--fail-on", "below", "--", *GOOD)
    assert done.status == 2
    assert done.err.endswith(f"cutline: {address}: a labeller's token does not allow this (read) on this campaign\n")
    assert token not in done.err


@pytest.mark.usefixtures("token")
def test_who_may_enter_one_campaign_and_names_none_is_told_to_name_it(cutline: Run, address: str) -> None:
    done = cutline("campaign", "ask", "--db", address)
    message = "a labeller's token does not allow this (follow) on all campaigns; name the one that it is for"
    assert (done.status, done.out, done.err) == (2, "", f"cutline: {address}: {message}\n")


def test_ask_tell_status_and_decisions_work_on_a_server(cutline: Run, address: str, db: str) -> None:
    pull = cutline("campaign", "ask", "--db", address).out.split("\t")[0]
    assert cutline("campaign", "tell", "--db", address, pull, "1").err == "1 told\n"
    status = cutline("campaign", "status", "--db", address).out.splitlines()
    assert [line.split() for line in status if line.startswith("spent")] == [["spent", "1"]]
    decisions = cutline("campaign", "decisions", "--db", address, "--format", "csv")
    assert decisions.out.splitlines()[1].startswith("a,1,")
    assert decisions == cutline("campaign", "decisions", "--db", db, "--format", "csv")


def test_whoever_has_no_token_is_told_where_to_put_it(
    cutline: Run, address: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CUTLINE_TOKEN")
    done = cutline("campaign", "status", "--db", address)
    assert done.err == f"cutline: {address}: a token is needed; give it in the environment, as CUTLINE_TOKEN\n"
    assert done.status == 2
    monkeypatch.setenv("CUTLINE_TOKEN", token[:-1])
    assert cutline("campaign", "status", "--db", address).err.endswith("this token is not known, or has ended\n")


def test_an_empty_token_in_the_environment_is_none(cutline: Run, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUTLINE_TOKEN", "")
    assert cutline("campaign", "list", "--db", address).status == 0
