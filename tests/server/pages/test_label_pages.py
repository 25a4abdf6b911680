"""The page to label on, request by request."""

import html
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign, Settings
from cutline.campaign.wording import Wording
from cutline.errors import InvalidInputError
from cutline.policies.lsa import LSA
from cutline.server.labelling import Labelling, labelling_of
from cutline.server.pages.items import Media, Part, parts
from cutline.server.settings import ServerSettings
from servers import serving
from visitors import Visitor


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "x.db")
    Campaign.create(path, "birds", [f"item {i}" for i in range(6)], 0.5, "LSA", 20).close()
    return path


@pytest.fixture
def address(db: str) -> Iterator[str]:
    with serving(ServerSettings(db)) as address:
        yield address


def labeller(address: str, name: str) -> Visitor:
    return Visitor(address).get("/label", campaign="birds").send("/label/name", worker=name)


def results(db: str) -> list[tuple[str, float, str | None]]:
    with Campaign.open(db, "birds") as campaign:
        return [(result.arm, result.reward, result.worker) for result in campaign.results()]


def test_two_equal_posts_a_moment_apart_store_one_answer_and_lease_one_next_item(address: str, db: str) -> None:
    ann = labeller(address, "ann")
    where, fields = ann.page.form("/label")
    others = []
    for _ in range(2):
        others.append(Visitor(ann.url))
        others[-1].cookies = dict(ann.cookies)
    threads = [threading.Thread(target=other.post, args=(where, fields | {"reward": "1"})) for other in others]
    for thread in threads:
        thread.start()
        time.sleep(0.02)
    for thread in threads:
        thread.join()
    assert [other.status for other in others] == [200, 200]
    assert len(results(db)) == 1
    assert others[0].page.form("/label")[1]["pull"] == others[1].page.form("/label")[1]["pull"]
    with Campaign.open(db, "birds") as campaign:
        assert (campaign.status().spent, campaign.status().in_flight) == (1, 1)
    assert ["This answer had been stored already. It counts once." in other.page.text for other in others].count(True)


def test_who_has_the_last_item_in_another_tab_is_told_so_and_may_go_on_here(address: str, db: str) -> None:
    with Campaign.open(db, "birds") as campaign:
        campaign.change(retire=[f"item {i}" for i in range(2, 6)])
    first = labeller(address, "ann")
    second, third = Visitor(address), Visitor(address)
    second.cookies = third.cookies = first.cookies
    second.get("/label", campaign="birds")
    third.get("/label", campaign="birds")
    assert "Your other tab has the last items" in third.page.text
    first.send("/label", reward="1")
    for tab in (first, third.get("/label", campaign="birds")):
        assert "Your other tab has the last item\n" in tab.page.text
        assert "Thank you" not in tab.page.text
    here = next(link for link in third.page.links() if "pull=" in link and "last=" not in link)
    third.get(here).send("/label", reward="0")
    assert "Thank you" in third.page.text
    second.send("/label", reward="1")
    assert "You had answered this item before" in second.page.text
    assert len(results(db)) == 2


def test_who_has_the_last_of_the_budget_in_another_tab_is_told_so(address: str, db: str) -> None:
    with Campaign.open(db, "birds") as campaign:
        campaign.change(budget=1)
    first = labeller(address, "ann")
    second, bob = Visitor(address), labeller(address, "bob")
    second.cookies = first.cookies
    assert "Your other tab has the last item\n" in second.get("/label", campaign="birds").page.text
    assert "Nothing for you right now" in bob.page.text
    first.send("/label", reward="1")
    for visitor in (first, second.get("/label", campaign="birds"), bob.get("/label", campaign="birds")):
        assert "Thank you" in visitor.page.text


def test_another_answer_from_an_old_page_does_not_replace_the_first(address: str, db: str) -> None:
    ann = labeller(address, "ann")
    where, fields = ann.page.form("/label")
    ann.post(where, fields | {"reward": "1"}).post(where, fields | {"reward": "0"})
    assert "You had answered this item before" in ann.page.text
    assert [reward for _, reward, _ in results(db)] == [1.0]
    ann.send("/label", reward="0")
    assert "Your answer was changed." in ann.page.text
    assert [reward for _, reward, _ in results(db)] == [0.0]


