"""Threads that share an SQLite file: what they wait for together, and what one of them does for all."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.pool import QueuePool

from cutline.campaign import Campaign
from cutline.campaign.database.connecting import disk
from cutline.campaign.database.connecting.disk import Disk
from cutline.errors import StoreError


class SlowDisk:
    """Stands for the disk: lets nobody go on until it is told to, and counts how often it was waited for."""

    def __init__(self) -> None:
        self.waits = 0
        self.entered = threading.Semaphore(0)
        self.free = threading.Event()

    def __call__(self, file: int) -> None:
        self.waits += 1
        self.entered.release()
        assert self.free.wait(30)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> SlowDisk:
    made = SlowDisk()
    monkeypatch.setattr(disk, "_sync", made)
    return made


@pytest.fixture
def campaign(tmp_path: Path) -> Iterator[Campaign]:
    with Campaign.create(tmp_path / "x.db", "c", [f"arm {i}" for i in range(20)], 0.5, "LSA", 1000) as made:
        made.status()  # a connection that has the log open
        yield made


def started(work: Callable[[], object], count: int = 1) -> list[threading.Thread]:
    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def test_all_who_come_while_one_waits_for_the_disk_wait_once_together(tmp_path: Path, slow: SlowDisk) -> None:
    (tmp_path / "log").touch()
    shared = Disk(str(tmp_path / "log"))
    first = started(shared.wait)
    slow.entered.acquire()
    others = started(shared.wait, 5)
    while shared._asked < 6:
        threading.Event().wait(0.001)
    slow.free.set()
    for thread in first + others:
        thread.join()
    assert slow.waits == 2


def test_a_tell_returns_once_it_is_on_the_disk_and_lets_others_ask_and_tell_meanwhile(
    campaign: Campaign, slow: SlowDisk
) -> None:
    first, second = campaign.ask(2)
    told = started(lambda: campaign.tell(first, 1))
    slow.entered.acquire()
    assert len(campaign.ask(3)) == 3  # which does not wait for the disk
    assert told[0].is_alive()
    later = started(lambda: campaign.tell(second, 0))
    while campaign.status().spent < 2:
        pass
    slow.free.set()
    for thread in told + later:
        thread.join()
    assert slow.waits == 2


def test_a_disk_that_fails_is_an_error_of_the_database(campaign: Campaign, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    (pull,) = campaign.ask()
    with monkeypatch.context() as broken:
        broken.setattr(disk, "_sync", fail)
        with pytest.raises(StoreError, match=r"x\.db: what was written is not safe yet: Input/output error; try again"):
            campaign.tell(pull, 1)
    assert campaign.tell(pull, 1) is False  # it was written; now it is safe, too


def test_one_thread_learns_while_the_others_go_on(campaign: Campaign) -> None:
    def generations() -> set[int]:
        return {generation for _, generation in campaign._identity.arithmetics}

    with campaign._store.learning:
        campaign.tell_many([(pull, 1) for pull in campaign.ask(30)])
        campaign.ask()
        assert generations() == {0}
    campaign.tell(campaign.ask()[0], 1)
    campaign.ask()
    assert generations() == {0, 1}


def test_transactions_one_after_another_share_one_connection_which_closing_gives_back(tmp_path: Path) -> None:
    taken: list[object] = []
    with Campaign.create(tmp_path / "x.db", "c", ["a"], 0.5, "LSA", 10) as campaign:
        engine = campaign._store.engine
        event.listen(engine, "checkout", lambda _, record, __: taken.append(record))
        for _ in range(3):
            (pull,) = campaign.ask()
            campaign.tell(pull, 1)
    assert taken == []  # the connection that made the tables is at hand
    assert isinstance(engine.pool, QueuePool)
    assert engine.pool.checkedout() == 0
