"""The bodies of requests and answers."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from cutline.campaign import results
from cutline.campaign.results import Reason

MOST = 100_000
"""So many pulls, rewards or results go into one request."""

LONGEST = 100_000
"""So many characters an id or the name of a worker may have."""

Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Reward = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]


class Body(BaseModel):
    """What a request holds: nothing that is not known, and nothing of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Ask(Body):
    """What is asked for."""

    n: int = Field(1, ge=1, le=MOST, description="How many pulls, at most.")
    worker: Text | None = Field(None, description="Who measures.", examples=["ann"])
    lease: Seconds = Field(600.0, description="Seconds after which an unanswered pull goes back.")
    without: list[Text] = Field([], max_length=MOST, description="Arms to pass over.")
    distinct: bool = Field(False, description="No arm twice.")


class Pull(BaseModel):
    """Leave to measure an arm once."""

    id: str = Field(examples=["5f2c81aa-1-0"])
    arm: str
    payload: Any
    worker: str | None
    expires: float = Field(description="Seconds since 1970 in UTC, by the clock of the database.")


class Asked(BaseModel):
    """The pulls that were leased."""

    pulls: list[Pull]
    reason: Reason | None = Field(description="Why they are fewer than were asked for.")

    @classmethod
    def of(cls, pulls: results.Pulls) -> "Asked":
        """Return what an ask got, as a body."""
        return cls(pulls=[Pull(**pull._asdict()) for pull in pulls], reason=pulls.reason)


class Answer(Body):
    """A pull and what came of it."""

    pull: Text = Field(examples=["5f2c81aa-1-0"])
    reward: Reward | bool = Field(examples=[1])


class Answers(Body):
    """Many pulls and what came of them."""

    rewards: list[Answer] = Field(max_length=MOST)


class Told(BaseModel):
    """How many of the rewards are new."""

    new: int


class Status(BaseModel):
    """Where a campaign stands."""

    name: str
    settings: dict[str, Any]
    arms: int
    spent: int
    in_flight: int
    left: int
    observed: int
    expected_errors: float
    finished: Reason | None
    more_needed: int | None

    @classmethod
    def of(cls, status: results.Status) -> "Status":
        """Return a status as a body."""
        values = {name: getattr(status, name) for name in cls.model_fields if name != "settings"}
        return cls(settings=status.settings.as_dict(), **values)
