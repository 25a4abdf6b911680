"""What was changed of a campaign, and when: each change is a row that never goes, and a version of its terms."""

import json
from collections.abc import Collection
from typing import Any, NamedTuple

from sqlalchemy import Connection, insert, select, update

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.learnt import read_state
from cutline.campaign.database.schema import campaigns, changes
from cutline.campaign.results import Change


class Entry(NamedTuple):
    """What was changed, and its values before and after, which JSON can write."""

    what: str
    before: Any
    after: Any


def write(connection: Connection, campaign: Identity, clock: Clock, entries: list[Entry]) -> tuple[int, list[Change]]:
    """Lock the campaign and write changes down; return its version after that, and the changes.

    Raises NotFoundError if the campaign is gone.
    """
    grown = update(campaigns).where(campaigns.c.id == campaign.id)
    grown = grown.values(version=campaigns.c.version + len(entries))
    version = connection.scalar(grown.returning(campaigns.c.version))
    if version is None:
        raise campaign.gone()
    now = clock.now(connection)
    for number, entry in enumerate(entries, version - len(entries) + 1):
        before, after = json.dumps(entry.before), json.dumps(entry.after)
        row = {"campaign_id": campaign.id, "number": number, "time": now}
        connection.execute(insert(changes).values(**row, what=entry.what, before=before, after=after))
    return int(version), [Change(now, *entry) for entry in entries]


def amend(connection: Connection, campaign: Identity, number: int, after: Any) -> None:
    """Write another value after a change that is written down."""
    row = update(changes).where(changes.c.campaign_id == campaign.id, changes.c.number == number)
    connection.execute(row.values(after=json.dumps(after)))


def read(connection: Connection, campaign: Identity, numbers: Collection[int] | None = None) -> list[Change]:
    """Return all changes, or those of these numbers, the first first; raise NotFoundError if the campaign is gone."""
    read_state(connection, campaign)
    own = changes.c.campaign_id == campaign.id
    rows = connection.execute(
        select(changes.c.time, changes.c.what, changes.c.before, changes.c.after)
        .where(own if numbers is None else own & changes.c.number.in_(numbers))
        .order_by(changes.c.number)
    )
    return [Change(time, what, json.loads(before), json.loads(after)) for time, what, before, after in rows]
