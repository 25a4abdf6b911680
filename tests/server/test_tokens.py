"""Tokens: made, kept as digests, found, ended and revoked."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from campaign_contract.campaigns import Clock
from cutline.campaign import Campaign, delete
from cutline.campaign.database.clock import Clock as DatabaseClock
from cutline.campaign.database.store import Store
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from cutline.server.access import tokens as module
from cutline.server.access.roles import Access, Role
from cutline.server.access.tokens import DAY, LINK, LOGIN, Tokens


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.db"
    for name in ("birds", "flaky"):
        Campaign.create(path, name, ["a"], 0.5, "LSA", 10).close()
    return path


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def tokens(path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Tokens]:
    monkeypatch.setattr(module, "_FRESH", 0.0)
    with Store.connect(path, create=False) as store:
        yield Tokens(store, DatabaseClock(clock))


def test_a_token_is_good_for_its_role_and_campaign_and_nothing_like_it_is(tokens: Tokens) -> None:
    made = tokens.create("ann", "labeller", "birds")
    assert tokens.find(made) == Access(Role.LABELLER, "birds", "ann")
    word, number, secret = made.split("_", 2)
    others = [f"{word}_{int(number) + 1}_{secret}", f"{word}_0{number}_{secret}x", made[:-1], made.swapcase(), secret]
    others += ["", "_", "cutline__", f"cutline_{number}_", "cutline_9999999999_x", "cutline_²_x", made + "\ud800", "é"]
    assert [tokens.find(other) for other in others] == [None] * len(others)


def test_the_database_holds_no_token(tokens: Tokens, path: Path) -> None:
    made = tokens.create("me", "owner")
    secrets = [made, tokens.log_in(made) or "", tokens.link("me")]
    held = b"".join(file.read_bytes() for file in path.parent.glob("x.db*"))
    assert b"cutline_tokens" in held
    assert not any(secret.split("_", 2)[2].encode() in held for secret in secrets)


def test_a_token_ends_after_its_days_with_its_logins(tokens: Tokens, clock: Clock) -> None:
    made = tokens.create("ann", "viewer", days=2)
    login = tokens.log_in(made)
    assert login is not None
    clock.now += 2 * DAY - 1
    assert tokens.find(made) == tokens.find(login) == Access(Role.VIEWER, None, "ann")
    assert tokens.are_there()
    clock.now += 1
    assert (tokens.find(made), tokens.find(login), tokens.log_in(made)) == (None, None, None)
    assert not tokens.are_there()
    assert [(row.name, row.ends) for row in tokens.list()] == [("ann", clock.now)]


def test_a_login_ends_by_itself_and_when_its_user_logs_out(tokens: Tokens, clock: Clock) -> None:
    made = tokens.create("me", "owner")
    first, second = tokens.log_in(made), tokens.log_in(made)
    assert first is not None
    assert second is not None
    tokens.log_out(first)
    assert (tokens.find(first), tokens.find(second)) == (None, Access(Role.OWNER, None, "me"))
    tokens.log_out(made)
    assert tokens.find(made) == Access(Role.OWNER, None, "me")
    clock.now += LOGIN
    assert tokens.find(second) is None


def test_a_revoked_token_takes_its_logins_and_links_with_it(tokens: Tokens) -> None:
    made = tokens.create("me", "owner")
    login, link = tokens.log_in(made), tokens.link("me")
    assert login is not None
    tokens.revoke("me")
    again = tokens.create("me", "owner")
    assert (tokens.find(made), tokens.find(login), tokens.log_in(link)) == (None, None, None)
    assert tokens.find(again) == Access(Role.OWNER, None, "me")


def test_a_link_logs_in_once_and_is_no_token(tokens: Tokens, clock: Clock) -> None:
    tokens.create("ann", "labeller", "birds")
    link, late = tokens.link("ann"), tokens.link("ann")
    assert tokens.find(link) is None
    login = tokens.log_in(link)
    assert login is not None
    assert tokens.find(login) == Access(Role.LABELLER, "birds", "ann")
    assert tokens.log_in(link) is None
    clock.now += LINK
    assert tokens.log_in(late) is None


def test_a_token_of_a_deleted_campaign_is_worthless_on_one_of_the_same_name(tokens: Tokens, path: Path) -> None:
    made = tokens.create("ann", "labeller", "birds")
    delete(path, "birds")
    Campaign.create(path, "birds", ["a"], 0.5, "LSA", 10).close()
    assert tokens.find(made) is None
    assert tokens.list() == []


@pytest.mark.parametrize(
    ("name", "role", "campaign", "days", "message"),
    [
        ("", "owner", None, None, "must be text of at least one character"),
        ("x" * 201, "owner", None, None, "1 to 200 characters"),
        ("two\nlines", "owner", None, None, "on one line"),
        ("x", "boss", None, None, "role 'boss' is none; it must be owner, labeller, viewer"),
        ("x", "labeller", None, None, "a labeller labels one campaign; say which"),
        ("x", "owner", "birds", None, "an owner has all campaigns"),
        ("x", "owner", None, 0, "days"),
        ("x", "viewer", "bards", None, "no campaign is called 'bards'"),
    ],
)
def test_a_bad_token_is_refused_in_one_line(
    tokens: Tokens, name: str, role: str, campaign: str | None, days: float | None, message: str
) -> None:
    with pytest.raises((InvalidInputError, NotFoundError), match=message):
        tokens.create(name, role, campaign, days)
    assert tokens.list() == []


def test_no_token_is_no_token_even_where_there_are_some(tokens: Tokens, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FRESH", 1000.0)
    tokens.create("me", "owner")
    assert tokens.are_there()
    assert tokens.find("") is None


def test_a_name_is_taken_once_and_an_unknown_one_is_named(tokens: Tokens) -> None:
    tokens.create("me", "owner")
    with pytest.raises(ConflictError, match="there is a token called 'me' already"):
        tokens.create("me", "viewer")
    for use in (tokens.revoke, tokens.link):
        with pytest.raises(NotFoundError, match="no token is called 'you'"):
            use("you")


def test_a_name_that_no_token_can_have_is_refused_wherever_it_is_given(tokens: Tokens) -> None:
    for use in (tokens.revoke, tokens.link):
        with pytest.raises(InvalidInputError, match=r"token name '.udcff' holds a NUL or half a character"):
            use("\udcff")


def test_what_was_found_is_remembered_for_a_moment_only(
    tokens: Tokens, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FRESH", 1000.0)
    made = tokens.create("me", "owner")
    assert tokens.find(made) is not None
    with module.tokens_of(path) as elsewhere:
        elsewhere.revoke("me")
    assert tokens.find(made) is not None
    monkeypatch.setattr(module, "_FRESH", 0.0)
    assert tokens.find(made) is None