def test_nobody_answers_skips_or_gives_back_what_another_has(address: str, db: str) -> None:
    ann, bob = labeller(address, "ann"), labeller(address, "bob")
    pull = ann.page.form("/label")[1]["pull"]
    token = bob.page.form("/label")[1]["csrf"]
    for path in ("/label", "/label/skip", "/label/back"):
        bob.post(f"{path}?campaign=birds", {"csrf": token, "pull": pull, "reward": "1"})
        assert bob.status == (204 if path == "/label/back" else 404)
    assert bob.get("/label", campaign="birds", pull=pull).status == 404
    assert bob.get("/label", campaign="birds", after=pull).status == 404
    with Campaign.open(db, "birds") as campaign:
        assert campaign.pull(pull).state == "in flight"
        assert results(db) == []


def test_a_form_that_no_page_of_ours_has_sent_changes_nothing(address: str, db: str) -> None:
    ann = labeller(address, "ann")
    where, fields = ann.page.form("/label")
    assert ann.post(where, {"pull": fields["pull"], "reward": "1"}).status == 403
    assert ann.post(where, fields | {"reward": "1", "csrf": "x"}).status == 403
    assert ann.post(where, fields | {"reward": "1"}, Origin="http://elsewhere.example").status == 403
    assert results(db) == []


@pytest.mark.parametrize("reward", ["2", "-1", "nan", "yes", ""])
def test_an_answer_that_is_no_reward_is_refused(address: str, db: str, reward: str) -> None:
    ann = labeller(address, "ann")
    assert ann.send("/label", reward=reward).status == 422
    assert "reward" in ann.page.text
    assert results(db) == []


@pytest.mark.parametrize("name", ["", " ", "x" * 101])
def test_a_name_must_be_some_letters(address: str, name: str) -> None:
    assert labeller(address, name).status == 422


@pytest.mark.parametrize("name", ["Żółć", "שלום", "🐦", "a; b=c", '"><script>'])
def test_a_name_is_kept_as_it_is(address: str, db: str, name: str) -> None:
    labeller(address, name).send("/label", reward="1")
    assert results(db)[0][2] == name


def test_a_campaign_that_is_not_there_is_a_page_that_says_so(address: str) -> None:
    ann = labeller(address, "ann")
    assert ann.get("/label", campaign="nothing").status == 404
    assert "No campaign is called 'nothing'; there are 'birds'." in ann.page.text


def test_an_item_is_shown_as_its_payload_says(tmp_path: Path) -> None:
    (tmp_path / "a b.png").write_bytes(b"")
    media = Media(tmp_path)
    assert parts("a b.png", None, media) == [Part("picture", "a b.png", is_file=True)]
    assert parts("x", "missing.png", media) == [Part("text", "missing.png")]
    assert parts("x", "https://example.org/a.PNG?size=2", media) == [
        Part("picture", "https://example.org/a.PNG?size=2")
    ]
    assert parts("x", "see https://example.org/a.png", media) == [Part("text", "see https://example.org/a.png")]
    assert parts("x", "data:audio/ogg;base64,AAAA", media) == [Part("sound", "data:audio/ogg;base64,AAAA")]
    assert parts("x", "data:text/html,<p>", media) == [Part("text", "data:text/html,<p>")]
    assert parts("x", "javascript:alert(1)//a.png", media) == [Part("text", "javascript:alert(1)//a.png")]
    assert parts("x", {"a": 9007199254740993, "b": ["c"]}, media) == [
        Part("text", "9007199254740993", "a"),
        Part("text", '[\n  "c"\n]', "b"),
    ]
    assert parts("x", ["one", "two"], media) == [Part("text", "one"), Part("text", "two")]
    assert parts("x", "", media) == [Part("text", "")]


@pytest.mark.parametrize(
    "name",
    [
        "../secret.png",
        "birds/../../secret.png",
        "/etc/passwd",
        "link.png",
        "birds",
        "",
        ".",
        "notes.txt",
        "page.html",
        "x" * 5000 + ".png",
        "a\0.png",
        "\ud800.png",
        "loop.png",
    ],
)
def test_nothing_is_shown_that_is_no_picture_or_sound_inside_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "media"
    (folder / "birds").mkdir(parents=True)
    for path in (tmp_path / "secret.png", folder / "notes.txt", folder / "page.html"):
        path.write_text("secret")
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    (folder / "loop.png").symlink_to(folder / "loop.png")
    assert Media(folder).find(name) is None
    assert Media(folder).find(str(tmp_path / "secret.png")) is None


