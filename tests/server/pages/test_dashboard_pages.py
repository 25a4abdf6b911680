"""The dashboard, request by request."""

import html
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from cutline.campaign import Campaign
from cutline.campaign.operations.reading import paging
from cutline.campaign.results import in_words
from cutline.cli import main
from cutline.server.access.tokens import tokens_of
from cutline.server.settings import ServerSettings
from servers import serving
from visitors import Visitor

ODD = [
    "a/b",
    "..",
    '"><script>alert(1)</script>',
    "9007199254740993",
    "🏁🐦",
    "שלום עולם",
    "\u202eright to left",
    "two\nlines",
    "x" * 10_000,
    "{{ 7 * 1103 }}",
    "a&b=c#d?e%2F",
]


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database that no test changes."""
    path = str(tmp_path_factory.mktemp("read") / "x.db")
    with Campaign.create(path, "birds", [*ODD, *(f"wren {i}" for i in range(60))], 0.5, "LSA", 500) as campaign:
        for turn in range(3):
            campaign.tell_many([(pull, len(pull.arm) % 2) for pull in campaign.ask(40, worker=f"worker {turn}")])
    return path


@pytest.fixture(scope="module")
def address(read_only: str) -> Iterator[str]:
    with serving(ServerSettings(read_only)) as address:
        yield address


@pytest.fixture
def reader(address: str) -> Visitor:
    """Somebody who visits the database that no test changes."""
    return Visitor(address)


@pytest.fixture
def db(read_only: str, tmp_path: Path) -> str:
    """A copy of that database."""
    return str(shutil.copy(read_only, tmp_path / "x.db"))


@pytest.fixture
def visitor(db: str) -> Iterator[Visitor]:
    with serving(ServerSettings(db)) as address:
        yield Visitor(address)


def arms_of(visitor: Visitor) -> list[str]:
    """Return the ids of the arms in the table, as they are shown."""
    found = re.findall(r'<th scope="row"><a href="[^"]*/?arm[^"]*"><bdi>(.*?)</bdi>', visitor.body.decode(), re.DOTALL)
    return [html.unescape(text) for text in found]


@pytest.fixture
def cutline(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command in this process and return what it prints."""

    def run(*words: str) -> str:
        monkeypatch.setattr(sys, "argv", ["cutline", *words])
        with pytest.raises(SystemExit) as stopped:
            main()
        assert stopped.value.code == 0
        return capsys.readouterr().out

    return run


def test_the_page_of_all_campaigns_says_what_the_list_says(
    visitor: Visitor, db: str, cutline: Callable[..., str]
) -> None:
    Campaign.create(db, 'odd/"name', ["a"], 0.5, "LSA", 7).close()
    (birds, odd) = json.loads(cutline("campaign", "list", "--db", db, "--format", "json"))
    text = visitor.get("/").page.text
    assert f"{birds['spent']} of {birds['budget']}" in text
    assert f"{birds['expected_errors']:.2f}" in text
    assert f"{odd['spent']} of {odd['budget']}" in text
    assert visitor.get(next(link for link in visitor.page.links() if "odd" in link)).status == 200
    assert 'odd/"name' in visitor.page.text


def test_the_numbers_of_a_campaign_are_those_of_the_command_line(
    reader: Visitor, read_only: str, cutline: Callable[..., str]
) -> None:
    text = reader.get("/campaign", campaign="birds").body.decode()
    for line in cutline("campaign", "status", "--db", read_only).splitlines():
        if line.startswith(("spent", "in flight", "left", "expected errors")):
            assert f"<dd>{line.split()[-1]}</dd>" in text, line
    by_hand = [
        line.split() for line in cutline("campaign", "decisions", "--db", read_only, "--nearest", "25").splitlines()[1:]
    ]
    shown = re.findall(r'<td data-name="(\w+)">(.*?)</td>', text)
    assert [value for name, value in shown if name in ("mean", "pulls", "wrong")] == [
        value for row in by_hand for value in (row[-5], row[-6], row[-3])
    ]


