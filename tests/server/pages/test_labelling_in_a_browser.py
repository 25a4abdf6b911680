"""The page to label on, in a real browser."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browsers import PATIENCE, chromium, violations_everywhere
from cutline.campaign import Campaign
from cutline.campaign.wording import Wording
from cutline.server.labelling import Labelling
from cutline.server.pages import label_routes
from cutline.server.settings import ServerSettings
from servers import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

LABELLING = Labelling(Wording("Is it a bird?", ("not a bird", "bird")))


SOUND = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA=="
"""A millisecond of silence, as a WAV file."""


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


class Site:
    """A server on a database with one campaign, and browsers that visit it."""

    def __init__(self, address: str, db: str, browser: Browser, clock: Clock | None) -> None:
        self.address, self.db, self.clock = address, db, clock
        self._browser = browser
        self._contexts: list[BrowserContext] = []
        self.campaign = Campaign.open(db, "birds", clock=clock)

    def visitor(self, name: str, **options: Any) -> Page:
        """Return the page that somebody new sees after giving a name."""
        self._contexts.append(self._browser.new_context(**options))
        page = self._contexts[-1].new_page()
        page.goto(f"{self.address}/label?campaign=birds")
        page.fill("#worker", name)
        page.click("text=Start")
        page.wait_for_selector("#item")
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        self.campaign.close()

    def wait_for_leases(self, pulls: int) -> None:
        """Wait until so many pulls are in flight: the one on the page, and the one that was fetched ahead."""
        end = time.monotonic() + PATIENCE / 1000
        while self.campaign.status().in_flight != pulls:
            assert time.monotonic() < end
            time.sleep(0.02)

    def answers(self) -> dict[str, list[tuple[str | None, float]]]:
        """Return who gave which answer, by arm."""
        found: dict[str, list[tuple[str | None, float]]] = {}
        for result in self.campaign.results():
            found.setdefault(result.arm, []).append((result.worker, result.reward))
        return found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


Open = Callable[..., Site]


@pytest.fixture
def visit(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    """Serve a campaign called birds with the arms and the budget that are given."""
    with contextmanager(_sites)(browser, tmp_path) as open_site:
        yield open_site


def _sites(browser: Browser, tmp_path: Path) -> Iterator[Open]:
    from contextlib import ExitStack

    with ExitStack() as stack:

        def open_site(
            arms: Any, budget: int, labelling: Labelling = LABELLING, clock: Clock | None = None, **options: Any
        ) -> Site:
            db = str(tmp_path / "birds.db")
            Campaign.create(db, "birds", arms, 0.5, "LSA", budget, clock=clock, **options).close()
            address = stack.enter_context(serving(ServerSettings(db, labelling=labelling, clock=clock)))
            site = Site(address, db, browser, clock)
            stack.callback(site.close)
            return site

        yield open_site


def item(page: Page) -> str:
    return page.inner_text("#item").strip()


def press(page: Page, key: str) -> str:
    """Press a key, wait for the next item or page, and return the item that was there before."""
    before, address = item(page), page.url
    page.keyboard.press(key)
    page.wait_for_url(lambda url: url != address, wait_until="commit")
    return before


def test_two_people_label_by_key_until_the_budget_is_spent(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(30)], 60, keys=("x", "b"))
    people = {name: site.visitor(name) for name in ("ann", "bob")}
    given: dict[str, dict[str, float]] = {"ann": {}, "bob": {}}
    for turn in range(80):
        for name, page in people.items():
            if page.query_selector("form.two"):
                key, reward = [("x", 0.0), ("b", 1.0), ("ArrowLeft", 0.0), ("ArrowRight", 1.0)][turn % 4]
                given[name][press(page, key)] = reward
    for name, page in people.items():
        expect(page.locator("h1")).to_have_text("Thank you")
        expect(page.locator("main")).to_contain_text(f"You have answered {len(given[name])} items")
        expect(page.locator("main")).to_contain_text("All the answers that were planned are in.")
    status = site.campaign.status()
    assert (status.spent, status.in_flight, status.left) == (60, 0, 0)
    expected = {
        arm: sorted((name, given[name][arm]) for name in given if arm in given[name])
        for arm in {*given["ann"], *given["bob"]}
    }
    assert {arm: sorted(answers, key=str) for arm, answers in site.answers().items()} == expected


def test_the_last_answer_can_be_undone_and_what_was_skipped_does_not_come_back(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(8)], 40)
    page = site.visitor("ann")
    skipped = press(page, "s")
    expect(page.locator("#undo")).to_have_count(0)
    first = press(page, "y")
    second = item(page)
    press(page, "u")
    assert item(page) == first
    expect(page.locator("main")).to_contain_text("You answered bird")
    expect(page.get_by_role("button", name="bird", exact=True)).to_have_attribute("aria-pressed", "true")
    press(page, "n")
    assert item(page) == second
    expect(page.locator("#said")).to_have_text("Your answer was changed.")
    press(page, "s")
    assert press(page, "u") not in (first, second, skipped)
    assert item(page) == first
    page.click("text=go on")
    page.wait_for_selector("form.two button:not([aria-pressed])")
    last = press(page, "y")
    expect(page.locator("#answered")).to_have_text("2")
    assert len({skipped, first, second, last, item(page)}) == 5
    assert site.answers() == {first: [("ann", 0.0)], last: [("ann", 1.0)]}
    assert [answer.reward for answer in site.campaign.arm(first).pulls[0].answers] == [1.0, 0.0]


def test_a_double_click_stores_one_answer(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(6)], 40)
    page = site.visitor("ann")
    for turn in (1, 2):
        page.wait_for_load_state("networkidle")  # the next item is there at once, below the second click
        first = item(page)
        page.dblclick("button.second")
        expect(page.locator("#answered")).to_have_text(str(turn))
        page.wait_for_load_state("networkidle")
        assert site.answers()[first] == [("ann", 1.0)]
        assert len(site.answers()) == turn
        page.wait_for_timeout(500)


def test_two_tabs_give_one_answer_and_the_second_one_says_so(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(4)], 40)
    one = site.visitor("ann")
    other = one.context.new_page()
    other.goto(one.url)
    first = item(one)
    press(one, "y")
    other.keyboard.press("n")
    expect(other.locator("#said")).to_contain_text("You had answered this item before")
    expect(one.locator("#answered")).to_have_text("1")
    assert site.answers() == {first: [("ann", 1.0)]}


def test_the_back_button_shows_what_was_answered(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(4)], 40)
    page = site.visitor("ann")
    first = press(page, "y")
    press(page, "n")
    page.go_back()
    page.go_back()
    expect(page.locator("main")).to_contain_text("You answered bird")
    assert item(page) == first
    page.reload()
    expect(page.locator("main")).to_contain_text("You answered bird")
    page.go_forward()
    expect(page.locator("main")).to_contain_text("You answered not a bird")


def test_an_ended_lease_counts_while_there_is_room_and_is_refused_when_its_place_is_taken(visit: Open) -> None:
    site = visit(["one", "two"], 2, clock=Clock())
    assert site.clock is not None
    ann = site.visitor("ann", java_script_enabled=False)
    site.clock.now += 601
    press_button(ann, "bird")
    assert site.campaign.status().spent == 1
    late = item(ann)
    site.clock.now += 601
    (pull,) = site.campaign.ask(1, worker="bob")
    site.campaign.tell(pull, 1)
    press_button(ann, "not a bird")
    expect(ann.locator("#said")).to_have_text(
        "Your time for that item was over and its place has been taken. The answer was not stored."
    )
    assert late not in [arm for arm, answers in site.answers().items() if ("ann", 0.0) in answers]
    expect(ann.locator("h1")).to_have_text("Thank you")


def press_button(page: Page, name: str) -> str:
    before = item(page)
    page.get_by_role("button", name=name, exact=True).click()
    return before


def test_whoever_comes_back_after_the_lease_has_ended_gets_another_item(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(4)], 10, clock=Clock())
    assert site.clock is not None
    page = site.visitor("ann")
    site.clock.now += 601
    page.reload()
    expect(page.locator("#said")).to_have_text("Your time for that item was over. Here is another one.")
    press(page, "y")
    expect(page.locator("#answered")).to_have_text("1")
    assert site.campaign.status().spent == 1


def test_a_closed_tab_gives_its_items_back(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(4)], 40)
    page = site.visitor("ann")
    site.wait_for_leases(2)
    page.goto("about:blank")
    site.wait_for_leases(0)


def test_the_page_works_without_javascript(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(3)], 40)
    page = site.visitor("ann", java_script_enabled=False)
    first = press_button(page, "bird")
    skipped = press_button(page, "Skip")
    page.click("text=Undo")
    assert item(page) == first
    press_button(page, "not a bird")
    expect(page.locator("#said")).to_have_text("Your answer was changed.")
    last = press_button(page, "bird")
    expect(page.locator("h1")).to_have_text("Thank you")
    assert len({first, skipped, last}) == 3
    assert site.answers() == {first: [("ann", 0.0)], last: [("ann", 1.0)]}
    assert site.campaign.status().in_flight == 0


def test_an_answer_that_cannot_be_sent_is_sent_until_it_arrives(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(4)], 40)
    page = site.visitor("ann")
    page.wait_for_load_state("networkidle")
    page.route("**/label?*", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    first = press(page, "y")
    expect(page.locator("#said")).to_contain_text("Not stored yet")
    assert site.answers() == {}
    page.unroute("**/label?*")
    expect(page.locator("#answered")).to_have_text("1")
    expect(page.locator("#said")).to_have_text("")
    assert site.answers() == {first: [("ann", 1.0)]}


def test_who_has_to_wait_sees_what_comes_back(visit: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_routes, "_AGAIN", 0.2)
    site = visit(["one"], 1)
    (pull,) = site.campaign.ask(1, worker="bob")
    page = site.visitor("ann")
    expect(page.locator("h1")).to_have_text("Nothing for you right now")
    threading.Timer(0.1, site.campaign.abandon, [pull]).start()
    expect(page.locator("h1")).to_have_text("Is it a bird?")
    assert item(page) == "one"


def test_pictures_sound_and_fields_are_shown_and_nothing_outside_the_folder(visit: Open, tmp_path: Path) -> None:
    media = tmp_path / "media"
    media.mkdir()
    svg = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>'
    (media / "wren 1.svg").write_text(svg)
    (tmp_path / "secret.svg").write_text(svg)
    arms = {
        "picture": "wren 1.svg",
        "sound": f"data:audio/wav;base64,{SOUND}",
        "outside": "../secret.svg",
        "fields": {"title": '"><script>window.hacked = 1</script>', "drawing": "wren 1.svg", "year": 9007199254740993},
        "plain.svg": None,
    }
    labelling = Labelling(media=media)
    site = visit(arms, 40, labelling)
    page = site.visitor("ann")
    seen = set()
    for _ in arms:
        if page.locator("#item audio").count():
            page.wait_for_function("document.querySelector('#item audio').readyState > 0")  # it can be played
            page.locator("#item audio").focus()  # and to have played it does not take the keys of the answers
            seen.add("sound")
        elif page.locator("#item dl").count():
            texts = page.locator("#item dd").all_inner_texts()
            assert (texts[1], texts[2]) == ('"><script>window.hacked = 1</script>', "9007199254740993")
            seen.add("fields")
        if page.locator("#item img").count():
            expect(page.locator("#item img")).to_have_js_property("naturalWidth", 40)
            seen.add("picture")
        seen.add(item(page))
        press(page, "y")
    assert {"sound", "fields", "picture", "../secret.svg", "plain.svg"} <= seen
    assert page.evaluate("window.hacked") is None


def test_the_keyboard_alone_is_enough(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(3)], 40)
    page = site.visitor("ann")
    first = item(page)
    for _ in range(10):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.innerText").startswith("bird"):
            break
    press(page, "Enter")
    assert page.evaluate("document.activeElement.id") == "item"
    expect(page.locator("#answered")).to_have_text("1")
    assert site.answers() == {first: [("ann", 1.0)]}


def test_axe_finds_nothing_at_any_width_in_light_and_dark(visit: Open) -> None:
    site = visit([f"item {i}" for i in range(2)], 40)
    page = site.visitor("ann")
    assert violations_everywhere(page) == []
    press(page, "y")
    press(page, "u")
    assert violations_everywhere(page) == []
    page.click("text=go on")
    page.wait_for_selector("form.two button:not([aria-pressed])")
    press(page, "y")
    expect(page.locator("h1")).to_have_text("Thank you")
    assert violations_everywhere(page) == []
    page.context.clear_cookies()
    page.reload()
    expect(page.locator("h1")).to_have_text("Who is labelling?")
    assert violations_everywhere(page) == []
