"""Makes the pictures of docs/service.md: ``PYTHONPATH=tests python tests/server/pages/make_pictures.py``."""

import random
import tempfile
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, FloatRect, Page, ViewportSize

from browsers import DESKTOP, PHONE, chromium
from cutline.campaign import Campaign
from cutline.server.labelling import Labelling
from cutline.server.settings import ServerSettings
from servers import serving

IMAGES = Path(__file__).parents[3] / "docs" / "images"

WORDS: Any = {"question": "Is there a bird in the picture?", "labels": ("not a bird", "bird")}
NAMES = """wren
robin
blackbird
sparrow
dove
goldfinch
magpie
jay
kestrel
owl
swift
starling
bat
moth
drone
kite
squirrel
hoverfly""".splitlines()
BIRDS = 12
LOOKS: tuple[tuple[str, ViewportSize, Literal["dark", "light"]], ...]
LOOKS = ("phone", PHONE, "dark"), ("label", DESKTOP, "light")

BIRD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 320" width="480" height="320">
<rect width="480" height="320" fill="#bcd7e6"/><path d="M0 250h480v70H0z" fill="#7a9a63"/>
<path d="M60 235h360" stroke="#5b4130" stroke-width="10" stroke-linecap="round"/>
<path d="M170 190c0-60 60-90 110-70 18-28 62-22 66 10l26 10-26 10c-8 50-52 80-102 80-40 0-74-12-74-40z" fill="#8d5a3b"/>
<path d="M170 190L96 150l24 62z" fill="#6e4429"/><circle cx="318" cy="126" r="6" fill="#1c1c1c"/>
<path d="M230 228v12M256 228v12" stroke="#3b2a1e" stroke-width="5"/></svg>"""


def fill(db: str) -> None:
    """Create the campaign of the pictures, with answers of five people who are mostly right."""
    draw = random.Random(3)
    arms = {f"{name} {number}": "bird.svg" for number in range(1, 7) for name in NAMES}
    with Campaign.create(db, "birds", arms, 0.5, "LSA", 900, target_errors=4, **WORDS) as campaign:
        for turn in range(430):
            (pull,) = campaign.ask(1, worker=("ann", "bob", "eve", "kim", "lea")[turn % 5]) or (None,)
            if pull is not None:
                is_bird = NAMES.index(pull.arm.rsplit(" ", 1)[0]) < BIRDS
                campaign.tell(pull, is_bird if draw.random() < 0.85 else not is_bird)


def picture(page: Page, name: str, height: int | None = None) -> None:
    """Write what a page shows as a PNG, as much of it as is ``height`` pixels high."""
    size = page.viewport_size
    assert size is not None
    clip = None if height is None else FloatRect(x=0, y=0, width=size["width"], height=height)
    page.screenshot(path=IMAGES / f"service-{name}.png", clip=clip, full_page=height is not None)


def make(browser: Browser, address: str) -> None:
    """Make the pictures."""
    for name, size, scheme in LOOKS:
        with browser.new_context(viewport=size, color_scheme=scheme) as context:
            page = context.new_page()
            page.goto(f"{address}/label?campaign=birds")
            page.fill("#worker", f"me {name}")
            page.click("text=Start")
            page.wait_for_selector("#item img")
            page.wait_for_load_state("networkidle")
            picture(page, name)
            if name == "label":
                page.goto(f"{address}/campaign?campaign=birds")
                picture(page, "campaign", 1500)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "bird.svg").write_text(BIRD)
        database = f"{folder}/x.db"
        fill(database)
        labelling = Labelling(media=Path(folder))
        with serving(ServerSettings(database, labelling=labelling)) as where, chromium() as started:
            make(started, where)
