"""Arms whose answer is known beforehand, mixed into what is asked for, so that they teach who is right."""

import random
from typing import TypeAlias

from sqlalchemy import Connection, bindparam, false, select

from cutline.campaign.arithmetic import CLOSED
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared, Row
from cutline.campaign.database.rows.arms_and_pulls import Level
from cutline.campaign.database.schema import EXPIRED, arms, pulls
from cutline.campaign.operations.asking.wanted import Wanted
from cutline.campaign.settings import Settings

Chosen: TypeAlias = tuple[int, str, str | None]
"""The number, name and payload of an arm that a pull is of."""

_HAD = (
    select(pulls.c.number)
    .where(pulls.c.worker_digest == bindparam("worker"), pulls.c.arm == arms.c.number, pulls.c.state != EXPIRED)
    .correlate(arms)
    .exists()
)
_KNOWN = (
    select(arms.c.number, arms.c.name, arms.c.payload, arms.c.pulls, arms.c.in_flight)
    .where(arms.c.campaign_id == bindparam("campaign"), arms.c.known.is_not(None), arms.c.retired == false())
    .order_by(arms.c.pulls, arms.c.position, arms.c.number)
    .limit(bindparam("n"))
    .with_for_update(key_share=True, skip_locked=True, of=arms)
)
_FOR_ANYBODY = Prepared(_KNOWN)
_FOR_WORKER = Prepared(_KNOWN.where(~_HAD))


def known_among(
    connection: Connection, campaign: Identity, settings: Settings, asked: Wanted, numbered: int, wanted: int
) -> dict[int, Row]:
    """Return by place, from 0, which of the next ``wanted`` pulls are to be of which arm whose answer is known.

    Each pull is with probability ``known_rate``, which follows from the seed and its number, while there are such arms
    for the worker; those with fewest results come first. They are locked: number, name, payload, results, in flight.
    """
    if not settings.known_rate:
        return {}
    drawn = (random.Random(f"{settings.seed} {numbered + place}").random() for place in range(wanted))
    places = [place for place, each in enumerate(drawn) if each < settings.known_rate]
    if not places:
        return {}
    n = len(places) + len(asked.without)
    if asked.worker is None or settings.repeat_workers:
        found = _FOR_ANYBODY.rows(connection, campaign=campaign.id, n=n)
    else:
        found = _FOR_WORKER.rows(connection, campaign=campaign.id, worker=campaign.digest(asked.worker), n=n)
    free = [row for row in found if row[1] not in asked.without and settings.has_room(*row[3:])]
    return dict(zip(places, free, strict=False))


def mix(chosen: list[Chosen], levels: list[Level], known: dict[int, Row]) -> tuple[list[Chosen], list[Level]]:
    """Return what was chosen with the arms whose answer is known at their places, or at the end, and all new levels."""
    mixed = list(chosen)
    for place, (number, name, payload, *_) in sorted(known.items()):
        mixed.insert(place, (number, name, payload))
    return mixed, levels + [(in_flight + 1, CLOSED, number) for number, *_, in_flight in known.values()]
