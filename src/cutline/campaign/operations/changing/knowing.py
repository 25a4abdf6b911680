"""Arms whose answer is known beforehand: they are decided, and their results teach who is to be believed."""

from collections.abc import Mapping

from sqlalchemy import Connection, bindparam, update

from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.arms_and_pulls import lock_pulls_and_arms, write_arms
from cutline.campaign.database.schema import arms

_SET = Prepared(
    update(arms).where(arms.c.number == bindparam("which")).values(known=bindparam("new_known")), ("new_known", "which")
)


def set_known(connection: Connection, campaign: Identity, answers: Mapping[int, bool | None]) -> set[int]:
    """Have the answers to arms of these numbers be known, None: no more; return the numbers of those that change."""
    locked = lock_pulls_and_arms(connection, campaign, (), list(answers))
    changed = [arm for arm in locked.arms.values() if arm.known != answers[arm.number]]
    for arm in changed:
        answer = answers[arm.number]
        arm.known = None if answer is None else int(answer)
    _SET.run(connection, [(arm.known, arm.number) for arm in changed])
    counters.add(connection, campaign, **write_arms(connection, campaign, locked.state, changed)).ignore()
    return {arm.number for arm in changed}
