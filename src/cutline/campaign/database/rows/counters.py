"""The counters in a campaign's row: adding to them, reading them, and the status that they make."""

from typing import TypedDict, Unpack

from sqlalchemy import Connection, bindparam, false, func, select, update

from cutline.campaign.arithmetic import CLOSED, DOUBT
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, terms_of
from cutline.campaign.database.prepared import Answer, Prepared
from cutline.campaign.database.rows.learnt import STATE, State, arithmetic_of
from cutline.campaign.database.schema import COUNTERS, IS_KNOWN, arms, campaigns, pulls
from cutline.campaign.database.store import Store
from cutline.campaign.results import Reason, Status
from cutline.campaign.settings import Settings

_ADD = Prepared(
    update(campaigns)
    .where(
        campaigns.c.id == bindparam("campaign"),
        campaigns.c.spent + campaigns.c.in_flight + bindparam("late") <= campaigns.c.budget,
    )
    .values({name: campaigns.c[name] + bindparam(f"more_{name}") for name in COUNTERS})
    .returning(campaigns.c.numbered)
)

_READ = {name: Prepared(select(campaigns.c[name]).where(campaigns.c.id == bindparam("campaign"))) for name in COUNTERS}

_STATUS = select(
    *STATE,
    campaigns.c.in_flight,
    select(func.count())
    .where(pulls.c.campaign_id == campaigns.c.id, pulls.c.expires <= bindparam("now"))
    .scalar_subquery()
    .label("ended"),
    select(arms.c.number)
    .where(arms.c.campaign_id == campaigns.c.id, arms.c.index_value < CLOSED)
    .limit(1)
    .scalar_subquery()
    .label("open_arm"),
    select(func.count())
    .where(arms.c.campaign_id == campaigns.c.id, *IS_KNOWN, arms.c.retired == false())
    .scalar_subquery()
    .label("known_answers"),
).where(campaigns.c.id == bindparam("campaign"))


class Growth(TypedDict, total=False):
    """By how much counters grow: those of schema.COUNTERS that change but once a campaign's arms are there."""

    numbered: int
    spent: int
    in_flight: int
    observed: int
    doubt: int
    decided: int


def add(connection: Connection, campaign: Identity, late: int = 0, **growth: Unpack[Growth]) -> Answer:
    """Add to the counters of a campaign.

    The answer is one row, the number of the last pull there is. There is none, and nothing has changed, if the budget
    has no room for ``late`` more pulls, or the campaign has been deleted. It is the last thing that a tell waits for,
    so that tells of different arms hold each other up only there.
    """
    values: dict[str, int] = {f"more_{name}": 0 for name in COUNTERS}
    values |= {f"more_{name}": value for name, value in growth.items() if isinstance(value, int)}
    return _ADD.send(connection, campaign=campaign.id, late=late, **values)


def read(connection: Connection, campaign: Identity, name: str) -> int:
    """Return one counter; raise NotFoundError if the campaign has been deleted."""
    rows = _READ[name].rows(connection, campaign=campaign.id)
    if not rows:
        raise campaign.gone()
    return int(rows[0][0])


def status(store: Store, campaign: Identity, clock: Clock) -> Status:
    """Return where the campaign stands; leases that have ended are not in flight."""

    def work(connection: Connection) -> Status:
        row = connection.execute(_STATUS, {"campaign": campaign.id, "now": clock.now(connection)}).first()
        if row is None:
            raise campaign.gone()
        state = State._make(row[: len(STATE)])
        _, name, settings = terms_of(connection, campaign, state.version)
        finished = why_finished(connection, campaign, settings, state)
        if finished is None and row.open_arm is None and row.in_flight == 0 and not state.is_changing:
            finished = Reason.ARMS_EXHAUSTED
        least_errors, more_needed = _outlook(connection, campaign, settings, state, row.known_answers)
        in_flight = row.in_flight - row.ended
        return Status(
            name=name,
            settings=settings,
            arms=state.active,
            spent=state.spent,
            in_flight=in_flight,
            left=settings.budget - state.spent - in_flight,
            observed=state.observed,
            expected_errors=state.doubt / DOUBT,
            finished=finished,
            more_needed=None if finished else more_needed,
            retired=state.retired,
            least_errors=least_errors,
            known_answers=row.known_answers,
        )

    return store.read(work)


def _outlook(
    connection: Connection, campaign: Identity, settings: Settings, state: State, known_answers: int
) -> tuple[float, int | None]:
    """Return the errors that any number of pulls leaves, and about how many pulls the target takes; see Status."""
    target = settings.target_errors
    if target is None and not settings.weighed:
        return 0.0, None
    arithmetic = arithmetic_of(connection, campaign, state)
    open_arms = state.active - known_answers
    least = arithmetic.least_wrong * open_arms
    if target is None or target <= least or not open_arms:
        return least, None
    return least, arithmetic.more_pulls(state.doubt / DOUBT, target, open_arms)


def why_finished(connection: Connection, campaign: Identity, settings: Settings, state: State) -> Reason | None:
    """Return which stop rule holds, if one does."""
    if _is_near(settings, state) and settings.target_errors is not None:
        caution = arithmetic_of(connection, campaign, state).caution
        if state.doubt * caution <= settings.target_errors * DOUBT:
            return Reason.TARGET_REACHED
    return Reason.BUDGET_SPENT if state.spent >= settings.budget else None


def may_be_finished(settings: Settings, state: State) -> bool:
    """Tell whether it is worth asking ``why_finished``."""
    return state.spent >= settings.budget or _is_near(settings, state)


def _is_near(settings: Settings, state: State) -> bool:
    """Tell whether no more errors are expected than the target, by what is known of many arms.

    That is a prior that was given, or as many results as there are arms. Until then expected errors are those of the
    flat prior, for which nearly all means are below a threshold near 1.
    """
    target = settings.target_errors
    if target is None or state.doubt > target * DOUBT or state.is_changing:
        return False
    return settings.prior is not None or state.results >= state.active
