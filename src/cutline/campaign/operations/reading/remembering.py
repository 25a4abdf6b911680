"""What has happened to one arm: its decision, and every pull with what was answered, corrected, given back or lost."""

from collections import defaultdict

from sqlalchemy import Connection, bindparam, select

from cutline.campaign.arithmetic import UNIT
from cutline.campaign.checks import check_confidence, check_text
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Row
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.imports import IS_DECIDED
from cutline.campaign.database.schema import (
    ABANDONED,
    EXPIRED,
    LEASED,
    OBSERVED,
    STAGED,
    TOLD,
    WITHDRAWN,
    arms,
    corrections,
    pulls,
)
from cutline.campaign.database.store import Store
from cutline.campaign.operations.reading.deciding import decisions_of, rows_of_arm
from cutline.campaign.results import Answer, ArmHistory, PastPull, PullState
from cutline.checks import check_whole
from cutline.errors import NotFoundError
from cutline.text import quoted

_NUMBER = select(arms.c.number).where(arms.c.name_digest == bindparam("digest"))

_PULLS = (
    select(
        pulls.c.number,
        pulls.c.state,
        pulls.c.reward,
        pulls.c.note,
        pulls.c.worker,
        pulls.c.key,
        pulls.c.time,
        pulls.c.expires,
    )
    .where(pulls.c.arm == bindparam("arm"), (pulls.c.state != STAGED) | IS_DECIDED)
    .order_by(pulls.c.number.desc())
)

_CORRECTIONS = (
    select(corrections.c.pull, corrections.c.time, corrections.c.worker, corrections.c.reward, corrections.c.note)
    .join(pulls, pulls.c.number == corrections.c.pull)
    .where(pulls.c.arm == bindparam("arm"), pulls.c.number >= bindparam("first"))
    .order_by(pulls.c.number, corrections.c.nth)
)

_STATES = {
    LEASED: PullState.IN_FLIGHT,
    TOLD: PullState.TOLD,
    ABANDONED: PullState.ABANDONED,
    EXPIRED: PullState.LEASE_ENDED,
    OBSERVED: PullState.OBSERVED,
    STAGED: PullState.OBSERVED,
    WITHDRAWN: PullState.WITHDRAWN,
}


def history(
    store: Store, campaign: Identity, clock: Clock, arm: str, last: int | None, confidence: float
) -> ArmHistory:
    """Return what has happened to an arm; see Campaign.arm."""
    check_text("arm", arm)
    check_confidence(confidence)
    if last is not None:
        last = check_whole("last", last, 1)

    def read(connection: Connection) -> ArmHistory:
        counters.read(connection, campaign, "observed")  # raises if the campaign is gone
        number = connection.scalar(_NUMBER, {"digest": campaign.digest(arm)})
        if number is None:
            raise NotFoundError(f"campaign {campaign.name!r} has no arm {quoted(arm)}")
        (decision,) = decisions_of(rows_of_arm(connection, campaign, number), confidence)
        return ArmHistory(decision, _past_pulls(connection, campaign, clock, number, last))

    return store.read(read)


def _past_pulls(
    connection: Connection, campaign: Identity, clock: Clock, arm: int, last: int | None
) -> tuple[PastPull, ...]:
    rows = connection.execute(_PULLS.limit(last), {"campaign": campaign.id, "arm": arm}).all()[::-1]
    replaced: dict[int, list[Row]] = defaultdict(list)
    if rows:
        for pull, *correction in connection.execute(_CORRECTIONS, {"arm": arm, "first": rows[0].number}):
            replaced[pull].append(tuple(correction))
    now = clock.now(connection)
    return tuple(_past_pull(campaign, arm, tuple(row), now, replaced[row.number]) for row in rows)


def _past_pull(campaign: Identity, arm: int, row: Row, now: float, replaced: list[Row]) -> PastPull:
    number, state, reward, note, worker, key, time, expires = row
    ended = expires is not None and expires <= now
    return PastPull(
        key=key or campaign.pull_id((number, arm)),
        state=PullState.LEASE_ENDED if ended else _STATES[state],
        worker=worker,
        time=time,
        expires=None if ended else expires,
        answers=() if reward is None else _answers(time, worker, (reward, note), replaced),
    )


def _answers(
    time: float | None, worker: str | None, now: tuple[int, str | None], replaced: list[Row]
) -> tuple[Answer, ...]:
    """Return all answers of a pull: the first came at a time from a worker, the last is what counts ``now``.

    ``replaced`` has when and by whom each but the last was replaced, and what it was.
    """
    given = [(time, worker), *((when, who) for when, who, _, _ in replaced)]
    answers = [*((reward, note) for _, _, reward, note in replaced), now]
    return tuple(
        Answer(when, who, reward / UNIT, note) for (when, who), (reward, note) in zip(given, answers, strict=True)
    )
