"""The answers that are known beforehand, and the arm that a digest stands for."""

from sqlalchemy import Connection, func, select

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.schema import arms
from cutline.campaign.database.store import Store
from cutline.errors import NotFoundError


def known_answers(store: Store, campaign: Identity, most: int) -> tuple[list[tuple[str, bool]], int]:
    """Return the arms whose answer is known with their answers, at most so many of them, and how many there are."""
    known = arms.c.campaign_id == campaign.id, arms.c.known.is_not(None)
    first = select(arms.c.name, arms.c.known).where(*known).order_by(arms.c.number).limit(most)

    def work(connection: Connection) -> tuple[list[tuple[str, bool]], int]:
        found = [(name, bool(answer)) for name, answer in connection.execute(first)]
        if len(found) < most:
            return found, len(found)
        return found, int(connection.scalar(select(func.count()).where(*known)) or 0)

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
