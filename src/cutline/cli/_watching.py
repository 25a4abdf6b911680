"""What is to be seen of a campaign while it runs: a live table on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cutline.cli._streams import say
from cutline.cli._tables import number
from cutline.text import shown

if TYPE_CHECKING:
    from rich.console import RenderableType

    from cutline.campaign import Campaign, Status

Watch = Callable[[str | None], object]

_REDRAW = 0.5
_EVERY = 10.0
_NEAREST = 8
_SHARE = 20.0
"""Looking at the campaign takes at most one part in so many of the time."""


@contextmanager
def watching(campaign: "Campaign") -> Iterator[Watch]:
    """Yield what to call in every turn of a run, with news or None; all is said on standard error."""
    if sys.stderr is not None and sys.stderr.isatty():
        with _live(campaign) as watch:
            yield watch
    else:
        yield _lines(campaign)


def progress_line(status: "Status") -> str:
    """Return where a campaign stands, on one line."""
    return (
        f"spent {status.spent:,} of {status.settings.budget:,}, in flight {status.in_flight:,}, left {status.left:,}, "
        f"expected errors {number(status.expected_errors, 2)}"
    )


def _lines(campaign: "Campaign") -> Watch:
    last = time.monotonic()

    def watch(news: str | None) -> None:
        nonlocal last
        if news is not None:
            say(shown(news, 300))
        if time.monotonic() - last >= _EVERY:
            say(progress_line(campaign.status()))
            last = time.monotonic()

    return watch


@contextmanager
def _live(campaign: "Campaign") -> Iterator[Watch]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    due = 0.0

    with Live(console=console, auto_refresh=False, transient=True) as live:

        def watch(news: str | None) -> None:
            nonlocal due
            if news is not None:
                console.print(shown(news, 300), markup=False, highlight=False)
            before = time.monotonic()
            if before >= due:
                live.update(_picture(campaign), refresh=True)
                after = time.monotonic()
                due = after + max(_REDRAW, _SHARE * (after - before))

        watch(None)
        yield watch


def _picture(campaign: "Campaign") -> "RenderableType":
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from cutline.campaign.files.exporting import in_words

    status = campaign.status()
    nearest = Table("nearest to the line", box=None, pad_edge=False)
    for heading in ("pulls", "mean", "decision", "wrong"):
        nearest.add_column(heading, justify="right")
    for item in campaign.decisions(nearest=_NEAREST):
        nearest.add_row(Text(shown(item.arm)), f"{item.pulls:,}", number(item.mean), in_words(item), number(item.wrong))
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        ProgressBar(total=status.settings.budget, completed=status.spent, width=60),
        f"{status.spent / status.settings.budget:.0%}",
    )
    return Group(bar, Text(progress_line(status)), Text(""), nearest)
