"""Files of labels for tests of the command import, and what a campaign holds of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from cutline.campaign import Campaign
from ledger import audit

Run = Callable[..., Any]

ROWS = [("t1", "ann", 1), ("t2", "ann", 0), ("t1", "bob", 1), ("t3", "cid", 0)]
CSV = "task,worker,label\n" + "".join(f"{task},{worker},{label}\n" for task, worker, label in ROWS)
NEW = ("--threshold", "0.5", "--budget", "10")


def results(name: str = "main") -> list[tuple[str, str | None, float]]:
    with Campaign.open("x.db", name) as campaign:
        return [(item.arm, item.worker, item.reward) for item in campaign.results()]


def load(cutline: Run, name: str, content: str | bytes, *more: str) -> str:
    """Import a file; return what is said."""
    Path(name).write_bytes(content.encode() if isinstance(content, str) else content)
    done = cutline("import", name, "--db", "x.db", *more)
    assert (done.status, done.out) == (0, ""), done.err
    return str(done.err)


def pulls_and_means() -> list[tuple[int, float | None]]:
    with Campaign.open("x.db", "main") as campaign:
        audit(campaign)
        return [(item.pulls, item.mean) for item in campaign.decisions()]
