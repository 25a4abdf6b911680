"""A browser for the tests of pages: the system's Chromium, without a screen."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize, expect, sync_playwright

PHONE, DESKTOP = ViewportSize(width=360, height=740), ViewportSize(width=1280, height=800)

_AXE = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
"""What axe looks for, and that it reports nothing else."""

PATIENCE = 30_000
"""Milliseconds until what a page should show counts as missing, on a machine that is busy with other work."""

expect.set_options(timeout=PATIENCE)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Chromium, and stop it in the end; skip the test where there is none."""
    path = shutil.which("chromium")
    if path is None and os.environ.get("CUTLINE_NOTHING_SKIPPED") != "1":
        pytest.skip("no Chromium on this machine")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield started
        finally:
            started.close()


def violations(page: Page) -> list[str]:
    """Return what axe finds wrong with a page, as rule and element."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    run = "options => axe.run(options).then((results) => results.violations)"
    found: list[dict[str, Any]] = page.evaluate(run, _AXE)
    return [f"{rule['id']}: {node['html']}" for rule in found for node in rule["nodes"]]


def violations_everywhere(page: Page) -> list[str]:
    """Return what axe finds on a telephone and on a desk, in light and in dark, and where a page is too wide."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size in (PHONE, DESKTOP):
            page.set_viewport_size(size)
            found += [f"{scheme}, {size['width']}: {line}" for line in violations(page)]
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > size["width"]:
                found.append(f"{scheme}, {size['width']}: {wide} pixels wide")
    return found
