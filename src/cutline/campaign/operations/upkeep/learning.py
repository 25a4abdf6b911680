"""Learning: from time to time a campaign learns from the results of all its arms, and then all arms follow.

What was learnt is written down as a new generation. The arms are brought up to date in batches, each a short
transaction of its own, by whoever calls next; a process may die between any two of them. A clock ends a batch, so that
on a machine with other work, too, nobody is held off for long.
"""

from time import monotonic
from typing import Any

from sqlalchemy import Connection, false, func, insert, select, update

from cutline.beliefs.evidence import next_fit
from cutline.campaign.arithmetic import UNIT, Learnt
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, terms_of
from cutline.campaign.database.rows import counters
from cutline.campaign.database.rows.arms_and_pulls import ArmsGrowth, lock_range, write_arms
from cutline.campaign.database.rows.learnt import State, are_decided, arithmetic_of, read_learnt, read_state
from cutline.campaign.database.schema import arms, campaigns, learnt
from cutline.campaign.database.store import Store
from cutline.campaign.operations.upkeep.pace import Pace
from cutline.campaign.settings import Settings
from cutline.policies import LearningPolicy, tally

_BATCH, _SLICE, _HELD = 10_000, 200, 0.25
"""One transaction brings at most so many arms up to date, so many at a time, and no more after so many seconds."""

_FEWEST = 20
_PART, _PART_TO_TARGET = 2, 5
"""It is time to learn again after as many results as there were before, divided by this, but ``_FEWEST``.

A campaign that ends as soon as few enough errors are expected is divided by the second.
"""

_RECORDS = (
    select(arms.c.pulls, arms.c.total, arms.c.squares, func.count().label("arms"))
    .where(arms.c.retired == false())
    .group_by(arms.c.pulls, arms.c.total, arms.c.squares)
)


