"""A campaign's own row: what never changes (a Book) and the counters."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from sqlalchemy import Connection, Row, Select, bindparam, func, select, update

from cutline.campaign.arithmetic import CLOSED, DOUBT, Rules
from cutline.campaign.database.schema import STRIDE, arms, campaigns, digest, pulls
from cutline.campaign.database.statements import Prepared
from cutline.campaign.database.store import Store
from cutline.campaign.results import Reason, Status
from cutline.campaign.settings import Settings
from cutline.errors import InvalidInputError, NotFoundError
from cutline.policies import parse

_STATUS = select(
    campaigns.c.spent,
    campaigns.c.in_flight,
    campaigns.c.observed,
    campaigns.c.doubt,
    select(func.count())
    .where(pulls.c.campaign_id == campaigns.c.id, pulls.c.expires <= bindparam("now"))
    .scalar_subquery()
    .label("ended"),
    select(arms.c.number)
    .where(arms.c.campaign_id == campaigns.c.id, arms.c.index_value < CLOSED)
    .limit(1)
    .scalar_subquery()
    .label("open_arm"),
).where(campaigns.c.id == bindparam("campaign"))

ADD = Prepared(
    update(campaigns)
    .where(
        campaigns.c.id == bindparam("campaign"),
        campaigns.c.spent + campaigns.c.in_flight + bindparam("late") <= campaigns.c.budget,
    )
    .values(
        numbered=campaigns.c.numbered + bindparam("more_numbered"),
        spent=campaigns.c.spent + bindparam("told"),
        in_flight=campaigns.c.in_flight + bindparam("leased"),
        observed=campaigns.c.observed + bindparam("seen"),
        doubt=campaigns.c.doubt + bindparam("more_doubt"),
    )
    .returning(campaigns.c.numbered)
)

_COUNTERS = {
    column.name: Prepared(select(column).where(campaigns.c.id == bindparam("campaign")))
    for column in (campaigns.c.numbered, campaigns.c.observed, campaigns.c.spent)
}

PullKey: TypeAlias = tuple[int, int]
"""The number of a pull and the number of its arm."""


@dataclass(frozen=True)
class Book:
    """What a campaign keeps unchanged."""

    id: int
    name: str
    token: str
    settings: Settings
    arms: int

    @cached_property
    def rules(self) -> Rules:
        """The arithmetic that the settings ask for."""
        return Rules(self.settings)

    @cached_property
    def base(self) -> int:
        """What the numbers of its arms and pulls are counted from."""
        return self.id * STRIDE

    def digest(self, text: str) -> bytes:
        """Return what a text of this campaign is looked up by."""
        return digest(self.id, text)

    def optional_digest(self, text: str | None) -> bytes | None:
        """Return the same, None of None."""
        return None if text is None else digest(self.id, text)

    def pull_id(self, key: PullKey) -> str:
        """Write the id of a pull for the outside.

        After a power failure an ask may be forgotten (see store.py) and its number given out again; with the arm in the
        id, no reward can go to an arm that it was not measured at.
        """
        return f"{self.token}-{key[0] - self.base}-{key[1] - self.base}"

    def pull_key(self, pull: Any) -> PullKey:
        """Read the id of a pull of this campaign; raise NotFoundError for any other text."""
        name = getattr(pull, "id", pull)
        key = self.own_key(name) if isinstance(name, str) else None
        if key is None:
            raise self.no_pull(name)
        return key

    def own_key(self, pull_id: str) -> PullKey | None:
        """Read the id of a pull of this campaign; return None for any other text."""
        match = self._id.fullmatch(pull_id)
        return None if match is None else (self.base + int(match[1]), self.base + int(match[2]))

    @cached_property
    def _id(self) -> re.Pattern[str]:
        return re.compile(self.token + "-([0-9]{1,12})-([0-9]{1,12})")

    def no_pull(self, pull: Any) -> NotFoundError:
        """The error to raise for a pull that this campaign has not leased."""
        return NotFoundError(f"campaign {self.name!r} has no pull {pull!r}")

    def gone(self) -> NotFoundError:
        """The error to raise if the campaign's row is not there any more."""
        return NotFoundError(f"campaign {self.name!r} has been deleted")


