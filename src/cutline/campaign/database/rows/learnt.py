"""What a campaign has learnt from the results of all its arms, generation by generation, and where it stands with it.

Generation 0 knows the settings alone. Each arm says of which generation its index and its doubt are. Whoever computes
them reads the state once the arm is locked: so an arm that is changed while something new is learnt either follows the
new generation, or is found and brought up to date by those who go through all arms after that.
"""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, exists, select

from cutline.campaign.arithmetic import Arithmetic, Learnt
from cutline.campaign.database.identity import Identity, terms_of
from cutline.campaign.database.prepared import Answer, Prepared
from cutline.campaign.database.schema import NOT_KNOWN, arms, campaigns, learnt
from cutline.campaign.settings import Settings
from cutline.campaign.weights import WeighedArithmetic
from cutline.errors import StoreError

STATE = (
    campaigns.c.generation,
    campaigns.c.spent,
    campaigns.c.observed,
    campaigns.c.doubt,
    campaigns.c.learnt_from,
    campaigns.c.learn_at,
    campaigns.c.up_to_date,
    campaigns.c.arms,
    campaigns.c.retired,
    campaigns.c.version,
    campaigns.c.changed_at,
)
"""The columns of a campaign that a State holds, in its order."""

_STATE = Prepared(select(*STATE).where(campaigns.c.id == bindparam("campaign")))
_KNOWLEDGE = Prepared(
    select(learnt.c.knowledge).where(
        learnt.c.campaign_id == bindparam("campaign"), learnt.c.generation == bindparam("generation")
    )
)

_NOT_DECIDED = Prepared(
    select(campaigns.c.id).where(
        campaigns.c.id == bindparam("campaign"),
        campaigns.c.up_to_date < campaigns.c.arms,
        exists().where(arms.c.number.between(bindparam("first"), bindparam("last")), arms.c.decision == NOT_KNOWN),
    )
)

_KEPT = 4
"""Generations whose arithmetic a process keeps."""


class State(NamedTuple):
    """Where a campaign stands with what it has learnt.

    ``learnt_from`` results the present ``generation`` was learnt, at ``learn_at`` it is time again (None: never).
    ``up_to_date`` of its ``arms``, the first, follow the present generation. ``version`` is that of the terms, and
    ``changed_at`` the generation with which index and doubt of the arms had new settings.
    """

    generation: int
    spent: int
    observed: int
    doubt: int
    learnt_from: int
    learn_at: int | None
    up_to_date: int
    arms: int
    retired: int
    version: int
    changed_at: int

    @property
    def active(self) -> int:
        """How many arms are not retired."""
        return self.arms - self.retired

    @property
    def is_changing(self) -> bool:
        """Whether index and doubt of some arms are still those of settings that hold no more."""
        return self.generation == self.changed_at and self.up_to_date < self.arms

    @property
    def results(self) -> int:
        """How many results the campaign holds."""
        return self.spent + self.observed

    def after(self, doubt: int, spent: int = 0, observed: int = 0) -> "State":
        """Return the state with its counters grown by so much."""
        return self._replace(doubt=self.doubt + doubt, spent=self.spent + spent, observed=self.observed + observed)


def send_state(connection: Connection, campaign: Identity) -> Answer:
    """Ask for the state of a campaign; see ``receive_state``."""
    return _STATE.send(connection, campaign=campaign.id)


def receive_state(campaign: Identity, answer: Answer) -> State:
    """Return the state; raise NotFoundError if the campaign has been deleted."""
    rows = answer.rows()
    if not rows:
        raise campaign.gone()
    return State(*rows[0])


def read_state(connection: Connection, campaign: Identity) -> State:
    """Return the state; raise NotFoundError if the campaign has been deleted."""
    return receive_state(campaign, send_state(connection, campaign))


def arithmetic_of(connection: Connection, campaign: Identity, state: State) -> Arithmetic:
    """Return index, decision and probability of error of any arm's record, as the generation of a state has them."""
    settings = terms_of(connection, campaign, state.version).settings
    kept, key = campaign.arithmetics, (state.version, state.generation)
    if key not in kept:
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)), None)
        kept[key] = make_arithmetic(campaign, settings, read_learnt(connection, campaign, state.generation))
    return kept[key]


def make_arithmetic(campaign: Identity, settings: Settings, known: Learnt) -> Arithmetic:
    """Return the arithmetic of a campaign with these settings that has learnt this."""
    if settings.weighed:
        return WeighedArithmetic(settings, known, campaign.digest)
    return Arithmetic(settings, known)


def read_learnt(connection: Connection, campaign: Identity, generation: int) -> Learnt:
    """Return what a generation has learnt."""
    if generation == 0:
        return Learnt()
    rows = _KNOWLEDGE.rows(connection, campaign=campaign.id, generation=generation)
    if not rows:
        raise campaign.gone()
    return Learnt.from_text(rows[0][0])


def are_decided(connection: Connection, campaign: Identity) -> bool:
    """Tell whether what is decided of each arm stands in its row, as it does not after an upgrade of the database."""
    first, last = campaign.numbers
    return not _NOT_DECIDED.rows(connection, campaign=campaign.id, first=first, last=last)


def require_decisions(connection: Connection, campaign: Identity) -> None:
    """Raise StoreError unless what is decided of each arm stands in its row."""
    if not are_decided(connection, campaign):
        raise StoreError(
            f"campaign {campaign.name!r} is of an older Cutline; let a user who may write its database open it once"
        )
