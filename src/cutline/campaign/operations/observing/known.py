"""What a campaign holds of results that come from elsewhere.

A result is known by its key, and by its worker and arm where workers answer an arm once.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import BigInteger, Connection, LargeBinary, column, select, values

from cutline.campaign.arithmetic import written
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import PreparedForEach
from cutline.campaign.database.rows import imports
from cutline.campaign.database.schema import ABANDONED, EXPIRED, LEASED, OBSERVED, STAGED, TOLD, pulls
from cutline.campaign.database.store import BusyError
from cutline.errors import ConflictError
from cutline.text import quoted

_KEYED = PreparedForEach(
    lambda digests: select(pulls.c.key_digest, pulls.c.arm, pulls.c.reward, pulls.c.number, pulls.c.state).where(
        pulls.c.key_digest.in_(digests)
    )
)
_OWN = PreparedForEach(
    lambda numbers: select(pulls.c.number, pulls.c.arm, pulls.c.reward, pulls.c.state).where(
        pulls.c.number.in_(numbers),
        (pulls.c.state == TOLD) | (pulls.c.state == OBSERVED) | (pulls.c.state == STAGED),
    )
)


def _answers_of(pairs: list[tuple[Any, ...]]) -> Any:
    wanted = values(column("worker", LargeBinary), column("arm", BigInteger), name="wanted").data(pairs).cte()
    return (
        select(pulls.c.worker_digest, pulls.c.arm, pulls.c.number, pulls.c.state, pulls.c.reward)
        .join(wanted, (pulls.c.worker_digest == wanted.c.worker) & (pulls.c.arm == wanted.c.arm))
        .where(pulls.c.state != ABANDONED, pulls.c.state != EXPIRED)
    )


_ANSWERS = PreparedForEach(_answers_of, width=2)

Pair: TypeAlias = tuple[bytes, int]
"""The digest of a worker and the number of an arm."""


class Seen(NamedTuple):
    """An observation as the tables hold it."""

    arm: int
    reward: int
    worker: str | None
    key: str | None
    note: str | None


class Held(NamedTuple):
    """A result that the campaign holds: of which arm, its reward, and the number of its pull if it was observed."""

    arm: int
    reward: int
    observed: int | None


@dataclass
class Known:
    """What the campaign holds of observations: by key, by worker and arm, and pulls in flight of those."""

    keys: dict[str, Held]
    answers: dict[Pair, list[Held]] = field(default_factory=dict)
    flying: dict[Pair, int] = field(default_factory=dict)

    def find(self, seen: Seen, pair: Pair | None) -> Held | None:
        """Return what is known of a result: what has its key, or its worker's answer, an equal one if there is."""
        if seen.key is not None and seen.key in self.keys:
            return self.keys[seen.key]
        answers = [] if pair is None else self.answers.get(pair, [])
        equal = [held for held in answers if held.reward == seen.reward]
        return next(iter(equal or answers), None)

    def note(self, seen: Seen, pair: Pair | None) -> None:
        """Take note of a result that is recorded now, for those after it."""
        held = Held(seen.arm, seen.reward, None)
        if seen.key is not None:
            self.keys[seen.key] = held
        if pair is not None:
            self.answers[pair] = [held]

    def conflict(self, held: Held, seen: Seen, arm: str, where: str) -> ConflictError:
        """The error to raise for a result that is held in another way."""
        if seen.key is not None and seen.key in self.keys:
            if held.arm != seen.arm:
                return ConflictError(f"{where}the result with key {seen.key!r} is of another arm than {arm!r}")
            return ConflictError(
                f"{where}the result with key {seen.key!r} of arm {arm!r} was {written(held.reward)} and is now "
                f"{written(seen.reward)}; a key has one reward"
            )
        return ConflictError(
            f"{where}worker {quoted(seen.worker or '')} has answered arm {quoted(arm)} with {written(held.reward)} and "
            f"now {written(seen.reward)}; a worker answers an arm once, unless the campaign repeats workers"
        )


class _Found(NamedTuple):
    """A pull that is an observation's, or may become it."""

    arm: int
    reward: int | None
    number: int
    state: int


def in_flight(connection: Connection, wanted: Collection[Pair]) -> set[int]:
    """Return the numbers of the pulls in flight of these workers and arms."""
    return {row[2] for row in _ANSWERS.rows(connection, wanted) if row[3] == LEASED}


def known_of(
    connection: Connection,
    campaign: Identity,
    keys: Collection[str],
    wanted: Collection[Pair],
    locked_pulls: Collection[int],
    staging: bool,
) -> Known:
    """Return what the campaign holds with these keys, and of these workers and arms.

    Of their pulls in flight ``locked_pulls`` are locked. ``staging``: it is for the import that is under way, whose
    results are held, too. For anybody else they are once it is decided; until then it raises BusyError.
    """
    keyed = _with_keys(connection, campaign, keys)
    answered = [
        ((bytes(worker), arm), _Found(arm, reward, number, state))
        for worker, arm, number, state, reward in _ANSWERS.rows(connection, wanted)
    ]
    numbers = {found.number for found in (*keyed.values(), *(found for _, found in answered))}
    fates = imports.fates_of(connection, numbers) if staging else {}
    if not staging and any(found.state == STAGED for found in (*keyed.values(), *(found for _, found in answered))):
        require_decided(connection, campaign)
    known = Known({key: _held(found, fates) for key, found in keyed.items()})
    for pair, found in answered:
        if found.state != LEASED or found.number in fates:
            known.answers.setdefault(pair, []).append(_held(found, fates))
        elif found.number in locked_pulls:
            known.flying[pair] = found.number
        else:
            raise BusyError  # asked for since
    return known


def observed_with(connection: Connection, campaign: Identity, keys: Collection[str]) -> dict[str, Held]:
    """Return the results from elsewhere that the campaign holds with these keys."""
    found = _with_keys(connection, campaign, keys)
    return {key: _held(found, {}) for key, found in found.items() if found.state == OBSERVED}


def require_decided(connection: Connection, campaign: Identity) -> None:
    """Raise BusyError while it is open whether the results of the import that is under way will count."""
    under_way = imports.read(connection, campaign)
    if under_way is not None and not under_way.decided:
        raise BusyError


def _with_keys(connection: Connection, campaign: Identity, keys: Collection[str]) -> dict[str, _Found]:
    """Return by key what the campaign holds: the ids of pulls told, and keys observed."""
    own = {pull: key for key in keys if (pull := campaign.own_key(key)) is not None}
    found = {
        own[number, arm]: _Found(arm, reward, number, STAGED if state == STAGED else TOLD)
        for number, arm, reward, state in _OWN.rows(connection, {number for number, _ in own})
        if (number, arm) in own
    }
    for key in own.values():
        if key not in found:
            raise ConflictError(f"{key!r} is a pull of campaign {campaign.name!r} that has no reward; tell it")
    others = {campaign.digest(key): key for key in keys if key not in found}
    return found | {others[bytes(key)]: _Found(*row) for key, *row in _KEYED.rows(connection, others)}


def _held(found: _Found, fates: dict[int, int | None]) -> Held:
    if found.number in fates:
        return Held(found.arm, fates[found.number] or 0, None)
    return Held(found.arm, found.reward or 0, found.number if found.state == OBSERVED else None)
