"""cutline serve token link: where a link leads to."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from cutline.server.access.tokens import tokens_of

Run = Callable[..., Any]


@pytest.fixture(autouse=True)
def db(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A database with a token."""
    monkeypatch.chdir(tmp_path)
    Campaign.create("x.db", "birds", ["wren"], 0.5, "Uniform", 9).close()
    with tokens_of("x.db") as tokens:
        tokens.create("ann", "viewer")


def link(cutline: Run, address: str) -> Any:
    """Ask for a link at an address."""
    return cutline("serve", "token", "link", "--db", "x.db", "--name", "ann", "--address", address)


def test_a_link_leads_to_the_address_that_people_reach_the_server_at(cutline: Run) -> None:
    for address in ("https://example.org/labels", "https://example.org/labels/"):
        made = link(cutline, address)
        assert made.status == 0
        assert made.out.startswith("https://example.org/labels/login#cutline_")


@pytest.mark.parametrize(
    "address", ["", "nan", "ftp://host", "http://", "http://a\nb", "http://a\udcff", "http://h:0x1", "http://h?q"]
)
def test_no_link_leads_to_what_is_no_address_of_a_server(cutline: Run, address: str) -> None:
    made = link(cutline, address)
    assert (made.status, made.out) == (2, "")
    assert made.err.startswith("cutline: the address of the server must be http://host:port or https://host:port")
