"""What is to be seen of a campaign while it runs: a table that changes, or plain lines where nothing can change."""

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from cutline.campaign.results import Decision, Status, in_words
from cutline.campaign.running.events import RunEvent, Watch
from cutline.campaign.running.sources import Runnable
from cutline.errors import CutlineError
from cutline.rows import html_table
from cutline.text import number, printable, shown

if TYPE_CHECKING:
    from rich.console import RenderableType

_REDRAW = 0.5
_EVERY = 10.0
_NEAREST = 8
_SHARE = 20.0
"""Looking at the campaign takes at most one part in so many of the time."""


@runtime_checkable
class _Decides(Protocol):
    """A campaign that says which of its arms are likeliest to be wrong."""

    def decisions(self, nearest: int | None = None) -> Sequence[Decision]: ...


class _Stands(Protocol):
    """Whatever says where it stands."""

    def status(self) -> Status: ...


@contextmanager
def watching(campaign: Runnable, watch: Watch | None, progress: bool) -> Iterator[Watch]:
    """Yield what to call with each event of a run: it calls ``watch``, and with ``progress`` shows where the run is.

    All is said on standard error, or in the notebook that this is called from.
    """
    if not progress:
        yield watch or _ignore
        return
    with _shown(campaign) as show:

        def both(event: RunEvent) -> None:
            show(event)
            if watch is not None:
                watch(event)

        yield both


def progress_line(status: Status) -> str:
    """Return where a campaign stands, on one line."""
    return (
        f"spent {status.spent:,} of {status.settings.budget:,}, in flight {status.in_flight:,}, left {status.left:,}, "
        f"expected errors {number(status.expected_errors, 2)}"
    )


def _ignore(event: RunEvent) -> None:
    """Watch nothing."""


@contextmanager
def _shown(campaign: Runnable) -> Iterator[Watch]:
    display = _display_of_notebook()
    if display is not None:
        try:
            yield _redrawing(lambda: display(_Page.of(campaign)), _write)
        finally:
            with suppress(CutlineError):  # what ended the run is what counts
                display(_Page.of(campaign))
    elif sys.stderr is not None and sys.stderr.isatty():
        with _live(campaign) as watch:
            yield watch
    else:
        yield _lines(campaign)


def _lines(campaign: Runnable) -> Watch:
    last = time.monotonic()

    def watch(event: RunEvent) -> None:
        nonlocal last
        if event.text is not None:
            _write(shown(event.text, 300))
        if time.monotonic() - last >= _EVERY:
            _write(progress_line(campaign.status()))
            last = time.monotonic()

    return watch


def _write(text: str) -> None:
    """Write a line to standard error; where that takes nothing, the run goes on all the same."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(printable(text), file=sys.stderr, flush=True)


def _redrawing(draw: Callable[[], object], say: Callable[[str], object]) -> Watch:
    """Return what says the texts of events, and draws as often as it is worth its time."""
    due = 0.0

    def watch(event: RunEvent) -> None:
        nonlocal due
        if event.text is not None:
            say(shown(event.text, 300))
        before = time.monotonic()
        if before >= due:
            draw()
            after = time.monotonic()
            due = after + max(_REDRAW, _SHARE * (after - before))

    watch(RunEvent("waiting"))
    return watch


@contextmanager
def _live(campaign: Runnable) -> Iterator[Watch]:
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False, transient=True) as live:
        yield _redrawing(
            lambda: live.update(_picture(campaign), refresh=True),
            lambda text: console.print(text, markup=False, highlight=False),
        )


def _nearest(campaign: _Stands) -> list[dict[str, Any]]:
    """Return the arms that are likeliest to be wrong, as rows of a table."""
    decisions = campaign.decisions(nearest=_NEAREST) if isinstance(campaign, _Decides) else []
    return [
        {
            "nearest to the line": shown(item.arm),
            "pulls": f"{item.pulls:,}",
            "mean": number(item.mean),
            "decision": in_words(item),
            "wrong": number(item.wrong),
        }
        for item in decisions
    ]


def _picture(campaign: Runnable) -> "RenderableType":
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    status, rows = campaign.status(), _nearest(campaign)
    nearest = Table(box=None, pad_edge=False)
    for place, heading in enumerate(rows[0] if rows else ()):
        nearest.add_column(heading, justify="right" if place else "left")
    for row in rows:
        nearest.add_row(*map(Text, row.values()))
    bar = Table.grid(padding=(0, 1))
    bar.add_row(
        ProgressBar(total=status.settings.budget, completed=status.spent, width=60),
        f"{status.spent / status.settings.budget:.0%}",
    )
    return Group(bar, Text(progress_line(status)), Text(""), nearest)


@dataclass(frozen=True)
class _Page:
    """The same for a notebook, as HTML, and as text where that cannot be shown."""

    html: str
    text: str

    @classmethod
    def of(cls, campaign: Runnable) -> "_Page":
        status = campaign.status()
        return cls(as_html(campaign), progress_line(status))

    def _repr_html_(self) -> str:
        return self.html

    def __repr__(self) -> str:
        return self.text


def as_html(campaign: _Stands) -> str:
    """Return where a campaign stands as HTML: a bar, a line, and the arms that are likeliest to be wrong."""
    status, rows = campaign.status(), _nearest(campaign)
    settings = status.settings
    what = f"campaign {status.name!r}: {status.arms:,} arms, threshold {settings.threshold:g}, {settings.policy}"
    bar = f'<progress max="{settings.budget}" value="{status.spent}" style="width: 30em"></progress>'
    share = f"{status.spent / settings.budget:.0%}"
    table = html_table(rows) if rows else ""
    return f"<p>{escape(what)}<br>{bar} {share}<br>{escape(progress_line(status))}</p>{table}"


def _display_of_notebook() -> Callable[[object], object] | None:
    """Return what shows a page in the notebook that this runs in, in the place of the last one; None outside one."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    if getattr(shell, "kernel", None) is None:
        return None
    from IPython.display import display

    show_first: Any = display  # IPython has no types for it
    handle: Any = None

    def show(page: object) -> None:
        nonlocal handle
        if handle is None:
            handle = show_first(page, display_id=True)
        else:
            handle.update(page)

    return show
