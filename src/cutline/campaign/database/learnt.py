"""What a campaign has learnt from the results of all its arms, generation by generation, and where it stands with it.

Generation 0 knows the settings alone. Each arm says of which generation its index and its doubt are. Whoever computes
them reads the state once the arm is locked: so an arm that is changed while something new is learnt either follows the
new generation, or is found and brought up to date by those who go through all arms after that.
"""

from typing import NamedTuple

from sqlalchemy import Connection, bindparam, select

from cutline.campaign.arithmetic import Arithmetic, Learnt
from cutline.campaign.database.identity import Identity
from cutline.campaign.database.prepared import Answer, Prepared
from cutline.campaign.database.schema import campaigns, learnt

STATE = (
    campaigns.c.generation,
    campaigns.c.spent,
    campaigns.c.observed,
    campaigns.c.doubt,
    campaigns.c.learnt_from,
    campaigns.c.learn_at,
    campaigns.c.up_to_date,
)

_STATE = Prepared(select(*STATE).where(campaigns.c.id == bindparam("campaign")))
_KNOWLEDGE = Prepared(
    select(learnt.c.knowledge).where(
        learnt.c.campaign_id == bindparam("campaign"), learnt.c.generation == bindparam("generation")
    )
)

_KEPT = 4
"""Generations whose arithmetic a process keeps."""


class State(NamedTuple):
    """Where a campaign stands with what it has learnt.

    ``learnt_from`` results the present ``generation`` was learnt, at ``learn_at`` it is time again (None: never).
    ``up_to_date`` arms, the first, follow the present generation.
    """

    generation: int
    spent: int
    observed: int
    doubt: int
    learnt_from: int
    learn_at: int | None
    up_to_date: int

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


def arithmetic_of(connection: Connection, campaign: Identity, generation: int) -> Arithmetic:
    """Return index, decision and probability of error of any arm's record, as a generation has them."""
    kept = campaign.arithmetics
    if generation not in kept:
        while len(kept) >= _KEPT:
            kept.pop(next(iter(kept)), None)
        kept[generation] = Arithmetic(campaign.settings, read_learnt(connection, campaign, generation))
    return kept[generation]


def read_learnt(connection: Connection, campaign: Identity, generation: int) -> Learnt:
    """Return what a generation has learnt."""
    if generation == 0:
        return Learnt()
    rows = _KNOWLEDGE.rows(connection, campaign=campaign.id, generation=generation)
    if not rows:
        raise campaign.gone()
    return Learnt.from_text(rows[0][0])