@pytest.mark.parametrize("arm", ODD, ids=range(len(ODD)))
def test_an_arm_with_an_odd_id_has_a_page_with_its_history(reader: Visitor, read_only: str, arm: str) -> None:
    with Campaign.open(read_only, "birds") as campaign:
        past = campaign.arm(arm)
    reader.get("/campaign", campaign="birds", search=arm[:200])
    assert reader.status == 200
    assert "<script>alert" not in reader.body.decode()
    ours = [link for link in reader.page.links() if "/arm?" in link]
    assert len(ours[0]) < 2000
    assert reader.get(ours[0]).status == 200
    assert reader.body.decode().count('<td data-name="reward">') == len(past.pulls)
    assert f"<dd>{past.decision.pulls}</dd>" in reader.body.decode()
    assert "<script>alert" not in reader.body.decode()
    assert "7721" not in reader.body.decode()


def test_the_table_is_sorted_filtered_searched_and_paged_by_links(reader: Visitor, read_only: str) -> None:
    def follow(word: str) -> list[str]:
        (link,) = [link for link in reader.page.links() if f"{word}=" in link]
        return arms_of(reader.get(link))

    with Campaign.open(read_only, "birds") as campaign:
        every = campaign.decisions()
    reader.get("/campaign", campaign="birds", search="wren", order="id")
    wrens = sorted(item.arm for item in every if "wren" in item.arm)
    assert arms_of(reader) == wrens[:25]
    assert [follow("after"), follow("after")] == [wrens[25:50], wrens[50:]]
    assert not [link for link in reader.page.links() if "after=" in link]
    assert [follow("before"), follow("before")] == [wrens[25:50], wrens[:25]]
    for only in ("above", "below", "undecided"):
        reader.get("/campaign", campaign="birds", only=only, search="wren 1", order="id")
        assert arms_of(reader) == sorted(item.arm for item in every if "wren 1" in item.arm and in_words(item) == only)
    means = {item.arm: -1.0 if item.mean is None else item.mean for item in every}
    reader.get("/campaign", campaign="birds", order="-mean", search="wren")
    shown = [means[arm] for arm in arms_of(reader)]
    assert shown == sorted((means[arm] for arm in wrens), reverse=True)[:25]
    assert "No arm is like that." in reader.get("/campaign", campaign="birds", search="nothing like it").page.text


def test_pages_of_arms_with_long_ids_are_read_by_links_that_a_proxy_takes(visitor: Visitor, db: str) -> None:
    arms = ["🏁" * 500 + f" {number:02}" for number in range(60)]
    Campaign.create(db, "long", arms, 0.5, "LSA", 60).close()
    visitor.get("/campaign", campaign="long", order="id")
    pages = [visitor.page.text]
    for way in ("after", "after", "before"):
        (onward,) = (link for link in visitor.page.links() if f"&{way}=" in link or f"?{way}=" in link)
        assert len(onward) < 2000
        pages.append(visitor.get(onward).page.text)
    shown = [[number for number in range(60) if f"🏁 {number:02}" in text] for text in pages]
    assert shown == [[*range(25)], [*range(25, 50)], [*range(50, 60)], [*range(25, 50)]]


def test_a_digest_that_is_no_arms_is_refused(reader: Visitor) -> None:
    for digest in ("00ff", "wren 1"):
        assert reader.get("/arm", campaign="birds", arm=digest, long="yes").status == 404
        assert "has no arm that this address stands for" in reader.page.text


@pytest.mark.parametrize("query", [{"order": "payload"}, {"order": "--id"}, {"only": "good"}, {"search": "x" * 201}])
def test_a_view_that_there_is_not_is_refused(reader: Visitor, query: dict[str, str]) -> None:
    assert reader.get("/campaign", campaign="birds", **query).status == 422
    assert next(iter(query)) in reader.page.text