def test_a_file_of_the_folder_is_sent_as_what_it_is_and_can_do_nothing(db: str, tmp_path: Path) -> None:
    folder = tmp_path / "media"
    folder.mkdir()
    (folder / "ä b.svg").write_text("<svg/>")
    with serving(ServerSettings(db, labelling=Labelling(media=folder))) as address:
        ann = Visitor(address).get("/media", file="ä b.svg")
        assert (ann.status, ann.body, ann.headers["content-type"]) == (200, b"<svg/>", "image/svg+xml")
        assert ann.headers["content-security-policy"].startswith("sandbox")
        assert ann.get("/media", file="../x.db").status == 404


def test_a_campaign_asks_with_its_own_words_and_else_with_the_servers(db: str) -> None:
    asked = labelling_of(question="Is it?", labels=("not a bird", "bird"), keys=None)
    with serving(ServerSettings(db, labelling=asked)) as address, Campaign.open(db, "birds") as campaign:
        ann = labeller(address, "ann")
        assert words_of(ann) == ("Is it?", "not a bird", "n", "bird", "y")
        campaign.change(question="A <wren>?", keys=("X", "w"))
        assert words_of(ann.get("/label", campaign="birds")) == ("A <wren>?", "not a bird", "X", "bird", "w")
        campaign.change(question=None, labels=("no", "ja"))
        assert words_of(ann.get("/label", campaign="birds")) == ("Is it?", "no", "X", "ja", "w")
        ann.send("/label", reward="1")
        pull = next(pull for arm in results(db) for pull in campaign.arm(arm[0]).pulls)
        assert "You answered ja" in ann.get("/label", campaign="birds", pull=pull.key).page.text


def words_of(visitor: Visitor) -> tuple[str, ...]:
    """Return the question of a page, and the word and key of each button."""
    text = visitor.body.decode()
    (question,) = re.findall("<h1><bdi>(.*?)</bdi></h1>", text)
    found = re.findall(r'aria-keyshortcuts="Arrow\w+ (\w)".*?<bdi>(.*?)</bdi>', text, re.DOTALL)
    return (html.unescape(question), *(text for key, word in found for text in (word, key)))


def test_what_server_and_campaign_have_no_words_for_has_the_usual_ones() -> None:
    made = labelling_of(media=None, question=None, labels=None, keys=None)
    assert made.wording_of(Settings(0.5, LSA(), 10)) == Wording("Yes or no?", ("no", "yes"), ("n", "y"))
    assert [made.wording.word(reward) for reward in (1.0, 0.0, 0.25)] == ["yes", "no", "0.25"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"labels": ("one",)}, "labels is 'one'; it must be two different words of 1 to 100 letters, as in 'no,yes'"),
        ({"labels": "ab"}, "labels is 'ab'; it must be two different words of 1 to 100 letters, as in 'no,yes'"),
        (
            {"labels": ("a", 1)},
            "labels is ('a', 1); it must be two different words of 1 to 100 letters, as in 'no,yes'",
        ),
        ({"labels": ("a", "A")}, "labels is 'a,A'; it must be two different words of 1 to 100 letters, as in 'no,yes'"),
        ({"labels": ("", "one")}, "label '': it must have 1 to 100 letters"),
        ({"keys": ("y", "n", "x")}, "keys is 'y,n,x'; it must be two different letters, as in 'n,y'"),
        ({"keys": ("n", "N")}, "keys is 'n,N'; it must be two different letters, as in 'n,y'"),
        ({"keys": ("yy", "n")}, "key 'yy': it must be one letter, as in 'n,y'"),
        ({"keys": (" ", "n")}, "key ' ': it must be one letter, as in 'n,y'"),
        ({"keys": ("s", "y")}, "key 's' is taken: s is the key to skip, u the one to undo"),
        ({"keys": ("n", "U")}, "key 'U' is taken: s is the key to skip, u the one to undo"),
        ({"question": " "}, "question is ' '; it must be text of 1 to 500 letters"),
        ({"question": "a\0"}, "question 'a\\x00' holds a NUL or half a character, which no database keeps"),
    ],
)
def test_words_that_cannot_work_are_refused_in_one_line(db: str, options: dict[str, Any], line: str) -> None:
    with Campaign.open(db, "birds") as campaign:
        for refuse in (labelling_of, campaign.change):
            with pytest.raises(InvalidInputError) as caught:
                refuse(**options)
            assert str(caught.value) == line


def test_a_folder_of_media_must_be_there() -> None:
    with pytest.raises(InvalidInputError, match=r"^media 'nowhere' is not a folder$"):
        labelling_of(media="nowhere")
