"""What is left of an import: what has been decided is written to the end, what has not is undone.

Whoever began it does so, or if that process has died, the next one that opens the campaign or asks. All in short
transactions, each of which says that somebody is at work on it.
"""

import secrets
from collections.abc import Callable, Iterator
from typing import TypeVar

from sqlalchemy import Column, ColumnElement, Connection, Executable, delete, select, update

from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows import counters, imports, progress
from cutline.campaign.database.rows.arms_and_pulls import change_arms, lock_arms
from cutline.campaign.database.schema import OBSERVED, STAGED, import_arms, import_pulls, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.operations.upkeep.pace import Pace
from cutline.errors import StoreError
from cutline.progress import Progress

PATIENCE = 15.0
"""Seconds after its last transaction at which an import counts as dead."""

_ARMS = 2_000

_PULLS = 20_000


T = TypeVar("T")


class DeadImportError(Exception):
    """The process that was importing into a campaign has died: see ``end_dead``."""


class Steps:
    """The short transactions of an import; each says that somebody is at work on it."""

    def __init__(self, store: Store, campaign: Identity, token: str) -> None:
        self._store = store
        self._campaign = campaign
        self._token = token
        self._pace = Pace()

    def do(self, work: Callable[[Connection], T]) -> T:
        """Do a piece of work and return what it returns; raise StoreError if the import is not ours any more."""

        def step(connection: Connection) -> T:
            if not imports.go_on(connection, self._campaign, self._token, Clock().now(connection) + PATIENCE):
                counters.read(connection, self._campaign, "observed")  # raises if the campaign is gone
                raise StoreError(
                    f"campaign {self._campaign.name!r}: nothing was heard of this import for {PATIENCE:.0f} s, so it "
                    "was ended by another process; import the file again"
                )
            return work(connection)

        done = self._store.write(step)
        self._pace.between()
        return done

    def execute(self, change: Executable) -> int:
        """Execute a change and return how many rows it was of."""
        return self.do(lambda connection: connection.execute(change).rowcount)


def is_dead(connection: Connection, until: float) -> bool:
    """Say whether whoever was at work on an import until then is dead."""
    return Clock().now(connection) > until


def end_dead(store: Store, campaign: Identity) -> None:
    """End the import into a campaign, if there is one whose process has died, and this user may write."""
    row = store.read(lambda connection: imports.read(connection, campaign))
    if row is None or store.read_only or not store.read(lambda connection: is_dead(connection, row.until)):
        return
    token = secrets.token_hex(8)

    def take_over(connection: Connection) -> bool:
        return imports.take_over(connection, campaign, row, token, Clock().now(connection) + PATIENCE)

    if store.write(take_over):
        (finish if row.decided else undo)(store, campaign, token)


def finish(store: Store, campaign: Identity, token: str, advance: Progress = lambda amount: None) -> None:
    """Write what is left of an import that is decided; ``advance`` is told of arms."""
    steps = Steps(store, campaign, token)
    while done := steps.do(lambda connection: _change_some(connection, campaign)):
        advance(done)
    for staged in _staged(store, campaign):
        steps.execute(update(pulls).where(staged).values(state=OBSERVED))
    _clear(steps, campaign, import_pulls.c.number)
    steps.do(lambda connection: _end(connection, campaign))


def undo(store: Store, campaign: Identity, token: str) -> None:
    """Delete what there is of an import that is not decided."""
    steps = Steps(store, campaign, token)
    for staged in _staged(store, campaign):
        steps.execute(delete(pulls).where(staged))
    _clear(steps, campaign, import_arms.c.arm)
    _clear(steps, campaign, import_pulls.c.number)
    steps.do(lambda connection: imports.end(connection, campaign))


def _end(connection: Connection, campaign: Identity) -> None:
    counters.add(connection, campaign).ignore()  # locks the campaign
    progress.add_point(connection, campaign, Clock().now(connection))
    imports.end(connection, campaign)


def _change_some(connection: Connection, campaign: Identity) -> int:
    """Change the counts of some arms as the import has it; return of how many, 0 at the end."""
    locked = lock_arms(connection, imports.next_arms(connection, campaign, _ARMS))
    changes = imports.changes_of(connection, locked)
    for number, change in changes.items():
        locked[number].change(*change)
    change_arms(connection, campaign, [locked[number] for number in changes]).ignore()
    imports.forget_changes(connection, changes)
    return len(changes)


def _staged(store: Store, campaign: Identity) -> Iterator[ColumnElement[bool]]:
    """Yield conditions, each of which holds for some of the results that are staged."""
    row = store.read(lambda connection: imports.read(connection, campaign))
    last = campaign.base + store.read(lambda connection: counters.read(connection, campaign, "numbered"))
    for low in range(last + 1 if row is None else row.first, last + 1, _PULLS):
        yield pulls.c.number.between(low, low + _PULLS - 1) & (pulls.c.state == STAGED)


def _clear(steps: Steps, campaign: Identity, key: Column[int]) -> None:
    """Delete the rows of a table whose primary key is in the campaign."""
    some = select(key).where(key.between(*campaign.numbers)).limit(_PULLS)
    while steps.execute(delete(key.table).where(key.in_(some))):
        pass
