"""The evidence on arms, summed anew from their results: what it is after workers have come to weigh something else."""

from collections.abc import Collection, Iterable, Iterator

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
    for arm, worker, reward in _results(connection, campaign, numbers):
        sums[arm] += arithmetic.weigh(worker, reward)
    return sums


def unheard(connection: Connection, campaign: Identity, arithmetic: Arithmetic, numbers: Iterable[int]) -> set[int]:
    """Return which of these arms, on which there is no evidence, have no result but by workers who are excluded."""
    if not arithmetic.excluded:
        return set()
    silent = set(numbers)
    results = _results(connection, campaign, silent)
    return silent - {arm for arm, worker, _ in results if worker not in arithmetic.excluded}


def _results(
    connection: Connection, campaign: Identity, numbers: Collection[int]
) -> Iterator[tuple[int, bytes | None, int]]:
    """Yield arm, digest of the worker and reward of the results of these arms that count."""
    staged = []
    for arm, worker, reward, state in _REWARDS.rows(connection, numbers):
        if state == STAGED:
            staged.append((arm, worker, reward))
        else:
            yield arm, worker, reward
    if staged:
        under_way = imports.read(connection, campaign)
        if under_way is not None and under_way.decided:
            yield from staged
