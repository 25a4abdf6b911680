"""Progress that is sent while a campaign goes on."""

import json
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from cutline.campaign import Campaign
from cutline.server.api import events
from cutline.server.settings import ServerSettings
from servers import serving

EVERY = 0.02


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """When the server has looked at a campaign, which it does fifty times a second here."""
    times: list[float] = []
    look = events._look

    def noted(campaign: Any) -> str:
        times.append(time.monotonic())
        return look(campaign)

    monkeypatch.setattr(events, "EVERY", EVERY)
    monkeypatch.setattr(events, "_look", noted)
    return times


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "x.db")
    Campaign.create(path, "birds", ["a", "b"], 0.5, "LSA", 10).close()
    return path


@pytest.fixture
def address(db: str, looks: list[float]) -> Iterator[str]:
    with serving(ServerSettings(db)) as running:
        yield running


class Stream:
    """A connection that listens to the events of the campaign birds."""

    def __init__(self, address: str) -> None:
        at = urlsplit(address)
        self._socket = socket.create_connection((at.hostname, at.port), timeout=30)
        head = f"GET /api/v1/events?campaign=birds HTTP/1.1\r\nHost: {at.netloc}\r\nConnection: close\r\n\r\n"
        self._socket.sendall(head.encode())
        self._lines = self._socket.makefile("rb")

    def status(self) -> Any:
        """Return the next event."""
        return next(json.loads(line[6:]) for line in self._lines if line.startswith(b"data: "))

    def rest(self) -> bytes:
        """Return what comes until the server ends it."""
        return self._lines.read()

    def close(self) -> None:
        self._lines.close()
        self._socket.close()


def test_a_change_is_sent_as_it_happens_and_the_stream_ends_with_its_campaign(address: str, db: str) -> None:
    stream = Stream(address)
    assert stream.status()["spent"] == 0
    with Campaign.open(db, "birds") as campaign:
        campaign.tell(campaign.ask()[0], 1)
        while (status := stream.status())["spent"] == 0:
            pass  # the ask may have been seen before the tell
        assert (status["name"], status["spent"], status["left"]) == ("birds", 1, 9)
        campaign.delete()
    assert b"data:" not in stream.rest()
    stream.close()


def test_a_stream_that_nobody_listens_to_any_more_looks_no_more(address: str, looks: list[float]) -> None:
    stream = Stream(address)
    stream.status()
    stream.close()
    while looks and time.monotonic() - looks[-1] < 20 * EVERY:
        time.sleep(EVERY)
    seen = len(looks)
    time.sleep(10 * EVERY)
    assert len(looks) == seen


def test_many_streams_share_their_looks_and_leave_the_threads_to_others(address: str, looks: list[float]) -> None:
    streams = [Stream(address) for _ in range(100)]
    for stream in streams:
        stream.status()
    began, before = time.monotonic(), len(looks)
    with Campaign.open(address, "birds") as campaign:
        campaign.tell(campaign.ask()[0], 1)
    for stream in streams:
        while stream.status()["spent"] == 0:
            pass
        stream.close()
    assert len(looks) - before <= 2 + (time.monotonic() - began) / (EVERY / 2)
    assert threading.active_count() < 60
