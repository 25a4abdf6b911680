"""Decisions page by page: sorted, filtered and searched by the database, which reads no more than it must.

Arms are sorted and filtered by what stands in their rows. These follow an import or a change of the settings within
seconds; until then what a page says of its arms is up to date, but their order may be that of before.
"""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Double, Select, case, cast, false, literal, select, tuple_

from cutline.campaign.checks import check_confidence, check_text
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.learnt import read_state, require_decisions
from cutline.campaign.database.schema import ABOVE, BELOW, UNDECIDED, arms
from cutline.campaign.database.store import Store
from cutline.campaign.operations.reading.deciding import ROWS, decisions_of, read_decided
from cutline.campaign.results import Decision
from cutline.checks import check_whole
from cutline.errors import InvalidInputError, NotFoundError
from cutline.text import quoted

ORDERS = ("given", "wrong", "id", "mean", "pulls")
"""What decisions can be sorted by; with a minus before it the other way round."""

_DECISIONS = {"below": BELOW, "above": ABOVE, "undecided": UNDECIDED}

COUNTED = 1_000
"""So many arms that a filter or a search finds are counted exactly."""

LONGEST_SEARCH = 10_000
"""So many letters may be searched for; a database compares no pattern that is much longer."""


class Page(NamedTuple):
    """Which decisions are wanted, in which order; see Campaign.decisions."""

    order: str = "given"
    limit: int | None = None
    after: str | None = None
    only: str | None = None
    search: str | None = None

    def check(self) -> None:
        """Raise InvalidInputError for what cannot be wanted."""
        if self.order.removeprefix("-") not in ORDERS:
            raise InvalidInputError(
                f"order is {self.order!r}; it must be one of {', '.join(ORDERS)}, or one of them with a minus before it"
            )
        if self.limit is not None:
            check_whole("limit", self.limit, 1)
        if self.only is not None and self.only not in _DECISIONS:
            raise InvalidInputError(f"only is {self.only!r}; it must be one of {', '.join(_DECISIONS)}")
        for what, text in (("after", self.after), ("search", self.search)):
            if text is not None:
                check_text(what, text)
        if self.search is not None and len(self.search) > LONGEST_SEARCH:
            raise InvalidInputError(
                f"search is {len(self.search):,} letters long; it may have {LONGEST_SEARCH:,} at most"
            )


class Found(NamedTuple):
    """A page of decisions; ``matching``: how many arms filter and search find, more than ``COUNTED`` for many.

    It is None where there is neither.
    """

    decisions: list[Decision]
    matching: int | None


def page(store: Store, campaign: Identity, wanted: Page, confidence: float) -> Found:
    """Return the decisions that are wanted; see Campaign.decisions."""
    wanted.check()
    check_confidence(confidence)

    def read(connection: Connection) -> Found:
        if wanted.only is not None:
            require_decisions(connection, campaign)
        among, matching = _candidates(connection, campaign, wanted)
        keys = _keys(connection, wanted.order.removeprefix("-"))
        numbers = among.order_by(*_directed(wanted, keys)).limit(wanted.limit)
        if wanted.after is not None:
            numbers = numbers.where(_comes_after(connection, campaign, wanted, keys))
        sorted_rows = ROWS.where(arms.c.number.in_(numbers)).order_by(*_directed(wanted, keys))
        return Found(decisions_of(read_decided(connection, campaign, sorted_rows), confidence), matching)

    return store.read(read)


def _keys(connection: Connection, order: str) -> list[ColumnElement[Any]]:
    """Return what arms are sorted by; the last is different for each."""
    if order == "id":  # as Python sorts texts, whatever the language of the database
        return [arms.c.name.collate("C") if connection.dialect.name == "postgresql" else arms.c.name]
    if order == "given":
        return [arms.c.number]
    mean = case((arms.c.pulls == 0, literal(-1.0, Double)), else_=cast(arms.c.total, Double) / arms.c.pulls)
    return [{"wrong": arms.c.doubt, "mean": mean, "pulls": arms.c.pulls}[order], arms.c.number]


def _directed(wanted: Page, keys: list[ColumnElement[Any]]) -> list[ColumnElement[Any]]:
    return [key.desc() for key in keys] if wanted.order.startswith("-") else keys


def _candidates(connection: Connection, campaign: Identity, wanted: Page) -> tuple[Select[tuple[int]], int | None]:
    """Return the query for the numbers of the arms that filter and search find, and how many they are.

    Where they are few, their numbers stand in the query, so that the arms are gone through once.
    """
    conditions: list[ColumnElement[bool]] = []
    if wanted.only is not None:
        conditions.append(arms.c.decision == _DECISIONS[wanted.only])
    if wanted.search is not None:
        conditions.append(_contains(connection, wanted.search))
    # an arm that is retired is neither above nor below; where there is none, it saves time not to look
    if wanted.only in (None, "undecided") and read_state(connection, campaign).retired:
        conditions.append(arms.c.retired == false())
    by_index = arms.c.campaign_id == campaign.id  # cutline_arms_doubt, which has the decisions, too
    by_number = arms.c.number.between(*campaign.numbers)
    sorted_arms = select(arms.c.number).where(by_index if wanted.order.endswith("wrong") else by_number, *conditions)
    if wanted.only is None and wanted.search is None:
        return sorted_arms, None
    unsorted = select(arms.c.number).where(by_index if wanted.search is None else by_number, *conditions)
    found = connection.scalars(unsorted.limit(COUNTED + 1)).all()
    few = len(found) <= COUNTED
    return select(arms.c.number).where(arms.c.number.in_(found)) if few else sorted_arms, len(found)


def _contains(connection: Connection, text: str) -> ColumnElement[bool]:
    """Return the condition that an id contains a text, where A to Z in either case are the same."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    if connection.dialect.name == "postgresql":
        return arms.c.name.collate("C").ilike(f"%{escaped}%", escape="\\")
    return arms.c.name.like(f"%{escaped}%", escape="\\")  # SQLite's own does not look at the case


def _comes_after(
    connection: Connection, campaign: Identity, wanted: Page, keys: list[ColumnElement[Any]]
) -> ColumnElement[bool]:
    """Return the condition for the arms that come after the last one of the page before."""
    assert wanted.after is not None
    row = connection.execute(select(*keys).where(arms.c.name_digest == campaign.digest(wanted.after))).first()
    if row is None:
        raise NotFoundError(f"campaign {campaign.name!r} has no arm {quoted(wanted.after)}")
    here, there = tuple_(*keys), tuple_(*(literal(value, key.type) for value, key in zip(row, keys, strict=True)))
    return here < there if wanted.order.startswith("-") else here > there
