"""What a campaign says of its arms, and the results that it rests on."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, Select, bindparam, false, func, select

from cutline.campaign.arithmetic import UNIT, Floats, Truths, Whole
from cutline.campaign.checks import check_confidence
from cutline.campaign.database.identity import Identity, terms_of
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.evidence import sum_evidence, unheard
from cutline.campaign.database.rows.imports import IS_DECIDED, Change
from cutline.campaign.database.rows.learnt import State, arithmetic_of, make_arithmetic, read_learnt, read_state
from cutline.campaign.database.schema import STAGED, TOLD, arms, import_arms, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.results import Decision, Result
from cutline.campaign.settings import Settings
from cutline.checks import check_whole
from cutline.threshold import check_threshold

_PAGE = 10_000

_ARMS_AT_ONCE = 100_000
"""Decisions of more arms are made of the rows of so many at a time: those of a million took 0.4 GB beside them."""

ROWS = (
    select(
        arms.c.number,
        arms.c.name,
        arms.c.payload,
        arms.c.generation,
        arms.c.retired,
        arms.c.evidence,
        arms.c.known,
        (import_arms.c.arm.is_not(None)).label("changing"),
        *((arms.c[name] + func.coalesce(import_arms.c[name], 0)).label(name) for name in Change._fields),
    )
    .select_from(arms)
    .outerjoin(import_arms, (import_arms.c.arm == arms.c.number) & IS_DECIDED)
)
"""What decisions are made of, for the arms that a condition chooses; it has the parameter ``campaign``."""

_ARMS = ROWS.where(arms.c.number.between(bindparam("first"), bindparam("last")))
_ALL = _ARMS.where(arms.c.retired == bindparam("retired")).order_by(arms.c.number).limit(bindparam("n"))
_NEAREST = _ALL.order_by(None).order_by(arms.c.doubt.desc(), arms.c.position, arms.c.number)

_RESULTS = (
    select(
        pulls.c.number,
        pulls.c.arm,
        arms.c.name,
        pulls.c.reward,
        pulls.c.worker,
        pulls.c.key,
        pulls.c.state,
        pulls.c.note,
        pulls.c.time,
    )
    .join(arms, arms.c.number == pulls.c.arm)
    .where(
        pulls.c.number.between(bindparam("first"), bindparam("last")),
        pulls.c.reward.is_not(None),
        (pulls.c.state != STAGED) | IS_DECIDED,
    )
    .order_by(pulls.c.number)
    .limit(_PAGE)
)


_RECORDS = (
    select(arms.c.pulls, arms.c.total, arms.c.squares, func.count(), func.count(arms.c.known))
    .where(arms.c.retired == false())
    .group_by(arms.c.pulls, arms.c.total, arms.c.squares)
)


class Decided(NamedTuple):
    """Rows of arms, and what is decided of them: of each of the records that some of them have.

    ``records`` holds pulls, totals and squares, shape (R, 3); ``above`` whether such an arm is above ``threshold``,
    ``wrong`` the probability that this is wrong, (R,) each. ``which`` is the place of each row's record, (rows,).
    ``unheard``: the numbers of the arms that have results, of excluded workers alone.
    """

    threshold: float
    rows: list[Any]
    records: Whole
    above: Truths
    wrong: Floats
    which: NDArray[np.intp]
    unheard: set[int]


def records(store: Store, campaign: Identity) -> list[tuple[int, float, float, int, int]]:
    """Return the different records; see Campaign.records."""
    among = _RECORDS.where(arms.c.number.between(*campaign.numbers))

    def read(connection: Connection) -> list[tuple[int, float, float, int, int]]:
        counters.read(connection, campaign, "observed")  # raises if the campaign is gone
        rows = connection.execute(among)
        return [(pulls, total / UNIT, squares / UNIT, count, known) for pulls, total, squares, count, known in rows]

    return store.read(read)


def decisions(
    store: Store,
    campaign: Identity,
    nearest: int | None,
    confidence: float,
    threshold: float | None = None,
    retired: bool = False,
) -> list[Decision]:
    """Return the decisions; see Campaign.decisions."""
    n = None if nearest is None else check_whole("nearest", nearest, 1)
    check_confidence(confidence)
    instead = None if threshold is None else check_threshold(threshold)
    first, last = campaign.numbers
    values = {"first": first, "last": last, "retired": retired}

    def all_of_them(connection: Connection) -> list[Decision]:
        found: list[Decision] = []
        page = {**values, "n": _ARMS_AT_ONCE}
        while True:
            decided = read_decided(connection, campaign, _ALL, page, instead)
            found += decisions_of(decided, confidence)
            if len(decided.rows) < _ARMS_AT_ONCE:
                return found
            page["first"] = decided.rows[-1].number + 1

    if n is None:
        return store.read(all_of_them)
    if instead is None and not retired:  # the doubts that are stored are those asked for
        read = partial(read_decided, campaign=campaign, query=_NEAREST, more={**values, "n": n})
        return decisions_of(store.read(read), confidence)
    return sorted(store.read(all_of_them), key=lambda item: -item.wrong)[:n]


def decisions_of(decided: Decided, confidence: float) -> list[Decision]:
    """Return decisions that have been read."""
    from cutline.beliefs.intervals import interval  # loads scipy, which results and status do not need

    pulls, totals, squares = decided.records.T
    bounds = _hoeffding(decided.threshold, pulls, totals)
    ends = interval(pulls, totals / UNIT, confidence, squares / UNIT)
    columns = (each[decided.which].tolist() for each in (decided.above, decided.wrong, bounds, *ends))
    return [
        Decision(
            arm=row.name,
            payload=None if row.payload is None else json.loads(row.payload),
            pulls=row.pulls,
            in_flight=row.in_flight,
            mean=row.total / (row.pulls * UNIT) if row.pulls else None,
            above=side if row.known is not None or (row.pulls and row.number not in decided.unheard) else None,
            wrong=doubt,
            probability=1.0 - doubt if side else doubt,
            known=row.known is not None,
            hoeffding=bound,
            low=low,
            high=high,
            retired=bool(row.retired),
        )
        for row, side, doubt, bound, low, high in zip(decided.rows, *columns, strict=True)
    ]


def rows_of_arm(connection: Connection, campaign: Identity, number: int) -> Decided:
    """Return the row of one arm, and what is decided of it."""
    return read_decided(connection, campaign, _ARMS, {"first": number, "last": number})


def read_decided(
    connection: Connection,
    campaign: Identity,
    query: Select[Any],
    more: Mapping[str, Any] | None = None,
    threshold: float | None = None,
) -> Decided:
    """Return the rows of arms that a query finds, which is made of ``ROWS``, and what is decided of them.

    ``threshold``: instead of the campaign's own.
    """
    state = read_state(connection, campaign)
    rows = connection.execute(query, {"campaign": campaign.id, **(more or {})}).all()
    settings = terms_of(connection, campaign, state.version).settings
    asked = settings if threshold is None else replace(settings, threshold=threshold)
    records = _records_of(connection, campaign, state, rows, settings)
    silent = (row.number for row, record in zip(rows, records, strict=True) if record[0] and record[4] == 0)
    undecided = unheard(connection, campaign, arithmetic_of(connection, campaign, state), silent)
    kinds, kind = np.unique(records, axis=0, return_inverse=True)
    above, wrong = np.empty(len(kinds), dtype=np.bool_), np.empty(len(kinds))
    for generation in np.unique(kinds[:, 3]).tolist():
        some = kinds[:, 3] == generation
        if threshold is None:
            arithmetic = arithmetic_of(connection, campaign, state._replace(generation=generation))
        else:
            arithmetic = make_arithmetic(campaign, asked, read_learnt(connection, campaign, generation))
        pulls, totals, squares = kinds[some, :3].T
        above[some], wrong[some] = arithmetic.decide(pulls, totals, squares, kinds[some, 4])
    known = kinds[:, 5] >= 0
    above[known], wrong[known] = kinds[known, 5] == 1, 0.0
    return Decided(asked.threshold, list(rows), kinds[:, :3], above, wrong, kind, undecided)


def _records_of(
    connection: Connection, campaign: Identity, state: State, rows: Sequence[Any], settings: Settings
) -> NDArray[np.int64]:
    """Return pulls, total, squares, generation, evidence and known answer of arms, (K, 6).

    -1 stands for an answer that is not known, and there is no evidence but where workers are weighed. Arms that still
    follow other settings are taken to be of the present generation. Of these, and of arms that an import changes, the
    evidence is summed anew.
    """
    values = [
        (row.pulls, row.total, row.squares, row.generation, row.evidence, -1 if row.known is None else row.known)
        for row in rows
    ]
    records = np.array(values, np.int64).reshape(-1, 6)
    stale = records[:, 3] < state.changed_at
    records[stale, 3] = state.generation
    if not settings.weighed:
        records[:, 4] = 0
        return records
    anew = np.flatnonzero(stale | np.array([row.changing for row in rows], np.bool_))
    numbers = [rows[place].number for place in anew.tolist()]
    sums = sum_evidence(connection, campaign, arithmetic_of(connection, campaign, state), numbers)
    records[anew, 4] = [sums[number] for number in numbers]
    records[anew, 3] = state.generation
    return records


def _hoeffding(threshold: float, pulls: NDArray[np.int64], totals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return min(1, 2 exp(-2 T_i gap_i^2)) of each arm (Section 3), 1 without pulls."""
    from cutline.theory.concentration import chernoff_hoeffding

    count = np.maximum(pulls, 1)
    gap = np.abs(totals / (count * UNIT) - threshold)
    known = (pulls > 0) & (gap > 0)
    bounds = np.ones(pulls.shape)
    bounds[known] = chernoff_hoeffding(pulls[known], gap[known])
    return bounds


def results(store: Store, campaign: Identity) -> Iterator[Result]:
    """Yield all rewards; see Campaign.results."""
    for page in result_pages(store, campaign):
        for row in page:
            key = row.key or campaign.pull_id((row.number, row.arm))
            yield Result(row.name, row.reward / UNIT, row.worker, key, row.state != TOLD, row.note)


def result_pages(store: Store, campaign: Identity) -> Iterator[list[Any]]:
    """Yield all rewards page by page, as rows: number, arm, name, reward, worker, key, state, note, time."""
    first = campaign.base
    while True:
        page = store.read(partial(_page, campaign=campaign, first=first))
        yield page
        if len(page) < _PAGE:
            return
        first = page[-1].number + 1


def _page(connection: Connection, campaign: Identity, first: int) -> list[Any]:
    counters.read(connection, campaign, "observed")
    return list(
        connection.execute(_RESULTS, {"campaign": campaign.id, "first": first, "last": campaign.numbers[1]}).all()
    )
