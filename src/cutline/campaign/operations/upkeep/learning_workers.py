"""What there is to learn about the workers of a campaign: who gave which result, and what is learnt from that."""

from typing import Any, NamedTuple

import numpy as np
from sqlalchemy import Connection, bindparam, select, true

from cutline.beliefs.workers import Crowd, Labels
from cutline.campaign.arithmetic import UNIT
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.imports import IS_DECIDED
from cutline.campaign.database.schema import STAGED, arms, pulls
from cutline.campaign.weights import Weights

_SOME = 20_000

_RESULTS = (
    select(pulls.c.arm, pulls.c.worker, pulls.c.reward)
    .where(
        pulls.c.number.between(bindparam("first"), bindparam("last")),
        pulls.c.arm < bindparam("beyond"),
        pulls.c.reward.is_not(None),
        (pulls.c.state != STAGED) | IS_DECIDED,
    )
    .order_by(pulls.c.number)
)
_PARTICULAR = select(arms.c.number, arms.c.known, arms.c.retired).where(
    arms.c.number >= bindparam("first"),
    arms.c.number < bindparam("beyond"),
    arms.c.known.is_not(None) | (arms.c.retired == true()),
)


class Labelled(NamedTuple):
    """The labels of a campaign, workers as numbers, and the names of these; None for results without a worker."""

    labels: Labels
    names: list[str | None]


def read_labels(connection: Connection, campaign: Identity, arms: int, excluded: tuple[str, ...]) -> Labelled:
    """Return the labels of a campaign of so many arms; retired arms and excluded workers give none."""
    first, last = campaign.numbers
    values = {"campaign": campaign.id, "first": first, "last": last, "beyond": first + arms}
    known, retired = np.full(arms, -1, np.int8), np.zeros(arms, np.bool_)
    for number, answer, is_retired in connection.execute(_PARTICULAR, {"first": first, "beyond": first + arms}):
        known[number - first] = -1 if answer is None else answer
        retired[number - first] = is_retired
    numbers: dict[str | None, int] = {}
    pieces: list[Any] = [np.empty((0, 3), np.int64)]
    out = frozenset(excluded)
    for rows in connection.execute(_RESULTS, values).partitions(_SOME):
        own = [
            (arm - first, numbers.setdefault(worker, len(numbers)), reward)
            for arm, worker, reward in rows
            if worker not in out
        ]
        pieces.append(np.array(own, np.int64).reshape(-1, 3))
    task, who, reward = np.concatenate(pieces).T
    some = ~retired[task]
    labels = Labels(task[some], who[some], reward[some] / UNIT, known)
    return Labelled(labels, list(numbers))


def learn_workers(labelled: Labelled) -> Any:
    """Return what the labels tell of the workers, as ``Learnt`` keeps it."""
    crowd = Crowd.learn(labelled.labels, len(labelled.names))
    return Weights.of_crowd(crowd, labelled.names).as_json()
