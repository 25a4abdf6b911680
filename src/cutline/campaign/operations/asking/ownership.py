"""Who has asked for a pull."""

from collections.abc import Sequence

from sqlalchemy import Connection, select

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.schema import pulls
from cutline.campaign.database.store import Store

_AT_ONCE = 500


def workers_of(store: Store, campaign: Identity, ids: Sequence[str]) -> set[str | None]:
    """Return the workers of these pulls; the id of no pull counts for nobody."""
    numbers = [key[0] for key in map(campaign.own_key, ids) if key is not None]

    def read(connection: Connection) -> set[str | None]:
        found: set[str | None] = set()
        for start in range(0, len(numbers), _AT_ONCE):
            some = pulls.c.number.in_(numbers[start : start + _AT_ONCE])
            found.update(connection.scalars(select(pulls.c.worker).where(some).distinct()))
        return found

    return store.read(read)