def read_book(store: Store, name: str) -> Book:
    """Return the book of the campaign of that name; raise NotFoundError, naming those there are, if there is none."""
    check_name(name)
    row = store.read(lambda connection: connection.execute(_books().where(campaigns.c.name == name)).first())
    if row is None:
        names = [book.name for book in read_books(store)]
        there = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise NotFoundError(f"{store.label}: no campaign is called {name!r}; there are {there or 'none'}")
    return _book(row)


def read_books(store: Store) -> list[Book]:
    """Return all books, by name."""
    rows = store.read(lambda connection: connection.execute(_books()).all())
    return sorted((_book(row) for row in rows), key=lambda book: book.name)


def check_name(name: Any) -> str:
    """Return a campaign's name; raise InvalidInputError unless it is text of 1 to 200 characters on one line."""
    if not isinstance(name, str) or not 1 <= len(name) <= 200 or not name.isprintable():
        raise InvalidInputError(f"campaign name {name!r}: it must be 1 to 200 characters of text, on one line")
    return name


def status(store: Store, book: Book, now: float) -> Status:
    """Return where the campaign stands; leases that have ended by ``now`` are not in flight."""
    row = store.read(lambda connection: connection.execute(_STATUS, {"campaign": book.id, "now": now}).first())
    if row is None:
        raise book.gone()
    in_flight = row.in_flight - row.ended
    finished = why_finished(book, row.spent, row.doubt)
    if finished is None and row.open_arm is None and row.in_flight == 0:
        finished = Reason.ARMS_EXHAUSTED
    return Status(
        name=book.name,
        settings=book.settings,
        arms=book.arms,
        spent=row.spent,
        in_flight=in_flight,
        left=book.settings.budget - row.spent - in_flight,
        observed=row.observed,
        expected_errors=row.doubt / DOUBT,
        finished=finished,
    )


def why_finished(book: Book, spent: int, doubt: int) -> Reason | None:
    """Return which stop rule holds, if one does."""
    target = book.settings.target_errors
    if target is not None and doubt <= target * DOUBT:
        return Reason.TARGET_REACHED
    return Reason.BUDGET_SPENT if spent >= book.settings.budget else None


def sums(
    book: Book, *, told: int = 0, leased: int = 0, new: int = 0, seen: int = 0, doubt: int = 0, late: int = 0
) -> dict[str, int]:
    """Return the parameters with which ADD adds to the counters of a campaign.

    Its answer is one row, the number of the last pull there is. There is none, and nothing has changed, if the budget
    has no room for ``late`` more pulls, or the campaign has been deleted. It is the last thing that a tell waits for,
    so that tells of different arms hold each other up only there.
    """
    values = {"told": told, "leased": leased, "more_numbered": new, "seen": seen, "more_doubt": doubt, "late": late}
    return {"campaign": book.id, **values}


def counter(connection: Connection, book: Book, column: str) -> int:
    """Return one number of the campaign's row; raise NotFoundError if it has been deleted."""
    rows = _COUNTERS[column].rows(connection, campaign=book.id)
    if not rows:
        raise book.gone()
    return int(rows[0][0])


def _books() -> Select[Any]:
    return select(campaigns)


def _book(row: Row[Any]) -> Book:
    settings = Settings(
        threshold=row.threshold,
        policy=parse(row.policy),
        budget=row.budget,
        seed=row.seed,
        max_pulls_per_arm=row.max_pulls_per_arm,
        repeat_workers=row.repeat_workers,
        prior=(row.prior_a, row.prior_b),
        target_errors=row.target_errors,
    )
    return Book(row.id, row.name, row.token, settings, row.arms)
