"""Naming: the arms that ids stand for."""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection, select

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import PreparedForEach
from cutline.campaign.database.rows import counters
from cutline.campaign.database.schema import arms
from cutline.errors import NotFoundError
from cutline.recorded.labels import is_number
from cutline.text import quoted

_NAMED = PreparedForEach(
    lambda digests: select(arms.c.name_digest, arms.c.number).where(arms.c.name_digest.in_(digests))
)


def known_arms(connection: Connection, campaign: Identity, names: Iterable[str]) -> dict[str, int]:
    """Return the numbers of those of these ids that are arms of the campaign, in the order of the ids."""
    digests = {campaign.digest(name): name for name in names}
    numbers = {bytes(found): number for found, number in _NAMED.rows(connection, digests)}
    return {name: numbers[digest] for digest, name in digests.items() if digest in numbers}


def arm_numbers(
    connection: Connection, campaign: Identity, names: Iterable[str], where: Callable[[str], str] = lambda name: ""
) -> dict[str, int]:
    """Return the numbers of the arms of these ids.

    Raises NotFoundError for an id that is no arm; ``where`` says where it stands, as "l.csv, line 3: ".
    """
    every = list(dict.fromkeys(names))
    numbers = known_arms(connection, campaign, every)
    for name in every:
        if name not in numbers:
            counters.read(connection, campaign, "observed")
            alike = [*known_arms(connection, campaign, spellings(name))]
            hint = f"; it has {quoted(alike[0])}: are the ids written alike?" if alike else ""
            raise NotFoundError(f"{where(name)}campaign {campaign.name!r} has no arm {quoted(name)}{hint}")
    return numbers


def spellings(name: str) -> set[str]:
    """Return other ways in which somebody may have written a name: 1 for 1.0, without spaces around, in capitals."""
    plain = name.strip()
    others = {plain, plain.lower(), plain.upper(), plain.capitalize()}
    if is_number(plain):
        number = float(plain)
        others |= {repr(number), *([str(int(number))] if number.is_integer() else [])}
    return others - {name}
