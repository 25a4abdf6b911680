"""The import that is under way in a campaign: its state, and what it changes, until that has been done.

An import is one row of cutline_imports. Until it is decided, what it brings counts for nobody: its results are pulls
that are STAGED, what it makes of other pulls is in cutline_import_pulls, and by how much it changes an arm's counts in
cutline_import_arms. One short transaction decides it: other pulls are changed, and its results count from then on.
After that the changes of arms are written little by little, and at the end the row goes.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, bindparam, delete, exists, func, insert, null, select, true, update

from cutline.campaign.arithmetic import square
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Prepared, PreparedForEach
from cutline.campaign.database.schema import (
    LEASED,
    OBSERVED,
    TOLD,
    WITHDRAWN,
    corrections,
    import_arms,
    import_pulls,
    imports,
    pulls,
)


class Row(NamedTuple):
    """The row of an import."""

    token: str
    until: float
    first: int
    decided: bool


class Change(NamedTuple):
    """By how much the counts of an arm change."""

    pulls: int
    total: int
    squares: int
    in_flight: int

    @classmethod
    def by(cls, new: int | None, old: int | None = None, in_flight: int = 0) -> "Change":
        """Return the change by a new reward, if there is one, in the place of an old one, if there is one."""
        more = cls(0, 0, 0, 0) if new is None else cls(1, new, square(new), 0)
        less = cls(0, 0, 0, 0) if old is None else cls(-1, -old, -square(old), 0)
        return more.plus(less)._replace(in_flight=in_flight)

    def plus(self, other: "Change") -> "Change":
        """Return the sum."""
        return Change._make(mine + more for mine, more in zip(self, other, strict=True))


NOTHING = Change(0, 0, 0, 0)

IS_DECIDED = exists().where(imports.c.campaign_id == bindparam("campaign"), imports.c.decided == true())
"""That the campaign ``campaign`` has an import that is decided."""

_OF = imports.c.campaign_id == bindparam("campaign")
_ROW = Prepared(select(imports.c.token, imports.c.until, imports.c.first, imports.c.decided).where(_OF))
_BEGIN = Prepared(insert(imports), tuple(column.name for column in imports.columns))
_GO_ON = Prepared(
    update(imports).where(_OF, imports.c.token == bindparam("own")).values(until=bindparam("later")).returning(true())
)
_TAKE = Prepared(
    update(imports)
    .where(_OF, imports.c.token == bindparam("other"))
    .values(token=bindparam("own"), until=bindparam("later"))
    .returning(true())
)
_DECIDE = Prepared(update(imports).where(_OF).values(decided=true()), ("campaign",))
_END = Prepared(delete(imports).where(_OF), ("campaign",))

_CHANGES = PreparedForEach(
    lambda numbers: select(import_arms.c.arm, *(import_arms.c[name] for name in Change._fields)).where(
        import_arms.c.arm.in_(numbers)
    )
)
_NEXT_ARMS = Prepared(
    select(import_arms.c.arm)
    .where(import_arms.c.arm.between(bindparam("first"), bindparam("last")))
    .order_by(import_arms.c.arm)
    .limit(bindparam("n"))
)
_HOW_MANY = select(func.count()).where(import_arms.c.arm.between(bindparam("first"), bindparam("last")))
_NEW_CHANGE = Prepared(insert(import_arms), ("arm", *Change._fields))
_CHANGE = Prepared(
    update(import_arms)
    .where(import_arms.c.arm == bindparam("which"))
    .values({name: bindparam(f"new_{name}") for name in Change._fields}),
    (*(f"new_{name}" for name in Change._fields), "which"),
)
_NO_CHANGE = Prepared(delete(import_arms).where(import_arms.c.arm == bindparam("which")), ("which",))

_FATES = PreparedForEach(
    lambda numbers: select(import_pulls.c.number, import_pulls.c.reward).where(import_pulls.c.number.in_(numbers))
)
_NEW_FATE = Prepared(insert(import_pulls), ("number", "state", "reward", "note", "time"))
_NO_FATE = Prepared(delete(import_pulls).where(import_pulls.c.number == bindparam("pull")), ("pull",))

_OWN = import_pulls.c.number.between(bindparam("first"), bindparam("last"))
_BECOMES = (pulls.c.number == import_pulls.c.number) & _OWN
_ANSWER = {name: import_pulls.c[name] for name in ("reward", "note", "time")}
_OVERTAKEN = (
    select(import_pulls.c.number, pulls.c.arm, import_pulls.c.reward)
    .join(pulls, pulls.c.number == import_pulls.c.number)
    .where(_OWN, import_pulls.c.state == TOLD, pulls.c.state != LEASED)
)
_SETTLE = (
    update(pulls)
    .where(_BECOMES, import_pulls.c.state == TOLD, pulls.c.state == LEASED)
    .values(state=TOLD, expires=null(), **_ANSWER)
)
_KEEP = insert(corrections).from_select(
    [column.name for column in corrections.columns],
    select(
        pulls.c.number,
        select(func.count()).where(corrections.c.pull == pulls.c.number).correlate(pulls).scalar_subquery(),
        import_pulls.c.time,
        pulls.c.worker,
        pulls.c.reward,
        pulls.c.note,
    ).where(_BECOMES, import_pulls.c.state == OBSERVED),
)
_CORRECT = (
    update(pulls)
    .where(_BECOMES, import_pulls.c.state == OBSERVED)
    .values(reward=import_pulls.c.reward, note=import_pulls.c.note)
)
_WITHDRAW = (
    update(pulls)
    .where(_BECOMES, import_pulls.c.state == WITHDRAWN)
    .values(state=WITHDRAWN, reward=null(), worker_digest=null(), key=null(), key_digest=null())
)


def read(connection: Connection, campaign: Identity) -> Row | None:
    """Return the row of the import that is under way in a campaign."""
    rows = _ROW.rows(connection, campaign=campaign.id)
    return Row._make(rows[0]) if rows else None


def begin(connection: Connection, campaign: Identity, row: Row) -> None:
    """Insert the row of an import; raise the database's error if there is one."""
    _BEGIN.run(connection, [(campaign.id, *row)])


