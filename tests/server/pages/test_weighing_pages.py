"""Workers are excluded and answers known beforehand by forms of the pages, where a campaign weighs its workers."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from cutline.campaign import Campaign
from cutline.server.access.tokens import tokens_of
from cutline.server.settings import ServerSettings
from servers import serving
from visitors import Visitor

LONG = "🏁" * 2_000
GOLD = b"task,label\nitem 1,1\nitem 2,0\n"


@pytest.fixture
def db(tmp_path: Path) -> str:
    """A campaign that weighs ann, bob and eve."""
    path = str(tmp_path / "x.db")
    arms = [*(f"item {number}" for number in range(7)), LONG]
    with Campaign.create(
        path, "crowd", arms, 0.5, "LSA", 60, workers="weighed", labels=("no bird", "bird")
    ) as campaign:
        for worker in ("ann", "bob", "eve"):
            for pull in campaign.ask(8, worker=worker):
                campaign.tell(pull, len(pull.arm) % 2)
    return path


@pytest.fixture
def visitor(db: str) -> Iterator[Visitor]:
    with serving(ServerSettings(db)) as address:
        yield Visitor(address)


def excluded(db: str) -> tuple[str, ...]:
    with Campaign.open(db, "crowd") as campaign:
        return campaign.settings.excluded


def known(db: str) -> dict[str, bool | None]:
    with Campaign.open(db, "crowd") as campaign:
        return {item.arm: item.above for item in campaign.decisions() if item.known}


def test_the_page_of_workers_excludes_somebody_and_brings_him_back(visitor: Visitor, db: str) -> None:
    visitor.get("/workers", campaign="crowd")
    names = [fields["worker"] for _, fields in visitor.page.forms if "worker" in fields]
    assert sorted(names) == ["ann", "bob", "eve"]
    visitor.send("/workers/exclude", worker="eve")
    assert (visitor.status, excluded(db)) == (200, ("eve",))
    assert visitor.page.text.count("Bring back") == 1
    with Campaign.open(db, "crowd") as campaign:
        campaign.change(excluded=["eve", "fay"])
    visitor.get("/workers", campaign="crowd")
    assert visitor.page.text.count("Bring back") == 2  # fay has not been there, and has a row
    visitor.send("/workers/exclude", worker="eve", excluded="no")
    assert excluded(db) == ("fay",)
    visitor.send("/workers/exclude", worker="gil", excluded="yes")
    assert (visitor.status, excluded(db)) == (404, ("fay",))
    assert "nobody of that name has been asked or has answered" in visitor.page.text


def test_known_answers_are_added_from_a_file_and_shown(visitor: Visitor, db: str) -> None:
    visitor.get("/known", campaign="crowd")
    where, fields = visitor.page.form("/known")
    assert "No answer is known beforehand." in visitor.page.text
    body, kind = urllib3.encode_multipart_formdata({**fields, "answers": ("gold.csv", GOLD)})
    headers = {"Content-Type": kind, "Cookie": "; ".join(f"{k}={v}" for k, v in visitor.cookies.items())}
    sent = urllib3.request("POST", visitor.url.partition("/known")[0] + where, body=body, headers=headers, timeout=60)
    assert (sent.status, known(db)) == (200, {"item 1": True, "item 2": False})
    assert b"2 answers are known now." in sent.data
    visitor.get("/known", campaign="crowd")
    assert "item 1\n            bird" in visitor.page.text
    assert "item 2\n            no bird" in visitor.page.text


def test_an_answer_becomes_known_on_the_page_of_its_arm_however_long_its_id_is(visitor: Visitor, db: str) -> None:
    for arm in ("item 3", LONG):
        visitor.get("/campaign", campaign="crowd", search=arm[:200])
        visitor.get(next(link for link in visitor.page.links() if "/arm?" in link))
        assert "If you know the true answer:" in visitor.page.text
        visitor.send("/arm/known", answer="0")
        assert "below, known" in visitor.page.text
    visitor.send("/arm/known", answer="1")
    assert known(db) == {"item 3": False, LONG: True}
    visitor.send("/arm/known", answer="")
    assert known(db) == {"item 3": False}
    assert "If you know the true answer:" in visitor.page.text
    assert "answers known no more, 1:" in visitor.get("/campaign", campaign="crowd").page.text


def test_a_file_of_answers_that_cannot_be_read_is_refused_with_its_line_and_nothing_is_known(
    visitor: Visitor, db: str
) -> None:
    body, kind = urllib3.encode_multipart_formdata({"answers": ("gold.csv", GOLD + b"item 3,maybe\n")})
    url = visitor.url + "/api/v1/known?campaign=crowd"
    sent = urllib3.request("POST", url, body=body, headers={"Content-Type": kind}, timeout=60)
    assert sent.status == 422
    assert json.loads(sent.data)["detail"].startswith("the file, line 4: ")
    assert known(db) == {}
    body, kind = urllib3.encode_multipart_formdata({"answers": ("gold.csv", GOLD)})
    sent = urllib3.request("POST", url, body=body, headers={"Content-Type": kind}, timeout=60)
    assert [(row["what"], row["after"]["count"]) for row in json.loads(sent.data)] == [("answers known", 2)]


def test_whoever_may_only_read_finds_no_form_to_change_anything(visitor: Visitor, db: str) -> None:
    with tokens_of(db) as tokens:
        viewer = tokens.create("vera", "viewer")
    visitor.get("/login").send("/login", token=viewer)
    for path in ("/workers", "/known", "/arm"):
        visitor.get(path, campaign="crowd", arm="item 1")
        assert visitor.status == 200
        assert [given["action"] for given, _ in visitor.page.forms] == ["/logout"]


def test_where_workers_count_alike_nothing_is_offered(visitor: Visitor, db: str) -> None:
    Campaign.create(db, "plain", ["a"], 0.5, "LSA", 9).close()
    assert "/known" not in " ".join(visitor.get("/campaign", campaign="plain").page.links())
    for path in ("/workers", "/known", "/arm"):
        assert visitor.get(path, campaign="plain", arm="a").page.forms == []
