"""The rows of tokens: who a server lets in, for what, and until when. A token itself is never kept."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, or_, select

from cutline.campaign.database.schema import campaigns, tokens


class TokenRow(NamedTuple):
    """A token as it is listed: ``campaign`` is None for all of them, ``ends`` for never."""

    name: str
    role: str
    campaign: str | None
    created: float
    ends: float | None


_parents = tokens.alias()

_KNOWN = (
    select(
        tokens.c.id,
        tokens.c.parent,
        tokens.c.name,
        tokens.c.role,
        tokens.c.campaign_id,
        campaigns.c.name.label("campaign"),
        tokens.c.digest,
        tokens.c.created,
        tokens.c.ends,
        tokens.c.once,
        func.coalesce(tokens.c.name, _parents.c.name).label("label"),
    )
    .outerjoin(campaigns, campaigns.c.id == tokens.c.campaign_id)
    .outerjoin(_parents, _parents.c.id == tokens.c.parent)
)


def add(connection: Connection, values: dict[str, Any]) -> int:
    """Insert a token and return its id; the columns that are not given are null."""
    row = {"name": None, "campaign_id": None, "ends": None, "parent": None, "once": False} | values
    key = connection.execute(insert(tokens).values(row)).inserted_primary_key
    assert key is not None
    return int(key[0])


def find(connection: Connection, number: int) -> Any:
    """Return the token of that id, None if there is none."""
    return connection.execute(_KNOWN.where(tokens.c.id == number)).first()


def named(connection: Connection, name: str) -> Any:
    """Return the token of that name, None if there is none."""
    return connection.execute(_KNOWN.where(tokens.c.name == name)).first()


def listed(connection: Connection) -> Sequence[TokenRow]:
    """Return all tokens that have a name, by name."""
    rows = connection.execute(_KNOWN.where(tokens.c.name.is_not(None)).order_by(tokens.c.name))
    return [TokenRow(row.name, row.role, row.campaign, row.created, row.ends) for row in rows]


def count(connection: Connection, now: float) -> int:
    """Return how many tokens with a name have not ended."""
    alive = or_(tokens.c.ends.is_(None), tokens.c.ends > now)
    found: int | None = connection.scalar(select(func.count()).where(tokens.c.name.is_not(None), alive))
    return found or 0


def remove(connection: Connection, number: int) -> bool:
    """Delete a token and what was exchanged for it; return whether it was there."""
    connection.execute(delete(tokens).where(tokens.c.parent == number))
    return connection.execute(delete(tokens).where(tokens.c.id == number)).rowcount == 1


def remove_ended(connection: Connection, now: float) -> None:
    """Delete the logins and links that have ended; tokens with a name stay on the list."""
    connection.execute(delete(tokens).where(tokens.c.name.is_(None), tokens.c.ends <= now))
