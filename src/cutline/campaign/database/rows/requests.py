"""Requests: an ask that is repeated with its id, since its answer was lost, gets what it got the first time."""

import json

from sqlalchemy import Connection, bindparam, delete, insert, select

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.schema import arms, pulls, requests
from cutline.campaign.results import Pull, Pulls, Reason
from cutline.errors import ConflictError
from cutline.text import quoted

_KEPT = 86_400.0
"""Seconds after the end of its leases for which a request is known."""

_FIND = Prepared(
    select(requests.c.first, requests.c.pulls, requests.c.wanted, requests.c.expires, requests.c.reason).where(
        requests.c.digest == bindparam("digest")
    )
)
_PULLS = Prepared(
    select(pulls.c.number, pulls.c.arm, arms.c.name, arms.c.payload, pulls.c.worker, pulls.c.expires)
    .join(arms, arms.c.number == pulls.c.arm)
    .where(pulls.c.number.between(bindparam("first"), bindparam("last")))
    .order_by(pulls.c.number)
)
_KEEP = Prepared(insert(requests), tuple(column.name for column in requests.columns))
_FORGET = Prepared(
    delete(requests).where(requests.c.campaign_id == bindparam("campaign"), requests.c.expires < bindparam("long_ago")),
    ("campaign", "long_ago"),
)


def find(connection: Connection, campaign: Identity, request: str, wanted: int, worker: str | None) -> Pulls | None:
    """Return what an ask with this request id got, None if there was none; the campaign is locked.

    Raises ConflictError if it was for another number of pulls, or for another worker.
    """
    rows = _FIND.rows(connection, digest=campaign.digest(request))
    if not rows:
        return None
    first, count, asked, expires, reason = rows[0]
    got = [
        Pull(campaign.pull_id((number, arm)), name, payload and json.loads(payload), who, ends or expires)
        for number, arm, name, payload, who, ends in _PULLS.rows(connection, first=first, last=first + count - 1)
    ]
    if (asked, got[0].worker) != (wanted, worker):
        raise ConflictError(
            f"request {quoted(request)} was for {_ask(asked, got[0].worker)} and is now for {_ask(wanted, worker)}; "
            "each ask needs an id of its own"
        )
    return Pulls(got, reason and Reason(reason))


def _ask(n: int, worker: str | None) -> str:
    return f"{n:,} of nobody's" if worker is None else f"{n:,} of worker {quoted(worker)}"


def keep(connection: Connection, campaign: Identity, request: str, wanted: int, got: Pulls, now: float) -> None:
    """Write down what an ask got, and forget what is long over."""
    _FORGET.run(connection, [(campaign.id, now - _KEPT)])
    key = campaign.pull_key(got[0])
    reason = got.reason and str(got.reason)
    row = (campaign.digest(request), campaign.id, key[0], len(got), wanted, got[0].expires, reason)
    _KEEP.run(connection, [row])
