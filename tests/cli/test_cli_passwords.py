"""No command and no exception shows the password of a database, however its url is spelt."""

import logging
import os
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from cutline.campaign import Campaign, campaigns, delete
from cutline.campaign.database.connecting.address import label
from cutline.cli import cutline as command_line
from cutline.errors import CutlineError, InvalidInputError
from cutline.passwords import hide_passwords

Run = Callable[..., Any]

SERVER = "127.0.0.1:1"
"""Where no server listens."""

SPELLINGS = [
    f"postgresql://user:s3cret@{SERVER}/db",
    f"postgresql+psycopg://user:s3cret@{SERVER}/db",
    f"postgres://user:s3cret@{SERVER}/db",
    f"POSTGRES://user:s3cret@{SERVER}/db",
    f"postgresql+psycopg2://user:s3cret@{SERVER}/db",
    f"postgresql://:s3cret@{SERVER}/db",
    f"postgresql://user:s3cret@{SERVER}",
    "postgresql://user:s3cret@[::1]:1/db",
    "postgresql://user:s3cret@[::1/db",
    "postgresql://user:s3cret@127.0.0.1:port/db",
    "postgresql://user:s3cret@127.0.0.1:99999/db",
    "postgresql://user:s3cret@127.0.0.1:-1/db",
    "postgresql://user:s3cret@127.0.0.1,127.0.0.1:1,2/db",
    "postgresql://user:s3cret/127.0.0.1:1/db",
    f"postgresql://user:s3cret@tail0@{SERVER}/db",
    f"postgresql://user:s3cret@tail0/more@{SERVER}/db",
    f"postgresql://user:s3cret/?#tail0@{SERVER}/db",
    f"postgresql://user:s3cret%40tail0@{SERVER}/db",
    f"postgresql://user:s3cret%00tail0@{SERVER}/db",
    f"postgresql://user:s3cret tail0@{SERVER}/db",
    f"postgresql://user@{SERVER}/db?password=s3cret",
    f"postgresql://{SERVER}/db?user=me&password=s3cret&password=tail0",
    f"postgresql://{SERVER}/db?pasword=s3cret",
    f"postgresql://{SERVER}/db?sslmode=require&sslkey=/none&sslpassword=s3cret",
    f"postgresql://{SERVER}/db?passfile=s3cret",
    f"postgresql://{SERVER}/db?port=s3cret",
    f"postgresql://user:s3cret@{SERVER}/db?sslmode=s3cret",
    f"postgresql://user:s3cret@{SERVER}/db?connect_timeout=s3cret",
    "postgresql://user:s3cret@/db?host=127.0.0.1:1&host=127.0.0.1:2&port=7",
    "postgresql:/user:s3cret@host/db",
    "postgresql:user:s3cret@host/db",
    "postgresql//user:s3cret@host/db",
    "user:s3cret@host/db",
    "//user:s3cret@host/db",
    "host=127.0.0.1 port=1 dbname=db user=user password=s3cret",
    "mysql://user:s3cret@host/db",
    "mysql+pymysql://user:s3cret@host/db?password=tail0",
    "jdbc:postgresql://user:s3cret@host/db",
    "https://user:s3cret@host/db",
    "sqlite://user:s3cret@host/db",
    "sqlite:///none/x.db?password=s3cret",
    "nonsense://user:s3cret@host",
    "://user:s3cret@host",
]

GIVEN = ("--arms", "arms.txt", "--threshold", "0.5", "--budget", "9")
COMMANDS: dict[tuple[str, ...], tuple[str, ...]] = {
    ("run",): (*GIVEN, "--", "true", "{arm}"),
    ("pytest",): ("arms.txt",),
    ("import",): ("labels.csv", "--threshold", "0.5", "--budget", "9"),
    ("export",): ("observations",),
    ("plan",): (),
    ("serve", "token", "create"): ("--name", "me", "--role", "owner"),
    ("serve", "token", "link"): ("--name", "me"),
    ("serve", "token", "list"): (),
    ("serve", "token", "revoke"): ("--name", "me"),
    ("campaign", "create"): GIVEN,
    ("campaign", "abandon"): ("a-1-1",),
    ("campaign", "change"): ("--budget", "9"),
    ("campaign", "compare"): ("one", "two"),
    ("campaign", "copy"): ("two",),
    ("campaign", "history"): (),
    ("campaign", "rename"): ("two",),
    ("campaign", "backup"): ("--out", "copy.db"),
    ("campaign", "correct"): ("a-1-1", "1"),
    ("campaign", "list"): (),
    ("campaign", "status"): (),
    ("campaign", "show"): ("a",),
    ("campaign", "progress"): (),
    ("campaign", "workers"): (),
    ("campaign", "ask"): ("--format", "json"),
    ("campaign", "tell"): ("a-1-1", "1"),
    ("campaign", "decisions"): (),
    ("campaign", "delete"): ("--campaign", "main", "--yes"),
}
"""What each command that takes a database needs beside it."""


