"""The answers that are known beforehand, and the arm that a digest stands for."""

from sqlalchemy import Connection, select

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows import counters
from cutline.campaign.database.schema import IS_KNOWN, arms
from cutline.campaign.database.store import Store
from cutline.errors import NotFoundError


def known_answers(store: Store, campaign: Identity) -> dict[str, bool]:
    """Return the answers that are known beforehand; see Campaign.known_answers."""
    known = select(arms.c.name, arms.c.known).where(arms.c.campaign_id == campaign.id, *IS_KNOWN)

    def work(connection: Connection) -> dict[str, bool]:
        counters.read(connection, campaign, "numbered")  # raises if the campaign is gone
        return {name: bool(answer) for name, answer in connection.execute(known.order_by(arms.c.number))}

    return store.read(work)


def arm_of_digest(store: Store, campaign: Identity, digest: str) -> str:
    """Return the id of the arm whose ``Identity.digest`` this is, in hexadecimal; raise NotFoundError for no such."""
    try:
        wanted = bytes.fromhex(digest)
    except ValueError:
        wanted = b""
    query = select(arms.c.name).where(arms.c.name_digest == wanted, arms.c.campaign_id == campaign.id)
    found = store.read(lambda connection: connection.scalar(query))
    if found is None:
        raise NotFoundError(f"campaign {campaign.name!r} has no arm that this address stands for; search for its id")
    return str(found)
