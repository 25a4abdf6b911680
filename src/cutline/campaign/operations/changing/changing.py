"""Changing: the name, the settings and the arms of a campaign, while others ask and tell.

What index and probability of error of the arms depend on makes a new generation, as learning does, and the arms follow
in batches. Until all have, the sum of the probabilities says nothing, and no campaign ends by it.
"""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import Connection, update
from sqlalchemy.exc import IntegrityError

from cutline.campaign.arithmetic import Learnt
from cutline.campaign.checks import check_known, check_name, check_text
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.identity import Identity, Terms, terms_of
from cutline.campaign.database.rows import history
from cutline.campaign.database.rows.history import Entry
from cutline.campaign.database.rows.learnt import State, read_learnt
from cutline.campaign.database.schema import campaigns
from cutline.campaign.database.store import Store
from cutline.campaign.operations.asking.asking import lock_and_sweep
from cutline.campaign.operations.changing import roster
from cutline.campaign.operations.changing.creation import Arms, checked_arms, taken
from cutline.campaign.operations.changing.excluding import excluded_then
from cutline.campaign.operations.upkeep import learning
from cutline.campaign.results import Change
from cutline.campaign.settings import OF_ARMS, Settings
from cutline.errors import ConflictError, InvalidInputError


def rename(store: Store, campaign: Identity, clock: Clock, name: str) -> None:
    """Give a campaign another name; see Campaign.rename."""
    check_name(name)

    def work(connection: Connection) -> Terms:
        state, _ = lock_and_sweep(connection, campaign, clock)
        terms = terms_of(connection, campaign, state.version)
        if name == terms.name:
            return terms
        version, _ = history.write(connection, campaign, clock, [Entry("name", terms.name, name)])
        try:
            connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(name=name))
        except IntegrityError:
            raise taken(store, name) from None
        return Terms(version, name, terms.settings)

    campaign.follow(store.write(work))


class Roster(NamedTuple):
    """The arms and workers that are to change; see Campaign.change."""

    add: Arms = ()
    retire: Iterable[str] = ()
    bring_back: Iterable[str] = ()
    known: Mapping[str, bool] | None = None
    forget: Iterable[str] = ()
    exclude: Iterable[str] = ()
    readmit: Iterable[str] = ()

    def checked(self) -> "Roster":
        """Return all but ``add`` converted; raise InvalidInputError for what is no id, and for a contradiction."""
        lists = {
            name: checked_ids(name, getattr(self, name))
            for name in ("retire", "bring_back", "forget", "exclude", "readmit")
        }
        known = check_known(self.known)
        for one, other, what in (
            (lists["retire"], lists["bring_back"], "arm {!r} is to be retired and to be brought back"),
            (known, lists["forget"], "the answer to arm {!r} is to be known and to be forgotten"),
            (lists["exclude"], lists["readmit"], "worker {!r} is to be excluded and to be readmitted"),
        ):
            for both in {*one} & {*other}:
                raise InvalidInputError(what.format(both))
        return self._replace(known=known, **lists)


def change(store: Store, campaign: Identity, clock: Clock, settings: Mapping[str, Any], given: Roster) -> list[Change]:
    """Change settings, arms and workers, and bring all arms up to date; see Campaign.change."""
    new, wanted = list(checked_arms(given.add)), given.checked()
    if "excluded" in settings and (wanted.exclude or wanted.readmit):
        raise InvalidInputError("excluded is the whole list of workers; give that, or whom to exclude and to readmit")
    known, added = wanted.known or {}, {name for name, _ in new}
    others = (*wanted.retire, *wanted.bring_back, *known, *wanted.forget)
    roster.require(store, campaign, [name for name in others if name not in added])
    terms, made = store.write(lambda connection: _change(connection, store, campaign, clock, settings, wanted))
    campaign.follow(terms)
    logs = [*roster.add(store, campaign, clock, new)]
    logs += [
        roster.retire(store, campaign, clock, wanted.retire),
        roster.bring_back(store, campaign, clock, wanted.bring_back),
        roster.know(store, campaign, clock, known),
        roster.forget(store, campaign, clock, wanted.forget),
    ]
    while learning.keep_up(store, campaign, clock, wholly=True):
        pass
    numbers = [log.number for log in logs if log.number is not None]
    return made + store.read(lambda connection: history.read(connection, campaign, numbers))


def checked_ids(what: str, names: Iterable[str]) -> list[str]:
    """Return ids; raise InvalidInputError for one that cannot be one."""
    if isinstance(names, (str, bytes)):
        raise InvalidInputError(f"{what} is one text; give a list of ids")
    return [check_text(f"{what}:", name) for name in names]


def _change(
    connection: Connection,
    store: Store,
    campaign: Identity,
    clock: Clock,
    changes: Mapping[str, Any],
    wanted: Roster,
) -> tuple[Terms, list[Change]]:
    """Change settings; return the terms that hold then, and what has changed."""
    state, in_flight = lock_and_sweep(connection, campaign, clock)
    terms = terms_of(connection, campaign, state.version)
    if wanted.exclude or wanted.readmit:
        before = terms.settings.excluded
        excluded = excluded_then(connection, campaign, before, list(wanted.exclude), list(wanted.readmit))
        changes = {**changes, "excluded": excluded}
    settings = terms.settings.changed(changes)
    settings.require_known(wanted.known or {})
    old, new = terms.settings.as_dict(), settings.as_dict()
    entries = [Entry(name, old[name], new[name]) for name in new if new[name] != old[name]]
    if not entries:
        return terms, []
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
    else:
        known = read_learnt(connection, campaign, state.generation)
        columns["learn_at"] = learning.next_time(settings, state.active, known, state.learnt_from)
    connection.execute(update(campaigns).where(campaigns.c.id == campaign.id).values(columns))
    return Terms(version, terms.name, settings), made


def _new_generation(
    connection: Connection, campaign: Identity, clock: Clock, state: State, old: Settings, new: Settings
) -> dict[str, int | None]:
    """Begin a generation that has what is still true of what was learnt; return the columns that say so."""
    known = before = read_learnt(connection, campaign, state.generation)
    if new.prior is not None or new.weighed:
        known = known._replace(knowledge=None)
    if not new.weighed:
        known = known._replace(crowd=None)
    if known.knowledge is not None and new.threshold != old.threshold:
        known = known._replace(knowledge={**known.knowledge, "caution": None})
    if (new.policy, new.threshold) != (old.policy, old.threshold):
        known = known._replace(policy=None, policy_from=Learnt().policy_from)
    anew = known != before or (new.weighed, new.excluded) != (old.weighed, old.excluded)
    learnt_from = 0 if anew else state.learnt_from
    following = state._replace(generation=state.generation + 1)
    learning.write_learnt(connection, campaign, clock, following, known)
    return {
        "generation": following.generation,
        "changed_at": following.generation,
        "up_to_date": 0,
        "learnt_from": learnt_from,
        "learn_at": learning.next_time(new, state.active, known, learnt_from),
    }
