"""The API, request by request."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import pytest
import urllib3

from cutline.campaign import Campaign
from cutline.server.settings import ServerSettings
from servers import serving


class Answer(NamedTuple):
    status: int
    body: Any


class Client:
    """Sends requests to a server and returns status and body."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.http = urllib3.PoolManager()

    def __call__(self, method: str, path: str, body: Any = None, **query: str) -> Answer:
        data: Any = {} if body is None else {"json": body}
        url = f"{self.address}{path}?{urlencode(query)}" if query else f"{self.address}{path}"
        response = self.http.request(method, url, **data)
        return Answer(response.status, json.loads(response.data) if response.data else None)


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "x.db")
    Campaign.create(path, "birds", ["a/b", "🏁"], 0.5, "LSA", 10).close()
    return path


@pytest.fixture
def client(db: str) -> Iterator[Client]:
    with serving(ServerSettings(db)) as address:
        yield Client(address)


def test_what_is_asked_for_over_http_is_told_and_counted(client: Client, db: str) -> None:
    asked = client("POST", "/api/v1/ask", {"n": 2, "worker": "ann"}, campaign="birds")
    assert sorted(pull["arm"] for pull in asked.body["pulls"]) == ["a/b", "🏁"]
    rewards = [{"pull": pull["id"], "reward": 1} for pull in asked.body["pulls"]]
    assert client("POST", "/api/v1/tell-many", {"rewards": rewards}, campaign="birds") == (200, {"new": 2})
    assert client("POST", "/api/v1/tell-many", {"rewards": rewards}, campaign="birds") == (200, {"new": 0})
    status = client("GET", "/api/v1/status", campaign="birds")
    assert (status.body["spent"], status.body["left"]) == (2, 8)
    with Campaign.open(db, "birds") as campaign:
        assert campaign.status().spent == 2


def test_what_is_wrong_is_a_problem_with_one_line(client: Client) -> None:
    answer = client("POST", "/api/v1/ask", {"n": 0}, campaign="birds")
    assert answer == (
        422,
        {
            "type": "about:blank",
            "title": "Unprocessable Entity",
            "status": 422,
            "detail": "body.n must be 1 or more",
            "error": "InvalidInputError",
        },
    )
    missing = client("GET", "/api/v1/status", campaign="bards")
    assert (missing.status, missing.body["detail"]) == (404, "no campaign is called 'bards'; there are 'birds'")
