"""Small suites, and runs of them as ``cutline pytest`` makes them."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign, RunEvent, RunReport
from cutline.campaign.running.runner import run_command_batches
from cutline.integrations.pytest_suite import Suite, collect, handling

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Write a file of a suite whose root is the folder of the test, which is the current one.

    Its pytest loads no plugins but those that are named: that takes a third of the time.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("PYTEST_ADDOPTS", "PYTEST_XDIST_WORKER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")

    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    return write


class Run:
    """A run of a suite, with what is known of it afterwards."""

    def __init__(self, suite: Suite, budget: int, batch: Any = 100, jobs: int = 1, **options: Any) -> None:
        how = handling(options.pop("on_timeout", "zero"), options.pop("setup_errors", "fail"))
        command = suite.command(timeout=options.pop("timeout", 300.0), jobs=jobs, **options)
        self.news: list[str] = []
        with Campaign.create(None, "run", suite.tests, 0.5, "Uniform", budget) as campaign:
            self.report: RunReport = run_command_batches(campaign, command, batch, jobs, how, watch=self._watch)
            self.means = {item.arm.partition("::")[2]: item.mean for item in campaign.decisions()}

    def _watch(self, event: RunEvent) -> None:
        self.news += [event.text] if event.text else []


@pytest.fixture
def run(write: Write) -> Callable[..., Run]:
    """Make ``budget`` runs of the tests of a suite, or of what pytest collects with some arguments."""

    def run(suite: Suite | Sequence[str], budget: int, **options: Any) -> Run:
        return Run(suite if isinstance(suite, Suite) else collect(suite), budget, **options)

    return run