def next_time(settings: Settings, arms: int, known: Learnt, results: int) -> int | None:
    """Return at how many results a campaign of so many arms that has learnt from ``results`` learns again.

    None for never; a campaign that has learnt nothing yet has learnt from none.
    """
    policy, times = settings.policy, []
    if settings.weighed:
        return next_fit(results) if results else max(arms, _FEWEST)
    if settings.prior is None:
        part = _PART if settings.target_errors is None else _PART_TO_TARGET
        times.append(results + max(_FEWEST, results // part) if results else max(arms, _FEWEST))
        if settings.target_errors is not None and known.knowledge and known.knowledge.get("caution") is None:
            times.append(results + 1)
    if isinstance(policy, LearningPolicy):
        times.append(max(policy.next_refit(max(arms, 1), known.policy_from), results + 1))
    return min(times, default=None)


def decide_after_upgrade(store: Store, campaign: Identity, clock: Clock) -> None:
    """Write what is decided of each arm, if an upgrade of the database has left that open and this user may write."""
    if not store.read_only and not store.read(lambda connection: are_decided(connection, campaign)):
        keep_up(store, campaign, clock, wholly=True)


def after(store: Store, campaign: Identity, clock: Clock, state: State, told: bool = False) -> None:
    """Keep up after an ask or a tell that has left the campaign in this state, or have its keeper do so."""
    if campaign.keeper is None:
        keep_up(store, campaign, clock, state, told)
    else:
        campaign.keeper(state, told)


def is_behind(state: State) -> bool:
    """Whether it is time to learn, or some arms are not up to date."""
    return state.up_to_date < state.arms or (state.learn_at is not None and state.results >= state.learn_at)


def may_be_due(campaign: Identity, state: State, told: bool) -> bool:
    """Tell whether ``keep_up`` may have something to do after an ask or a tell that has left this state."""
    return is_behind(state) or (told and counters.may_be_finished(campaign.settings, state))


def has_ended(store: Store, campaign: Identity, state: State) -> bool:
    """Tell whether a campaign is finished in a state."""
    settings = campaign.settings
    return counters.may_be_finished(settings, state) and store.read(
        lambda connection: counters.why_finished(connection, campaign, settings, state) is not None
    )


def keep_up(
    store: Store,
    campaign: Identity,
    clock: Clock,
    state: State | None = None,
    told: bool = False,
    wholly: bool = False,
) -> bool:
    """Learn if it is time, and bring a batch of arms up to date if some are not; ``wholly``: as many as there are.

    Return whether there was anything to do. ``state`` is that of the campaign after the caller's transaction, None if
    it does not know it; ``told`` says that it told rewards. If they are the last, because the budget is spent or the
    target is reached, it is time, for all arms.
    """
    now = store.read(lambda connection: read_state(connection, campaign)) if state is None else state
    if now.up_to_date == now.arms:
        ends = told and has_ended(store, campaign, now)
        due = now.learn_at is not None and now.results > now.learnt_from and (ends or now.results >= now.learn_at)
        if not due or not store.learning.acquire(blocking=ends):  # another thread is learning what there is
            return False
        try:
            if not _learn(store, campaign, clock, now.generation):
                return False
        finally:
            store.learning.release()
        wholly = wholly or ends
    pace = Pace()
    while _bring_batch(store, campaign) and wholly:
        pace.between()
    return True


def _learn(store: Store, campaign: Identity, clock: Clock, generation: int) -> bool:
    """Learn the next generation; return whether it is this one that counts."""
    state, settings, before, records = store.read(lambda connection: _read(connection, campaign))
    if state.generation != generation:
        return False
    new = _learn_from(settings, state, records, before)

    def write(connection: Connection) -> bool:
        following = update(campaigns).where(
            campaigns.c.id == campaign.id,
            campaigns.c.generation == generation,
            campaigns.c.up_to_date == campaigns.c.arms,
        )
        counted = connection.execute(
            following.values(
                generation=generation + 1,
                learnt_from=state.results,
                learn_at=next_time(settings, state.active, new, state.results),
                up_to_date=0,
            )
        )
        if not counted.rowcount:
            return False
        write_learnt(connection, campaign, clock, state._replace(generation=generation + 1), new)
        return True

    return store.write(write, safe=False)  # what a power failure undoes is learnt again


def write_learnt(connection: Connection, campaign: Identity, clock: Clock, state: State, known: Learnt) -> None:
    """Write down what the generation of a state has learnt from its results."""
    row = {
        "campaign_id": campaign.id,
        "generation": state.generation,
        "time": clock.now(connection),
        "results": state.results,
        "knowledge": known.as_text(),
    }
    connection.execute(insert(learnt).values(row))


def _read(connection: Connection, campaign: Identity) -> tuple[State, Settings, Learnt, Any]:
    """Return the state of a campaign, its settings, what it knows, and what there is to learn from.

    That is its records (pulls, total, squares, arms), or where workers are weighed who gave which label.
    """
    state = read_state(connection, campaign)
    settings = terms_of(connection, campaign, state.version).settings
    records: Any
    if settings.weighed:
        from cutline.campaign.operations.upkeep.learning_workers import read_labels

        records = read_labels(connection, campaign, state.arms, settings.excluded)
    else:
        rows = connection.execute(
            _RECORDS.where(arms.c.number.between(*campaign.numbers)).order_by(*_RECORDS.selected_columns[:3])
        )
        records = [tuple(row) for row in rows]
        state = read_state(connection, campaign)
        settings = terms_of(connection, campaign, state.version).settings
    return state, settings, read_learnt(connection, campaign, state.generation), records


def _learn_from(settings: Settings, state: State, records: Any, before: Learnt) -> Learnt:
    """Return what there is to learn from records; what it is not time for stays as it was before."""
    if settings.weighed:
        from cutline.campaign.operations.upkeep.learning_workers import learn_workers

        return before._replace(crowd=learn_workers(records))
    import numpy as np

    pulls, totals, squares, counts = np.array(records, dtype=np.int64).reshape(-1, 4).T
    new, some = before, pulls > 0
    if settings.prior is None and some.any():
        from cutline.beliefs.knowledge import Knowledge

        aims_at = None if settings.target_errors is None else settings.threshold
        known = Knowledge.learn(pulls[some], totals[some] / UNIT, squares[some] / UNIT, counts[some], aims_at)
        new = new._replace(knowledge=known.as_json())
    if (
        isinstance(settings.policy, LearningPolicy)
        and settings.policy.next_refit(max(state.active, 1), before.policy_from) <= state.results
    ):
        shown = tally(np.repeat(pulls, counts), np.repeat(totals, counts) / UNIT)
        new = new._replace(policy=settings.policy.learn(shown, settings.threshold), policy_from=state.results)
    return new


def _bring_batch(store: Store, campaign: Identity) -> bool:
    """Bring a batch of arms up to date, if some are not; return whether there are more."""
    store.read(lambda connection: arithmetic_of(connection, campaign, read_state(connection, campaign)).prepare())
    return store.write(lambda connection: _bring_some(connection, campaign), safe=False)


def _bring_some(connection: Connection, campaign: Identity) -> bool:
    """Bring the next arms up to date until it has been long enough; return whether there are more."""
    began, before = monotonic(), read_state(connection, campaign)
    first = following = before.up_to_date
    last = min(first + _BATCH, before.arms)
    growth = ArmsGrowth(doubt=0, decided=0)
    while following < last and (following == first or monotonic() - began < _HELD):
        end = min(following + _SLICE, last)
        locked = lock_range(connection, campaign, following, end - 1)
        if (locked.state.generation, locked.state.up_to_date) != (before.generation, first):
            break  # others were faster, or there is something new to follow
        written = write_arms(connection, campaign, locked.state, locked.arms.values())
        growth = ArmsGrowth(doubt=growth["doubt"] + written["doubt"], decided=growth["decided"] + written["decided"])
        following = end
    if following == first:
        return first < before.arms
    counters.add(connection, campaign, **growth).ignore()  # locks the campaign: nothing new comes in from here on
    same = (
        campaigns.c.id == campaign.id,
        campaigns.c.generation == before.generation,
        campaigns.c.up_to_date == first,
    )
    connection.execute(update(campaigns).where(*same).values(up_to_date=following))
    return following < before.arms