def go_on(connection: Connection, campaign: Identity, token: str, until: float) -> bool:
    """Say until when somebody is at work on an import; return whether it is his still."""
    return bool(_GO_ON.rows(connection, campaign=campaign.id, own=token, later=until))


def take_over(connection: Connection, campaign: Identity, row: Row, token: str, until: float) -> bool:
    """Make an import that of somebody else; return whether nobody else was faster."""
    return bool(_TAKE.rows(connection, campaign=campaign.id, other=row.token, own=token, later=until))


def decide(connection: Connection, campaign: Identity) -> tuple[int, int]:
    """Have an import count; return how many pulls in flight it has settled and how many results it has withdrawn."""
    own = _range(campaign)
    settled = connection.execute(_SETTLE, own).rowcount
    connection.execute(_KEEP, own)
    connection.execute(_CORRECT, own)
    withdrawn = connection.execute(_WITHDRAW, own).rowcount
    _DECIDE.run(connection, [(campaign.id,)])
    return settled, withdrawn


def overtaken(connection: Connection, campaign: Identity) -> list[tuple[int, int, int]]:
    """Return number, arm and reward of pulls that an import was to settle and that are in flight no more."""
    return [(number, arm, reward) for number, arm, reward in connection.execute(_OVERTAKEN, _range(campaign))]


def end(connection: Connection, campaign: Identity) -> None:
    """Delete the row of an import."""
    _END.run(connection, [(campaign.id,)])


def add_changes(connection: Connection, changes: Iterable[tuple[int, Change]]) -> None:
    """Add to what an import changes of arms, each with its number."""
    more: defaultdict[int, Change] = defaultdict(lambda: NOTHING)
    for arm, change in changes:
        more[arm] = more[arm].plus(change)
    there = changes_of(connection, more)
    _NEW_CHANGE.run(connection, [(arm, *change) for arm, change in more.items() if arm not in there])
    _CHANGE.run(connection, [(*change.plus(more[arm]), arm) for arm, change in there.items()])


def changes_of(connection: Connection, numbers: Collection[int]) -> dict[int, Change]:
    """Return what an import changes of the arms of these numbers."""
    return {row[0]: Change._make(row[1:]) for row in _CHANGES.rows(connection, numbers)}


def next_arms(connection: Connection, campaign: Identity, n: int) -> list[int]:
    """Return the numbers of the first n arms that an import changes."""
    return [row[0] for row in _NEXT_ARMS.rows(connection, n=n, **_range(campaign))]


def arms_left(connection: Connection, campaign: Identity) -> int:
    """Return how many arms an import changes."""
    return int(connection.scalar(_HOW_MANY, _range(campaign)) or 0)


def forget_changes(connection: Connection, numbers: Iterable[int]) -> None:
    """Delete what an import changes of these arms."""
    _NO_CHANGE.run(connection, [(number,) for number in numbers])


def add_fates(connection: Connection, fates: Sequence[tuple[int, int, int | None, str | None, float]]) -> None:
    """Take down what an import makes of pulls: number, state, reward, note, and when that was."""
    _NEW_FATE.run(connection, fates)


def fates_of(connection: Connection, numbers: Collection[int]) -> dict[int, int | None]:
    """Return the rewards that an import gives to those of these pulls that it changes."""
    return dict(_FATES.rows(connection, numbers))


def forget_fates(connection: Connection, numbers: Iterable[int]) -> None:
    """Forget what an import makes of these pulls."""
    _NO_FATE.run(connection, [(number,) for number in numbers])


def _range(campaign: Identity) -> dict[str, Any]:
    first, last = campaign.numbers
    return {"first": first, "last": last}
