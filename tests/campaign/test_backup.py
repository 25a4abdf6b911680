"""A copy of a database that is in use."""

import os
import threading
from pathlib import Path

import pytest

from cutline.campaign import Campaign, backup, campaigns
from cutline.errors import AccessError, CutlineError, InvalidInputError, NotFoundError
from cutline.server.access.tokens import tokens_of
from cutline.server.settings import ServerSettings
from ledger import audit, dump
from servers import serving


def test_a_copy_of_a_database_at_rest_holds_the_same(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.db", tmp_path / "new" / "copy.db"
    with Campaign.create(path, "c", ["a", "b"], 0.5, "LSA", 9) as campaign:
        campaign.tell(campaign.ask(1, worker="ann")[0], 1, "a note")
        assert backup(path, copy) == copy.stat().st_size
        with Campaign.open(copy, "c") as copied:
            assert dump(copied) == dump(campaign)
            copied.tell(copied.ask(1)[0], 0)
        assert campaign.status().spent == 1
    assert os.listdir(copy.parent) == ["copy.db"]


def test_copies_made_while_others_tell_are_whole_and_of_one_moment(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.db", tmp_path / "copy.db"
    with Campaign.create(path, "c", [f"arm {i}" for i in range(200)], 0.5, "LSA", 10_000) as campaign:
        stop = threading.Event()

        def work() -> None:
            while not stop.is_set():
                campaign.tell_many([(pull, 1) for pull in campaign.ask(20)])

        worker = threading.Thread(target=work)
        worker.start()
        try:
            spent = []
            for _ in range(5):
                backup(path, copy)
                with Campaign.open(copy, "c") as copied:
                    audit(copied)
                    spent.append(copied.status().spent)
        finally:
            stop.set()
            worker.join()
        assert spent == sorted(spent)
        assert spent[-1] <= campaign.status().spent


def test_what_cannot_be_copied_is_refused_and_an_old_copy_stays(tmp_path: Path) -> None:
    path, old = tmp_path / "x.db", tmp_path / "old.db"
    old.write_text("an older copy")
    Campaign.create(path, "c", ["a"], 0.5, "LSA", 9).close()
    refused: list[tuple[object, object, type[CutlineError], str]] = [
        (tmp_path / "none.db", old, NotFoundError, "there is no such database"),
        (path, path, InvalidInputError, "it is the database itself"),
        (path, tmp_path, InvalidInputError, "give the name of one"),
        (path, "/dev/null", InvalidInputError, "give the name of one"),
        (path, path / "x", InvalidInputError, "cannot write"),
    ]
    for url, out, error, message in refused:
        with pytest.raises(error, match=message):
            backup(str(url), str(out))
    assert old.read_text() == "an older copy"
    assert [status.name for status in campaigns(path)] == ["c"]


def test_of_postgresql_it_says_what_makes_a_backup(postgresql: str, tmp_path: Path) -> None:
    Campaign.create(postgresql, "c", ["a"], 0.5, "LSA", 9).close()
    with pytest.raises(InvalidInputError, match="pg_dump makes a backup of PostgreSQL"):
        backup(postgresql, tmp_path / "copy.db")
    assert os.listdir(tmp_path) == []


def test_the_database_of_a_server_is_copied_by_its_owner_alone(tmp_path: Path) -> None:
    path, copy = tmp_path / "x.db", tmp_path / "copy.db"
    with Campaign.create(path, "c", ["a", "b"], 0.5, "LSA", 9) as campaign:
        campaign.tell(campaign.ask(1, worker="ann")[0], 1, "a note")
        with serving(ServerSettings(str(path))) as address:
            with tokens_of(str(path)) as tokens:
                owner, viewer = tokens.create("boss", "owner"), tokens.create("eve", "viewer")
            with pytest.raises(AccessError, match="a viewer's token does not allow this"):
                backup(address, copy, token=viewer)
            assert not copy.exists()
            assert backup(address, copy, token=owner) == copy.stat().st_size
        with Campaign.open(copy, "c") as copied:
            assert dump(copied) == dump(campaign)
