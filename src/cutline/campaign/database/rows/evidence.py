"""The evidence on arms, summed anew from their results: what it is after workers have come to weigh something else."""

from collections.abc import Collection
from typing import Any

from sqlalchemy import Connection, select

from cutline.campaign.arithmetic import Arithmetic
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import PreparedForEach
from cutline.campaign.database.rows import imports
from cutline.campaign.database.schema import STAGED, pulls

_REWARDS = PreparedForEach(
    lambda numbers: select(pulls.c.arm, pulls.c.worker_digest, pulls.c.reward, pulls.c.state).where(
        pulls.c.arm.in_(numbers), pulls.c.reward.is_not(None)
    )
)


def sum_evidence(
    connection: Connection, campaign: Identity, arithmetic: Arithmetic, numbers: Collection[int]
) -> dict[int, int]:
    """Return the evidence on the arms of these numbers, as their results that count make it."""
    sums = dict.fromkeys(numbers, 0)
    staged: list[tuple[Any, ...]] = []
    for row in _REWARDS.rows(connection, numbers):
        arm, worker, reward, state = row
        if state == STAGED:
            staged.append(row)
        else:
            sums[arm] += arithmetic.weigh(worker, reward)
    if staged:
        under_way = imports.read(connection, campaign)
        for arm, worker, reward, _ in staged if under_way is not None and under_way.decided else ():
            sums[arm] += arithmetic.weigh(worker, reward)
    return sums
