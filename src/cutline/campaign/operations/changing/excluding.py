"""Workers who are excluded, whose results weigh nothing: names come on the list and go from it within a transaction."""

from collections.abc import Collection

from sqlalchemy import Connection, bindparam, select

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.schema import pulls
from cutline.campaign.operations.changing.naming import spellings
from cutline.errors import NotFoundError
from cutline.text import quoted

_HAS_BEEN_THERE = Prepared(select(pulls.c.number).where(pulls.c.worker_digest == bindparam("worker")).limit(1))


def excluded_then(
    connection: Connection,
    campaign: Identity,
    excluded: Collection[str],
    exclude: Collection[str],
    readmit: Collection[str],
) -> set[str]:
    """Return who is excluded when these have come to the ``excluded``, and those have gone.

    Raises NotFoundError for a worker who is neither excluded nor has been asked or answered.
    """
    for name in (*exclude, *readmit):
        if name not in excluded and not _is_worker(connection, campaign, name):
            alike = [each for each in spellings(name) if _is_worker(connection, campaign, each)]
            hint = f"; it has {quoted(alike[0])}: are the names written alike?" if alike else ""
            raise NotFoundError(
                f"campaign {campaign.name!r} has no worker {quoted(name)}: nobody of that name has been asked or has "
                f"answered{hint}"
            )
    return {*excluded, *exclude} - {*readmit}


def _is_worker(connection: Connection, campaign: Identity, name: str) -> bool:
    return bool(_HAS_BEEN_THERE.rows(connection, worker=campaign.digest(name)))
