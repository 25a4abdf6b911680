"""Decisions page by page: sorted, filtered and searched by the database, which reads no more than it must.

Arms are sorted and filtered by what stands in their rows. These follow an import or a change of the settings within
seconds; until then what a page says of its arms is up to date, but their order may be that of before.
"""

from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Double, Select, case, cast, false, func, literal, select, tuple_

from cutline.campaign.checks import check_confidence, check_text
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.rows.learnt import require_decisions
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


def page(store: Store, campaign: Identity, wanted: Page, confidence: float) -> list[Decision]:
    """Return the decisions that are wanted; see Campaign.decisions."""
    wanted.check()
    check_confidence(confidence)

    def read(connection: Connection) -> list[Decision]:
        if wanted.only is not None:
            require_decisions(connection, campaign)
        keys = _keys(connection, wanted.order.removeprefix("-"))
        numbers = _numbers(connection, campaign, wanted, keys)
        sorted_rows = ROWS.where(arms.c.number.in_(numbers)).order_by(*_directed(wanted, keys))
        return decisions_of(read_decided(connection, campaign, sorted_rows), confidence)

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


def _numbers(
    connection: Connection, campaign: Identity, wanted: Page, keys: list[ColumnElement[Any]]
) -> Select[tuple[int]]:
    """Return the query for the numbers of the arms that are wanted."""
    numbers = select(arms.c.number).order_by(*_directed(wanted, keys)).limit(wanted.limit)
    if wanted.order.endswith("wrong") and wanted.search is None:
        numbers = numbers.where(arms.c.campaign_id == campaign.id)  # the index cutline_arms_doubt has all it takes
    else:
        numbers = numbers.where(arms.c.number.between(*campaign.numbers))
    if wanted.only is not None:
        numbers = numbers.where(arms.c.decision == _DECISIONS[wanted.only])
    if wanted.only in (None, "undecided"):  # an arm that is retired is neither above nor below
        numbers = numbers.where(arms.c.retired == false())
    if wanted.search is not None:
        position = func.strpos if connection.dialect.name == "postgresql" else func.instr
        numbers = numbers.where(position(arms.c.name, wanted.search) > 0)
    if wanted.after is not None:
        row = connection.execute(select(*keys).where(arms.c.name_digest == campaign.digest(wanted.after))).first()
        if row is None:
            raise NotFoundError(f"campaign {campaign.name!r} has no arm {quoted(wanted.after)}")
        here, there = tuple_(*keys), tuple_(*(literal(value, key.type) for value, key in zip(row, keys, strict=True)))
        numbers = numbers.where(here < there if wanted.order.startswith("-") else here > there)
    return numbers