@pytest.mark.parametrize("what", ["decisions", "observations"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_download_is_what_export_writes(
    reader: Visitor, read_only: str, cutline: Callable[..., str], what: str, form: str
) -> None:
    reader.get("/campaign", campaign="birds")
    (link,) = [link for link in reader.page.links() if f"what={what}" in link and f"format={form}" in link]
    reader.get(link)
    assert reader.body.decode() == cutline("export", what, "--db", read_only, "--format", form)
    assert reader.headers["content-disposition"].startswith("attachment")


@pytest.mark.parametrize("rates", [False, True])
def test_the_page_of_workers_says_what_the_command_says(
    reader: Visitor, read_only: str, cutline: Callable[..., str], rates: bool
) -> None:
    lines = cutline("campaign", "workers", "--db", read_only, *["--rates"] * rates).splitlines()
    text = reader.get("/workers", campaign="birds", **{"rates": "yes"} if rates else {}).body.decode()
    found = [re.sub("</?span>", "", cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", text)]
    named = re.findall(r'<th scope="row"><bdi>(.*?)</bdi>', text)
    answers, agree, *right, flying, seen = [found[place :: 6 if rates else 4] for place in range(6 if rates else 4)]
    rows = zip(named, answers, agree, flying, seen, *right, strict=True)
    assert [" ".join(row) for row in rows] == [" ".join(line.split()) for line in lines[1:]]
    assert len(lines) == 4
    assert ("data-pulse" in text) is not rates


def test_where_workers_are_weighed_the_table_has_the_probability_beside_the_share_of_yes(
    visitor: Visitor, db: str, cutline: Callable[..., str]
) -> None:
    arms = [f"item {number}" for number in range(8)]
    known = {"item 0": True}
    with Campaign.create(db, "crowd", arms, 0.5, "LSA", 60, workers="weighed", known=known) as campaign:
        for worker in ("ann", "bob", "eve"):
            for pull in campaign.ask(8, worker=worker):
                campaign.tell(pull, (int(pull.arm[-1]) + (worker == "eve")) % 2)
        campaign.change(excluded=["eve"])
    lines = cutline("campaign", "decisions", "--db", db, "--campaign", "crowd", "--nearest", "8").splitlines()
    visitor.get("/campaign", campaign="crowd")
    found = re.findall(r'<td data-name="(?:mean|probability|pulls|wrong)">(.*?)</td>', visitor.body.decode())
    by_hand = {line[:6]: line[6:].split() for line in lines[1:]}
    assert found == [
        value
        for arm in arms_of(visitor)
        for pulls, mean, likely, _, wrong, *_ in [by_hand[arm]]
        for value in (mean, likely, pulls, wrong)
    ]
    assert len(found) == 4 * len(arms)
    assert visitor.body.decode().count("above, known") == 1
    assert "above, known" in visitor.get("/arm", campaign="crowd", arm="item 0").page.text
    assert f"<dd>{by_hand['item 3'][2]}</dd>" in visitor.get("/arm", campaign="crowd", arm="item 3").body.decode()
    assert visitor.get("/workers", campaign="crowd", rates="yes").body.count(b">excluded</span>") == 1


def test_rates_are_refused_where_an_answer_is_not_yes_or_no(visitor: Visitor, db: str) -> None:
    Campaign.create(db, "strict", ["a"], 0.9, "LSA", 7).close()
    assert "rates" not in visitor.get("/workers", campaign="strict").body.decode()
    assert visitor.get("/workers", campaign="strict", rates="yes").status == 422
    assert "The threshold of campaign 'strict' is 0.9" in visitor.page.text


def test_the_arms_that_a_view_finds_are_counted(visitor: Visitor, db: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Campaign.open(db, "birds") as campaign:
        campaign.change(retire=["wren 59"])
        arms = len(campaign.decisions())
        above = sum(item.above is True for item in campaign.decisions())
    for query, count in (
        ({}, f"{arms} arms in all, 1 retired"),
        ({"search": "WREN 1"}, f"11 of {arms} arms"),
        ({"only": "above"}, f"{above} of {arms} arms"),
        ({"search": "nobody"}, f"0 of {arms} arms"),
    ):
        assert count in visitor.get("/campaign", campaign="birds", **query).page.text
    monkeypatch.setattr(paging, "COUNTED", 10)
    visitor.get("/campaign", campaign="birds", search="wren 1", order="id")
    assert f"more than 10 of {arms} arms" in visitor.page.text
    assert arms_of(visitor) == sorted(f"wren {number}" for number in (1, *range(10, 20)))


def test_an_arm_that_is_retired_says_so(visitor: Visitor, db: str) -> None:
    with Campaign.open(db, "birds") as campaign:
        campaign.change(retire=["wren 59"])
    assert "retired" in visitor.get("/arm", campaign="birds", arm="wren 59").page.text
    assert "retired" not in visitor.get("/arm", campaign="birds", arm="wren 58").page.text


def test_the_curve_ends_where_the_campaign_stands(reader: Visitor, read_only: str) -> None:
    with Campaign.open(read_only, "birds") as campaign:
        points, status = campaign.progress(), campaign.status()
    text = reader.get("/campaign", campaign="birds").body.decode()
    (line,) = re.findall(r'<polyline class="curve" points="(.*?)"', text)
    places = [tuple(map(float, place.split(","))) for place in line.split()]
    (top,) = re.findall(r'<div class="scale up" aria-hidden="true"><span>(\d+)</span>', text)
    assert len(places) == len(points)
    assert places[-1] == pytest.approx(
        (1000 * status.spent / 500, 400 * (1 - status.expected_errors / float(top))), abs=0.01
    )
    assert max(point.expected_errors for point in points) <= float(top)


def test_what_was_changed_of_a_campaign_is_shown(visitor: Visitor, db: str) -> None:
    with Campaign.open(db, "birds") as campaign:
        campaign.change(budget=600, labels=("not a bird", "bird"), retire=["wren 1"])
    text = visitor.get("/campaign", campaign="birds").page.text
    for line in ("budget is 600, was 500", "labels is not a bird,bird, was -", "arms retired, 1: wren 1"):
        assert f"Z: {line}\n" in text
    assert "Left of 600" in text


def test_the_pulse_changes_with_what_is_shown(visitor: Visitor, db: str) -> None:
    def pulses() -> list[str]:
        both = (visitor.get("/pulse").body, visitor.get("/pulse", campaign="birds").body)
        return [json.loads(body)["state"] for body in both]

    first = pulses()
    assert pulses() == first
    with Campaign.open(db, "birds") as campaign:
        (pull,) = campaign.ask()
        leased = pulses()
        campaign.tell(pull, 1)
    for states in zip(first, leased, pulses(), strict=True):
        assert len(set(states)) == 3


@pytest.mark.parametrize(
    "path", ["/", "/campaign?campaign=birds", "/arm?campaign=birds&arm=wren+1", "/label?campaign=birds"]
)
def test_no_page_holds_script_style_or_anything_from_elsewhere(reader: Visitor, path: str) -> None:
    reader.get(path)
    assert reader.status == 200
    policy = reader.headers["content-security-policy"]
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    for tag, given in reader.page.tags:
        assert "style" not in given
        assert not [name for name in given if name.startswith("on")]
        assert tag != "style"
        if tag in ("script", "link", "img"):
            assert (given.get("src") or given.get("href") or "").startswith("/static/")


def test_whoever_is_not_logged_in_is_sent_to_log_in_and_then_where_he_wanted(visitor: Visitor, db: str) -> None:
    with tokens_of(db) as tokens:
        token = tokens.create("vera", "viewer")
    visitor.get("/campaign", campaign="birds")
    assert "Log in" in visitor.page.text
    visitor.send("/login", token="cutline_1_wrong")
    assert (visitor.status, "not known" in visitor.page.text) == (401, True)
    visitor.send("/login", token=f" {token} ")
    assert "/campaign?campaign=birds" in visitor.url
    assert "vera" in visitor.page.text
    assert visitor.get("/label", campaign="birds").status == 403
    visitor.send("/logout") if visitor.page.forms else visitor.get("/").send("/logout")
    assert "Log in" in visitor.get("/campaign", campaign="birds").page.text


@pytest.mark.parametrize("then", ["//evil.example/", "https://evil.example/", "/\\evil.example", "", "javascript:1"])
def test_a_login_leads_nowhere_else(visitor: Visitor, db: str, then: str) -> None:
    with tokens_of(db) as tokens:
        token = tokens.create("vera", "viewer")
    visitor.get("/login", then=then).send("/login", token=token)
    assert visitor.status == 200
    assert visitor.url.startswith("http://127.0.0.1")


def test_a_labeller_sees_no_decision(visitor: Visitor, db: str) -> None:
    with tokens_of(db) as tokens:
        token = tokens.create("lena", "labeller", "birds")
    visitor.get("/login").send("/login", token=token)
    assert "/label?campaign=birds" in visitor.url
    for path in (
        "/campaign?campaign=birds",
        "/arm?campaign=birds&arm=a/b",
        "/api/v1/export?campaign=birds&what=decisions",
    ):
        assert visitor.get(path).status == 403
        assert "wren" not in visitor.page.text
    visitor.get("/").send("/label", reward="1")
    with Campaign.open(db, "birds") as campaign:
        assert campaign.answered("lena") == 1
