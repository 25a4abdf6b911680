"""Changing: the name and the settings of a campaign, while others ask and tell.

What index and probability of error of the arms depend on makes a new generation, as learning does, and the arms follow
in batches. Until all have, the sum of the probabilities says nothing, and no campaign ends by it.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, update
from sqlalchemy.exc import IntegrityError

from cutline.campaign.arithmetic import Learnt
from cutline.campaign.checks import check_name
from cutline.campaign.database import history
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.history import Entry
from cutline.campaign.database.identity import Identity, Terms, terms_of
from cutline.campaign.database.learnt import State, read_learnt
from cutline.campaign.database.schema import campaigns
from cutline.campaign.database.store import Store
from cutline.campaign.operations import learning
from cutline.campaign.operations.asking import lock_and_sweep
from cutline.campaign.operations.creation import taken
from cutline.campaign.results import Change
from cutline.campaign.settings import OF_ARMS, Settings
from cutline.errors import ConflictError


def rename(store: Store, campaign: Identity, clock: Clock, name: str) -> None:
    """Give a campaign another name; see Campaign.rename."""
    check_name(name)

    def work(connection: Connection) -> None:
        state, _ = lock_and_sweep(connection, campaign, clock)
        terms = terms_of(connection, campaign, state.version)
        if name == terms.name:
            return
        version, _ = history.write(connection, campaign, clock, [Entry("name", terms.name, name)])
        try:
            connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(name=name))
        except IntegrityError:
            raise taken(store, name) from None
        campaign.terms = Terms(version, name, terms.settings)

    store.write(work)


def change_settings(store: Store, campaign: Identity, clock: Clock, changes: Mapping[str, Any]) -> list[Change]:
    """Change settings, and bring all arms up to date where they depend on them; see Campaign.change."""
    made = store.write(lambda connection: _change(connection, store, campaign, clock, changes))
    while learning.keep_up(store, campaign, clock, wholly=True):
        pass
    return made


def _change(
    connection: Connection, store: Store, campaign: Identity, clock: Clock, changes: Mapping[str, Any]
) -> list[Change]:
    state, in_flight = lock_and_sweep(connection, campaign, clock)
    terms = terms_of(connection, campaign, state.version)
    settings = terms.settings.changed(changes)
    before, after = terms.settings.as_dict(), settings.as_dict()
    entries = [Entry(name, before[name], after[name]) for name in after if after[name] != before[name]]
    if not entries:
        return []
    if not store.in_memory:
        settings.require_readable()
    if settings.budget < state.spent + in_flight:
        raise ConflictError(
            f"campaign {terms.name!r}: {state.spent:,} pulls are spent and {in_flight:,} in flight, so the budget "
            f"cannot be {settings.budget:,}; the least is {state.spent + in_flight:,}"
        )
    version, made = history.write(connection, campaign, clock, entries)
    columns = settings.columns()
    if any(entry.what in OF_ARMS for entry in entries):
        columns |= _new_generation(connection, campaign, clock, state, terms.settings, settings)
    connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(columns))
    campaign.terms = Terms(version, terms.name, settings)
    return made


def _new_generation(
    connection: Connection, campaign: Identity, clock: Clock, state: State, old: Settings, new: Settings
) -> dict[str, int | None]:
    """Begin a generation that has what is still true of what was learnt; return the columns that say so."""
    known = before = read_learnt(connection, campaign, state.generation)
    if new.prior is not None:
        known = known._replace(knowledge=None)
    if (new.policy, new.threshold) != (old.policy, old.threshold):
        known = known._replace(policy=None, policy_from=Learnt().policy_from)
    learnt_from = state.learnt_from if known == before else 0
    following = state._replace(generation=state.generation + 1)
    learning.write_learnt(connection, campaign, clock, following, known)
    return {
        "generation": following.generation,
        "changed_at": following.generation,
        "up_to_date": 0,
        "learnt_from": learnt_from,
        "learn_at": learning.next_time(new, state.active, known, learnt_from),
    }
