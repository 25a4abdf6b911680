"""PostgreSQL servers that do not answer, or refuse: one line, and no waiting without end."""

import socket
from typing import Any

import psycopg
import pytest
from sqlalchemy import make_url

from cutline.campaign import Campaign, campaigns
from cutline.campaign.database.connecting import engines, silence
from cutline.errors import StoreError


def test_a_server_that_does_not_answer_is_an_error_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"postgresql://somebody@127.0.0.1:{silent.getsockname()[1]}/nothing"
        with pytest.raises(StoreError) as caught:
            Campaign.open(f"{url}?connect_timeout=2", "c")  # the shortest that there is
    assert str(caught.value).startswith(f"{url}: ")
    assert "timeout" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_no_server_is_waited_for_without_end() -> None:
    """Unless the url says how long, it is ten seconds to connect, and then a minute for a sign of life."""
    url = "postgresql://somebody@host/nothing"
    keepalives = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3}
    waits = {"connect_timeout": 10, "tcp_user_timeout": 60_000, **keepalives}
    assert waits.items() <= connect_arguments(url).items()
    assert connect_arguments(f"{url}?connect_timeout=77")["connect_timeout"] == "77"


def test_a_server_that_falls_silent_is_given_up(postgresql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "MOST", 0.3)
    with Campaign.create(postgresql, "c", ["a"], 0.5, "LSA", 9) as campaign:
        for pipelined in (False, True):
            with pytest.raises(StoreError, match=r"^postgresql://.*: the server has said nothing for 0 s$"):
                campaign._store.write(
                    lambda connection: connection.connection.cursor().execute("SELECT pg_sleep(9)"), pipelined=pipelined
                )
        assert len(campaign.ask()) == 1


def connect_arguments(url: str) -> dict[str, object]:
    """Return what psycopg would be connected with."""
    found: dict[str, object] = {}

    def note(*_: object, **options: object) -> object:
        found.update(options)
        raise StopIteration

    engine = engines.open_database(url, create=False).engine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(silence.Connection, "connect", note)
        with pytest.raises(StopIteration):
            engine.connect()
    return found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"database": "no_such_database"}, 'database "no_such_database" does not exist'),
        ({"username": "nobody_here"}, 'role "nobody_here" does not exist'),
        ({"query": {"no_such_option": "1"}}, 'invalid connection option "no_such_option"'),
    ],
)
def test_a_server_that_refuses_is_quoted_in_one_line(postgres_server: str, change: Any, message: str) -> None:
    given = make_url(postgres_server)
    url = given.set(**{**change, "query": {**given.query, **change.get("query", {})}})
    with pytest.raises(StoreError) as caught:
        campaigns(url.render_as_string(hide_password=False))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_who_may_make_no_tables_is_told_so_in_one_line(postgresql: str) -> None:
    with psycopg.connect(postgresql, autocommit=True) as server:
        server.execute("CREATE ROLE cutline_reader LOGIN")
        try:
            reader = make_url(postgresql).set(username="cutline_reader").render_as_string(hide_password=False)
            with pytest.raises(StoreError, match=r"^postgresql://cutline_reader@[^\n]*: [^\n]*$"):
                Campaign.create(reader, "c", ["a"], 0.5, "LSA", 1)
        finally:
            server.execute("DROP ROLE cutline_reader")
