"""What is asked and told over HTTP is done in turn, safe before it is answered, and held up by nobody who learns."""

import asyncio
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cutline.campaign import Campaign
from cutline.campaign.database.connecting import disk
from cutline.campaign.operations.upkeep import learning
from cutline.errors import StoreError
from cutline.server.settings import ServerSettings
from cutline.server.turns import _Together
from servers import serving

PATIENCE = 30.0


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.delenv("CUTLINE_TOKEN", raising=False)
    with serving(ServerSettings(str(tmp_path / "x.db"))) as running:
        yield running


def test_all_who_come_while_something_is_done_share_the_next_time() -> None:
    begun, may_end = [], threading.Semaphore(0)

    def work() -> None:
        begun.append(time.monotonic())
        assert may_end.acquire(timeout=PATIENCE)

    async def wait(together: _Together) -> float:
        came = time.monotonic()
        await together.wait()
        return came

    async def all_of_them() -> list[float]:
        together = _Together(work, thread)
        first = asyncio.create_task(wait(together))
        while not begun:
            await asyncio.sleep(0.001)
        others = [asyncio.create_task(wait(together)) for _ in range(5)]
        await asyncio.sleep(0.01)
        may_end.release()
        assert await first < begun[0]
        may_end.release()
        return [await other for other in others]

    with ThreadPoolExecutor(1) as thread:
        came = asyncio.run(all_of_them())
    assert len(begun) == 2
    assert max(came) < begun[1]


def test_a_tell_is_answered_when_it_is_on_the_disk_and_not_if_that_fails(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: int) -> None:
        raise OSError(5, "Input/output error")

    with Campaign.create(address, "birds", ["a", "b"], 0.5, "LSA", 10) as campaign:
        pull = campaign.ask()[0]
        with monkeypatch.context() as patch:
            patch.setattr(disk, "_sync", fail)
            with pytest.raises(StoreError, match=r"what was written is not safe yet: Input/output error; try again$"):
                campaign.tell(pull, 1)
        assert not campaign.tell(pull, 1)  # once more, since it did not hear that it was stored
        assert campaign.status().spent == 1


def test_tells_that_come_together_wait_for_the_disk_together(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    syncs, sync = [], disk._sync

    def slow(file: int) -> None:
        syncs.append(file)
        time.sleep(0.1)
        sync(file)

    with Campaign.create(address, "birds", [f"arm {i}" for i in range(20)], 0.5, "LSA", 100) as campaign:
        pulls = campaign.ask(16)
        monkeypatch.setattr(disk, "_sync", slow)
        with ThreadPoolExecutor(16) as threads:
            assert all(threads.map(lambda pull: campaign.tell(pull, 1), pulls))
        assert len(syncs) < 8


def test_while_one_campaign_learns_another_is_asked(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    learns, may_end, learn = threading.Event(), threading.Event(), learning._learn

    def slow(*given: object) -> bool:
        learns.set()
        assert may_end.wait(PATIENCE)
        return learn(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(learning, "_learn", slow)
    with (
        Campaign.create(address, "busy", ["a"], 0.5, "LSA", 20) as busy,
        Campaign.create(address, "other", ["a"], 0.5, "LSA", 20) as other,
        ThreadPoolExecutor(1) as thread,
    ):
        told = thread.submit(busy.tell_many, [(pull, 1) for pull in busy.ask(20)])
        assert learns.wait(PATIENCE)
        try:
            assert other.tell(other.ask()[0], 1)
            assert not told.done()
        finally:
            may_end.set()
        assert told.result() == 20
