"""The bodies of asks, of what is told, and of results from elsewhere."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from cutline.campaign import results
from cutline.campaign.results import Reason
from cutline.server.api.models import LONGEST, MOST, Body, Finite, PullId, Text

Reward = Annotated[
    Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] | bool, Field(examples=[1], description="From 0 to 1.")
]
Seconds = Annotated[float, Field(gt=0, le=1e12, allow_inf_nan=False)]
Note = Annotated[str, Field(max_length=LONGEST, description="Text that is kept with the reward.")]


class Ask(Body):
    """What is asked for; see ``Campaign.ask``."""

    n: int = Field(1, ge=1, le=MOST, description="How many pulls, at most.")
    worker: Text | None = Field(None, description="Who measures.", examples=["ann"])
    lease: Seconds = Field(600.0, description="Seconds after which an unanswered pull goes back.")
    without: list[Text] = Field([], max_length=MOST, description="Arms to pass over.")
    distinct: bool = Field(False, description="No arm twice.")
    request: Text | None = Field(
        None, description="An id for this ask: the same again, when its answer was lost, gets the same pulls."
    )


class Pull(TypedDict):
    """Leave to measure an arm once."""  # a dict, since an answer has thousands: a model of each takes too long

    id: PullId
    arm: str
    payload: Any
    worker: str | None
    expires: Annotated[
        Finite, Field(description="When its lease ends: seconds since 1970 in UTC, by the clock of the database.")
    ]


class Asked(BaseModel):
    """The pulls that were leased."""

    pulls: list[Pull]
    reason: Reason | None = Field(description="Why they are fewer than were asked for.")

    @classmethod
    def of(cls, pulls: results.Pulls) -> "Asked":
        """Return what an ask got, as a body."""
        return cls.model_construct(pulls=[pull._asdict() for pull in pulls], reason=pulls.reason)


class Leased(BaseModel):
    """The pulls that a worker has in flight."""

    pulls: list[Pull]

    @classmethod
    def of(cls, pulls: Iterable[results.Pull]) -> "Leased":
        """Return pulls as a body."""
        return cls.model_construct(pulls=[pull._asdict() for pull in pulls])


class Answer(Body):
    """A pull and what came of it."""

    pull: PullId
    reward: Reward
    note: Note | None = None


class Correction(Answer):
    """The reward that is right, and maybe a note: without one the note stays, an empty one removes it."""

    worker: Text | None = Field(None, description="Who corrects; null: the one whose pull it is.")


class Changed(BaseModel):
    """Whether anything has changed."""

    changed: bool


class Answers(Body):
    """Many pulls and what came of them."""

    rewards: list[Answer] = Field(max_length=MOST)


class Extend(Body):
    """A pull whose lease is to end so many seconds from now."""

    pull: PullId
    lease: Seconds


class Extended(BaseModel):
    """When a lease ends."""

    expires: Finite


class GivenBack(Body):
    """A pull that is given back."""

    pull: PullId


class Observation(Body):
    """A result from elsewhere; a key makes it safe to send it again."""

    arm: Text
    reward: Reward
    worker: Text | None = None
    key: Text | None = None
    note: Note | None = None


class Observations(Body):
    """Results from elsewhere."""

    observations: list[Observation] = Field(max_length=MOST)
    add_arms: bool = Field(False, description="Add arms that there are not.")


class New(BaseModel):
    """How many of what was sent are new; the others were known, and nothing has changed for them."""

    new: int
