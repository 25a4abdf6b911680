"""What the dashboard shows of a campaign, read from it."""

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any, Literal

from fastapi import Query, Request

from cutline.campaign.campaign import Campaign
from cutline.campaign.files.exporting import (
    change_in_words,
    change_rows,
    rate_in_words,
    rated_rows,
    value_in_words,
    worker_row,
)
from cutline.campaign.operations.reading import paging
from cutline.campaign.operations.reading.known_answers import arm_of_digest
from cutline.campaign.results import Change, Decision, Status, Worker
from cutline.campaign.weighed import Weighed
from cutline.server.pages.rendering import link
from cutline.text import moment, number

CONFIDENCE = 0.95
"""The confidence of intervals, as on the command line."""

PAGE = 25
"""So many arms stand on a page of the table."""


@dataclass(frozen=True)
class View:
    """Which arms a table shows, in which order: what stands in the address of a page that can be shared.

    They are those ``after`` an arm, or those ``before`` one, in the order of ``Campaign.decisions``; ``long``: that is
    the digest of its id.
    """

    order: Literal["wrong", "-wrong", "id", "-id", "mean", "-mean", "pulls", "-pulls"] = "-wrong"
    only: Literal["", "above", "below", "undecided"] = ""
    search: Annotated[str, Query(max_length=200)] = ""
    after: str = ""
    before: str = ""
    long: bool = False

    def query(self, **changed: str) -> dict[str, Any]:
        """Return the query of an address with this view from its first page on, changed; the usual is left out."""
        values, usual = vars(self) | {"after": "", "before": "", "long": False} | changed, vars(View())
        return {name: value for name, value in values.items() if value != usual[name]}


@dataclass(frozen=True)
class Table:
    """The arms of a view, whether there are others before and after them, and how many the view finds, in words."""

    arms: list[Decision]
    has_before: bool
    has_after: bool
    count: str


def table(campaign: Campaign, view: View, status: Status) -> Table:
    """Return the arms that a view shows."""
    backwards = bool(view.before)
    beside = view.before or view.after
    if view.long:
        beside = arm_of_digest(campaign._store, campaign._identity, beside)
    wanted = paging.Page(
        order=_reversed(view.order) if backwards else view.order,
        limit=PAGE + 1,
        after=beside or None,
        only=view.only or None,
        search=view.search or None,
    )
    found, matching = paging.page(campaign._store, campaign._identity, wanted, CONFIDENCE)
    more, arms, count = len(found) > PAGE, found[:PAGE], _count(matching, status)
    if backwards:
        return Table(arms[::-1], has_before=more, has_after=True, count=count)
    return Table(arms, has_before=bool(view.after), has_after=more, count=count)


def _count(matching: int | None, status: Status) -> str:
    """Say how many arms there are, and how many of them a view finds."""
    retired = f", {status.retired:,} retired" if status.retired else ""
    if matching is None:
        return f"{status.arms:,} arms in all{retired}"
    found = f"more than {paging.COUNTED:,}" if matching > paging.COUNTED else f"{matching:,}"
    return f"{found} of {status.arms:,} arms"


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


def settings_in_words(status: Status) -> dict[str, str]:
    """Return what a campaign was created with, in the words of the command line."""
    values = {"arms": status.arms, **status.settings.as_dict()}
    values["prior"] = "Beta({:g}, {:g})".format(*values["prior"]) if values["prior"] else "learnt"
    values["repeat_workers"] = "yes" if values["repeat_workers"] else "no"
    return {
        name.replace("_", " "): f"{value:,}" if isinstance(value, int) else value_in_words(value) or "-"
        for name, value in values.items()
    }


def changes_in_words(changes: Iterable[Change]) -> list[str]:
    """Return what was changed after a campaign was made, and when."""
    return [f"{moment(row['time'])}: {change_in_words(row)}" for row in change_rows(changes)]


def workers_in_words(
    workers: Sequence[Worker], weighed: Weighed | None, excluded: Iterable[str] = ()
) -> list[dict[str, str]]:
    """Return what is said of each worker, with how often he is right on either side if results were weighed.

    Those ``excluded`` who have not been there stand at the end.
    """
    rows = [worker_row(worker) for worker in workers] if weighed is None else rated_rows(workers, weighed)
    there = [
        {
            "name": row["worker"],
            "answers": f"{row['answers']:,}",
            "agree": number(row["agreement"], 3),
            "in flight": f"{row['in_flight']:,}",
            "last seen": moment(row["last_seen"]),
            **({} if weighed is None else {side: rate_in_words(row, side) for side in ("no", "yes")}),
        }
        for row in rows
    ]
    names = {worker.name for worker in workers}
    nothing = {"answers": "0", "agree": "-", "in flight": "0", "last seen": "-", "no": "-", "yes": "-"}
    return there + [{"name": name, **nothing} for name in excluded if name not in names]
