"""What the dashboard shows of a campaign, read from it."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from io import TextIOWrapper
from tempfile import TemporaryFile
from typing import IO, Annotated, Literal

from fastapi import Query, Request

from cutline.campaign.campaign import Campaign
from cutline.campaign.decisions import DECISION_COLUMNS, decision_rows
from cutline.campaign.files.exporting import (
    RESULT_COLUMNS,
    result_rows,
    write_csv,
    write_jsonl,
)
from cutline.campaign.results import Decision, Status
from cutline.server.pages.rendering import link

PAGE = 25
"""So many arms stand on a page of the table."""


@dataclass(frozen=True)
class View:
    """Which arms a table shows, in which order: what stands in the address of a page that can be shared.

    They are those ``after`` an arm, or those ``before`` one, in the order of ``Campaign.decisions``.
    """

    order: Literal["wrong", "-wrong", "id", "-id", "mean", "-mean", "pulls", "-pulls"] = "-wrong"
    only: Literal["", "above", "below", "undecided"] = ""
    search: Annotated[str, Query(max_length=200)] = ""
    after: str = ""
    before: str = ""

    def query(self, **changed: str) -> dict[str, str]:
        """Return the query of an address with this view from its first page on, changed; the usual is left out."""
        values, usual = vars(self) | {"after": "", "before": ""} | changed, vars(View())
        return {name: value for name, value in values.items() if value != usual[name]}


@dataclass(frozen=True)
class Table:
    """The arms of a view, and whether there are others before and after them."""

    arms: list[Decision]
    has_before: bool
    has_after: bool


def table(campaign: Campaign, view: View) -> Table:
    """Return the arms that a view shows."""
    backwards = bool(view.before)
    found: list[Decision] = campaign.decisions(
        order=_reversed(view.order) if backwards else view.order,
        limit=PAGE + 1,
        after=(view.before or view.after) or None,
        only=view.only or None,
        search=view.search or None,
    )
    more, arms = len(found) > PAGE, found[:PAGE]
    if backwards:
        return Table(arms[::-1], has_before=more, has_after=True)
    return Table(arms, has_before=bool(view.after), has_after=more)


def _reversed(order: str) -> str:
    return order.removeprefix("-") if order.startswith("-") else f"-{order}"


def state(statuses: Iterable[Status]) -> str:
    """Return a text that is another one as soon as anything that is shown has changed."""
    known = "\n".join(
        f"{it.name} {it.spent} {it.in_flight} {it.observed} {it.expected_errors!r} {it.finished}" for it in statuses
    )
    return blake2b(known.encode(), digest_size=12).hexdigest()


def ways_to_join(request: Request, name: str) -> dict[str, str]:
    """Return the address for people who label, and the command line for machines that measure."""
    service = f"{request.url.scheme}://{request.url.netloc}"
    command = ["cutline", "run", "--db", service + link(request, ""), "--campaign", name, "--", "./measure", "{arm}"]
    return {"people": service + link(request, "/label", campaign=name), "machines": shlex.join(command)}


def export(campaign: Campaign, what: str, form: str) -> Iterator[bytes]:
    """Write decisions or observations as ``cutline export`` does; return the file piece by piece.

    It is whole before this returns, so that what goes wrong is an error and no half of a file.
    """
    observations = what == "observations"
    rows = result_rows(campaign) if observations else decision_rows(campaign.decisions())
    kept = TemporaryFile()  # noqa: SIM115 - ``_pieces`` closes it
    text = TextIOWrapper(kept, encoding="utf-8", newline="")
    if form == "csv":
        write_csv(rows, RESULT_COLUMNS if observations else DECISION_COLUMNS, text)
    else:
        write_jsonl(rows, text)
    text.detach().seek(0)
    return _pieces(kept)


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(1 << 16):
            yield piece


def settings_in_words(status: Status) -> dict[str, str]:
    """Return what a campaign was created with, in the words of the command line."""
    values = {"arms": status.arms, **status.settings.as_dict()}
    values["prior"] = "Beta({:g}, {:g})".format(*values["prior"]) if values["prior"] else "learnt"
    values["repeat_workers"] = "yes" if values["repeat_workers"] else "no"
    return {
        name.replace("_", " "): "-" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
        for name, value in values.items()
    }