def all_commands(group: click.Command, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if not isinstance(group, click.Group):
        yield words, group
        return
    context = click.Context(group)
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        yield from all_commands(found, (*words, name))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("arms.txt").write_text("a\nb\n")
    Path("labels.csv").write_text("task,worker,label\na,w,1\n")
    for name in [name for name in os.environ if name.startswith("PG")]:
        monkeypatch.delenv(name)
    return tmp_path


def test_every_command_that_takes_a_database_is_tried() -> None:
    takes = {words for words, found in all_commands(command_line) if any("--db" in each.opts for each in found.params)}
    assert takes == set(COMMANDS)


def test_a_server_says_no_password(cutline: Run, folder: Path) -> None:
    for url in SPELLINGS:
        done = cutline("serve", "--db", url)
        assert (done.status, done.out) == (2, "")
        assert "s3cret" not in done.err, url
        assert "tail0" not in done.err, url


@pytest.mark.slow
@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_no_command_says_a_password(
    cutline: Run, folder: Path, words: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    before = sorted(os.listdir(folder))
    with caplog.at_level(logging.DEBUG):
        for url in SPELLINGS:
            done = cutline(*words, "--db", url, *COMMANDS[words])
            assert (done.status, done.out) == (2, "")
            assert done.err.startswith("cutline: ")
            assert done.err.count("\n") == 1
            assert "s3cret" not in done.err + caplog.text, url
            assert "tail0" not in done.err + caplog.text, url
            assert sorted(os.listdir(folder)) == before, url


@pytest.mark.parametrize(
    "words",
    [
        ("campaign", "status"),
        ("campaign", "status", "--db", "x.db"),
        ("campaign",),
        (),
        ("import", "--db", "x.db"),
        ("run", "--db"),
        ("simulate", "--policies"),
        ("export", "observations", "--out", "x.csv"),
    ],
    ids=" ".join,
)
def test_a_url_in_the_wrong_place_is_shown_without_its_password(cutline: Run, words: tuple[str, ...]) -> None:
    for url in SPELLINGS[:3] + SPELLINGS[14:20]:
        done = cutline(*words, url)
        assert done.status == 2
        assert "s3cret" not in done.err
        assert "tail0" not in done.err


@pytest.mark.parametrize("url", SPELLINGS)
def test_no_exception_holds_a_password(url: str) -> None:
    uses: list[Callable[[], object]] = [
        lambda: Campaign.create(url, "c", ["a"], 0.5, "LSA", 9),
        lambda: Campaign.open(url, "c"),
        lambda: campaigns(url),
        lambda: delete(url, "c"),
    ]
    for use in uses:
        with pytest.raises(CutlineError) as caught:
            use()
        text = "".join(traceback.format_exception(caught.value)) + repr(caught.value) + repr(caught.value.__cause__)
        assert "s3cret" not in text
        assert "tail0" not in text


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://user:s3cret@host:5432/db", "postgresql://user:***@host:5432/db"),
        ("postgres://user@host/db", "postgresql://user@host/db"),
        ("POSTGRESQL+psycopg://host/db?password=s3cret&sslmode=require", "postgresql://host/db"),
        ("postgresql:///db?host=/var/run&user=me", "postgresql://me@/db?host=%2Fvar%2Frun"),
        ("postgresql://u:a%40b@[::1]/db", "postgresql://u:***@[::1]/db"),
        ("sqlite:///x.db", "x.db"),
        ("folder/a:b.db", "folder/a:b.db"),
    ],
)
def test_a_database_is_shown_by_where_it_is(url: str, shown: str) -> None:
    assert label(url) == shown


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("mysql://user@host/db", "cannot keep campaigns in 'mysql://...'; write sqlite:///file.db, postgresql://user@"),
        ("postgresql://u:a@b@host/db", "more than one @; in a user or password write it as %40"),
        ("postgresql://u@host:x/db", "the port in the url of the database must be a whole number from 1 to 65535"),
        ("postgresql://u@host:65536/db", "the port in the url of the database must be a whole number from 1 to 65535"),
        ("postgresql://h/db?user=a&user=b", "the url of the database has the option 'user' more than once"),
        ("sqlite:u.db", "cannot keep campaigns in 'sqlite:u.db'; write sqlite:///file.db"),
        ("sqlite://u.db", "the url of the SQLite database names no file; write sqlite:///file.db"),
        ("sqlite:///u.db?mode=ro", "the url of an SQLite database has no options"),
        ("host=h dbname=d", "cannot keep campaigns in 'host=h dbname=d'; write sqlite:///file.db"),
        ("a\0b", "the url or path of the database has a NUL character"),
        (7, "a database is a url or a path, not int; write sqlite:///file.db"),
    ],
)
def test_a_bad_url_is_refused_with_what_would_be_right(url: Any, message: str, folder: Path) -> None:
    before = sorted(os.listdir(folder))
    for use in (lambda: campaigns(url), lambda: Campaign.create(url, "c", ["a"], 0.5, "LSA", 9)):
        with pytest.raises(InvalidInputError) as caught:
            use()
        assert message in str(caught.value)
    assert sorted(os.listdir(folder)) == before


def test_only_passwords_are_hidden() -> None:
    text = "no port of u at host:5432, pass word 'pass' of postgresql://u:pass@host:5432/db"
    hidden = "no port of u at host:5432, *** word '***' of postgresql://u:***@host:5432/db"
    assert hide_passwords(text, "postgresql://u:pass@host:5432/db") == hidden
    assert hide_passwords(text, "postgresql://u@host:5432/db", "x.db", "a:b") == text
