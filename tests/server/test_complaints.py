"""What a request that does not fit is told: the field, what is wrong with it, and what would be right."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
import urllib3

from cutline.campaign import Campaign
from cutline.server.settings import ServerSettings
from servers import serving

JSON = "application/json"
NEW = '"threshold": 0.5, "budget": 3, "name": "x"'

COMPLAINTS = [
    ("ask", "{}", "", "query.campaign is missing; the address must have it, as in ?campaign=..."),
    ("decisions", "{}", "", "query.campaign is missing; the address must have it, as in ?campaign=..."),
    ("ask", "{}", "?campaign=", "query.campaign must not be empty"),
    ("ask", "{}", "?campaign=" + "x" * 201, "query.campaign must have at most 200 letters"),
    ("ask", "", "?campaign=birds", "body is empty; it must be a JSON object"),
    ("decisions", "", "?campaign=birds", "body is empty; it must be a JSON object"),
    ("ask", "null", "?campaign=birds", "body must be an object, not null"),
    ("tell", "{}", "?campaign=birds", "body.pull is missing; it must be given"),
    ("tell", '{"pull": "x"}', "?campaign=birds", "body.reward is missing; it must be given"),
    ("tell", '{"pull": 5, "reward": 1}', "?campaign=birds", "body.pull must be text, not 5"),
    ("tell", '{"pull": "x", "reward": 2}', "?campaign=birds", "body.reward must be 1 or less"),
    ("tell", '{"pull": "x", "reward": "1"}', "?campaign=birds", "body.reward must be a number, not text"),
    (
        "tell-many",
        '{"rewards": [{"pull": "x", "reward": true}, {"pull": "y", "reward": -0.5}]}',
        "?campaign=birds",
        "body.rewards[1].reward must be 0 or more",
    ),
    ("ask", '{"n": 1.5}', "?campaign=birds", "body.n must be a whole number, not 1.5"),
    ("ask", '{"m": 1}', "?campaign=birds", "body.m is not known here; /api/v1/openapi.json says what is"),
    (
        "ask",
        '{"\\u001b[2J": 1}',
        "?campaign=birds",
        "body.\\x1b[2J is not known here; /api/v1/openapi.json says what is",
    ),
    ("campaigns", f'{{{NEW}, "arms": ["a", 5]}}', "", "body.arms[1] must be text, not 5"),
    ("campaigns", f'{{{NEW}, "arms": ["a", {{"id": 5}}]}}', "", "body.arms[1].id must be text, not 5"),
    ("campaigns", f'{{{NEW}, "arms": ["a"], "known": {{"a": 1}}}}', "", "body.known.a must be true or false, not 1"),
    ("nothing", "{}", "", "there is nothing at /api/v1/nothing; /api/v1/openapi.json says what there is"),
    ("status", "{}", "?campaign=birds", "/api/v1/status takes no POST; send GET"),
]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    db = str(tmp_path_factory.mktemp("complaints") / "x.db")
    Campaign.create(db, "birds", ["a"], 0.5, "LSA", 9).close()
    with serving(ServerSettings(db)) as url:
        yield f"{url}/api/v1"


@pytest.mark.parametrize(("path", "body", "query", "line"), COMPLAINTS)
def test_what_does_not_fit_is_told_where_and_what_would_be_right(
    address: str, path: str, body: str, query: str, line: str
) -> None:
    answer = urllib3.request("POST", f"{address}/{path}{query}", body=body, headers={"Content-Type": JSON}, timeout=60)
    assert json.loads(answer.data)["detail"] == line


@pytest.mark.parametrize("path", ["ask", "decisions"])
def test_what_is_no_json_is_told_so(address: str, path: str) -> None:
    url = f"{address}/{path}?campaign=birds"
    broken = urllib3.request("POST", url, body="{", headers={"Content-Type": JSON}, timeout=60)
    assert (broken.status, json.loads(broken.data)["detail"][:19]) == (422, "body must be JSON: ")
    form = urllib3.request("POST", url, body="n=1", headers={"Content-Type": "text/plain"}, timeout=60)
    assert form.status == 422
    assert "Content-Type: application/json" in json.loads(form.data)["detail"]


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ("0.5.0", "body.settings must be JSON: trailing characters at line 1 column 4"),
        ('{"threshold": 0.5, "budget": "many"}', "body.settings.budget must be a whole number, not text"),
        ('{"threshold": 0.5}', "body.settings.budget is missing; it must be given"),
    ],
)
def test_settings_that_come_with_a_file_of_arms_are_told_the_same(address: str, settings: str, line: str) -> None:
    fields: Any = {"name": "new", "settings": settings, "arms": ("arms.txt", b"a\n")}
    answer = urllib3.request("POST", f"{address}/campaigns/upload", fields=fields)
    assert (answer.status, answer.json()["detail"]) == (422, line)
