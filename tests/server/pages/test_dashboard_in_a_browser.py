"""The dashboard in a real browser, and both behind a proxy."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from browsers import chromium, violations_everywhere
from cutline.campaign import Campaign
from cutline.server.access.tokens import tokens_of
from cutline.server.settings import ServerSettings
from servers import serving

pytestmark = [pytest.mark.browser, pytest.mark.slow]

ODD = ["a/b", '"><script>document.title = 1</script>', "9007199254740993", "🏁", "שלום", "x" * 10_000]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    with browser.new_context() as context:
        yield context.new_page()


@pytest.fixture
def db(tmp_path: Path) -> str:
    path = str(tmp_path / "x.db")
    arms = [*ODD, *(f"wren {i}" for i in range(40))]
    Campaign.create(path, "birds", arms, 0.5, "LSA", 200, target_errors=1).close()
    return path


def test_numbers_change_while_a_command_measures_and_end_as_it_ends(
    page: Page, db: str, start_process: Callable[..., "subprocess.Popen[Any]"]
) -> None:
    with serving(ServerSettings(db)) as address, Campaign.open(db, "birds") as campaign:
        page.goto(f"{address}/campaign?campaign=birds")
        page.evaluate("window.stayed = true")
        spent = page.locator("#far dd").first
        expect(spent).to_have_text("0")
        process = start_process(
            [sys.executable, "-m", "cutline", "run", "--db", db, "--", "sh", "-c", 'test "$0" != 🏁', "{arm}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        expect(spent).not_to_have_text("0")
        assert process.wait(120) == 0
        status = campaign.status()
        assert status.finished is not None
        expect(page.locator("#running")).to_have_text(status.finished.value)
        expect(spent).to_have_text(f"{status.spent:,}")
        expect(page.locator("#far")).to_contain_text(f"{status.expected_errors:,.2f}")
        assert page.locator("#curve polyline").count() == 1
        assert page.evaluate("window.stayed") is True


def test_axe_finds_nothing_at_any_width_in_light_and_dark(page: Page, db: str) -> None:
    with serving(ServerSettings(db)) as address, Campaign.open(db, "birds") as campaign:
        for turn in range(3):
            for pull in campaign.ask(40, worker=f"worker {turn}"):
                campaign.tell(pull, len(pull.arm) % 2)
        campaign.change(workers="weighed", excluded=["worker 1", "nobody yet"], known={"wren 1": True})
        for path in (
            "/",
            "/campaign?campaign=birds",
            "/arm?campaign=birds&arm=a%2Fb",
            "/workers?campaign=birds&rates=yes",
            "/known?campaign=birds&new=1",
            "/login",
        ):
            page.goto(address + path)
            assert violations_everywhere(page) == [], path
        assert page.title() != "1"


def test_a_table_is_read_by_links_and_an_arm_of_any_length_opened(page: Page, db: str) -> None:
    with serving(ServerSettings(db)) as address:
        page.goto(f"{address}/campaign?campaign=birds")
        page.get_by_label("Id contains").fill("xxx")
        page.get_by_role("button", name="Show").click()
        page.locator("#arms tbody a").click()
        assert page.inner_text("h1").startswith("xxx")
        expect(page.locator("#history")).to_contain_text("It has not been asked for yet.")
        page.go_back()
        page.get_by_label("Id contains").fill("")
        page.get_by_label("Decision").select_option("undecided")
        page.get_by_role("button", name="Show").click()
        page.get_by_role("link", name="After").click()
        expect(page.locator("#arms tbody tr")).to_have_count(21)
        page.get_by_role("link", name="Pulls").click()
        expect(page.locator("th[aria-sort=descending]")).to_contain_text("Pulls")


def test_a_link_logs_in_once(page: Page, browser: Browser, db: str) -> None:
    with tokens_of(db) as tokens:
        tokens.create("lena", "labeller", "birds")
        link = tokens.link("lena")
    with serving(ServerSettings(db)) as address:
        page.goto(f"{address}/login#{link}")
        page.wait_for_selector("form.two")
        expect(page.locator("header")).to_contain_text("lena")
        assert link not in page.url
        with browser.new_context() as context:
            other = context.new_page()
            other.goto(f"{address}/login#{link}")
            expect(other.locator("#said")).to_contain_text("has been used")


def test_whoever_may_only_read_finds_no_way_to_label(page: Page, db: str) -> None:
    with tokens_of(db) as tokens:
        token = tokens.create("vera", "viewer", "birds")
    with serving(ServerSettings(db)) as address:
        page.goto(address)
        page.get_by_label("Token").fill(token)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("birds")
        expect(page.get_by_role("link", name="Label", exact=True)).to_have_count(0)
        response = page.goto(f"{address}/label?campaign=birds")
        assert response is not None
        assert response.status == 403
        expect(page.locator("main")).to_contain_text("A viewer's token does not allow this (measure) on this campaign")


@pytest.fixture
def proxied(tmp_path: Path, start_process: Callable[..., "subprocess.Popen[Any]"]) -> Callable[[str], str]:
    """Have nginx pass /labels/ on to a server; return where it listens."""

    def start(address: str) -> str:
        nginx = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
        if nginx is None and os.environ.get("CUTLINE_NOTHING_SKIPPED") != "1":
            pytest.skip("no nginx on this machine")
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        temporary = "".join(
            f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (tmp_path / "nginx.conf").write_text(
            f"""daemon off; master_process off; pid {tmp_path}/nginx.pid; error_log {tmp_path}/error.log;
            events {{}}
            http {{
              access_log off; {temporary}
              server {{
                listen 127.0.0.1:{port};
                location /labels/ {{
                  proxy_pass {address}/;
                  proxy_set_header Host $http_host;
                  proxy_set_header X-Forwarded-Proto $scheme;
                  proxy_set_header X-Forwarded-For $remote_addr;
                }}
              }}
            }}"""
        )
        start_process([nginx, "-e", f"{tmp_path}/error.log", "-c", f"{tmp_path}/nginx.conf"])
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.05)
        return f"http://127.0.0.1:{port}/labels"

    return start


def test_arms_of_any_id_are_found_opened_and_known_and_workers_excluded_behind_a_proxy(
    page: Page, tmp_path: Path, proxied: Callable[[str], str]
) -> None:
    db, arms = str(tmp_path / "odd.db"), [*ODD, "🏁" * 1_000, f"\u202e{ODD[4]}"]
    Campaign.create(db, "odd", arms, 0.5, "LSA", 20, workers="weighed").close()
    with tokens_of(db) as tokens:
        owner = tokens.create("olga", "owner")
    with serving(ServerSettings(db, root_path="/labels")) as direct:
        address = proxied(direct)
        with Campaign.open(address, "odd", token=owner) as campaign:
            for arm in arms:
                campaign.tell(campaign.ask(1, worker=arm[:100])[0], 1)
        page.goto(f"{address}/campaign?campaign=odd")
        page.get_by_label("Token").fill(owner)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("odd")
        for arm in arms:
            page.goto(f"{address}/campaign?campaign=odd")
            page.get_by_label("Id contains").fill(arm[:200])
            page.get_by_role("button", name="Show").click()
            page.locator("#arms tbody a").last.click()
            page.get_by_role("button", name="It is yes").click()
            expect(page.locator("#decision")).to_have_text("above, known")
        page.goto(f"{address}/workers?campaign=odd")
        for count, _ in enumerate(arms, 1):
            page.get_by_role("button", name="Exclude").first.click()
            expect(page.get_by_role("button", name="Bring back")).to_have_count(count)
        with Campaign.open(db, "odd") as campaign:
            assert set(campaign.settings.excluded) == {arm[:100] for arm in arms}
            assert [(item.arm, item.known) for item in campaign.decisions()] == [(arm, True) for arm in arms]


def test_people_log_in_label_and_look_behind_a_proxy_with_a_root_path(
    page: Page, browser: Browser, db: str, proxied: Callable[[str], str]
) -> None:
    with tokens_of(db) as tokens:
        owner, labeller = tokens.create("olga", "owner"), tokens.create("lena", "labeller", "birds")
    with serving(ServerSettings(db, root_path="/labels")) as direct:
        address = proxied(direct)
        page.goto(f"{address}/campaign?campaign=birds")
        expect(page.locator("h1")).to_have_text("Log in")
        page.get_by_label("Token").fill(owner)
        page.keyboard.press("Enter")
        expect(page.locator("h1")).to_have_text("birds")
        assert page.url == f"{address}/campaign?campaign=birds"
        assert f"{address}/label?campaign=birds" in page.inner_text("#join-people")
        with browser.new_context() as context:
            other = context.new_page()
            other.goto(f"{address}/")
            other.get_by_label("Token").fill(labeller)
            other.keyboard.press("Enter")
            other.wait_for_selector("form.two")
            other.keyboard.press("y")
            expect(other.locator("#answered")).to_have_text("1")
            response = other.goto(f"{address}/campaign?campaign=birds")
            assert response is not None
            assert response.status == 403
            other.goto(f"{address}/")
            other.get_by_role("button", name="Log out").click()
            expect(other.locator("h1")).to_have_text("Log in")
            other.go_back()
            expect(other.locator("h1")).to_have_text("Log in")
        expect(page.locator("#far dd").first).to_have_text("1")
        page.locator("#arms tbody a").first.click()
        expect(page.locator("#history")).to_be_visible()
