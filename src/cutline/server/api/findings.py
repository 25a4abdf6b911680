"""The bodies of what a campaign says of its arms, pulls and workers."""

from typing import Annotated, Any

from pydantic import BaseModel, Field

from cutline.campaign import results
from cutline.campaign.results import PullState
from cutline.server.api.models import MOST, Body, Finite, PullId, Text


class Decision(BaseModel):
    """What a campaign says of one arm now; see ``Decision`` in the reference."""

    arm: str
    payload: Any
    pulls: int
    in_flight: int
    mean: Finite | None
    above: bool | None = Field(description="Whether the arm's mean is above the threshold; null: undecided.")
    wrong: Finite = Field(description="The probability that this is wrong.")
    hoeffding: Finite
    low: Finite
    high: Finite
    retired: bool = False
    probability: Finite = Field(description="The probability that the arm is above.")
    known: bool = Field(False, description="Whether the answer was known beforehand.")


class Page(Body):
    """Which arms are wanted, in which order; see ``Campaign.decisions``."""

    nearest: Annotated[int, Field(ge=1, le=MOST)] | None = Field(
        None, description="Those most likely to be wrong; then nothing else may be given but the confidence."
    )
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95
    order: Annotated[str, Field(max_length=100, examples=["-wrong"])] = "given"
    limit: Annotated[int, Field(ge=1, le=MOST)] | None = Field(None, examples=[100])
    after: Text | None = Field(None, description="The last arm of the page before.")
    only: Annotated[str, Field(max_length=100, examples=["below"])] | None = None
    search: Text | None = Field(None, description="Only arms whose id contains this.")
    threshold: Annotated[float, Field(gt=0, lt=1)] | None = Field(None, description="What this one would decide.")
    retired: bool = Field(False, description="The arms that are, instead.")


class Which(Body):
    """An arm, and how much of its history is wanted."""

    arm: Text
    last: Annotated[int, Field(ge=1)] | None = Field(None, description="Only so many of its pulls, the latest.")
    confidence: Annotated[float, Field(gt=0, lt=1)] = 0.95


class Given(BaseModel):
    """A reward that somebody gave."""

    time: Finite | None
    worker: str | None
    reward: Finite
    note: str | None


class PastPull(BaseModel):
    """A pull of an arm, or a result from elsewhere; the last of its answers counts, the others were corrected."""

    key: str
    state: PullState
    worker: str | None
    time: Finite | None
    expires: Finite | None
    answers: list[Given]


class History(BaseModel):
    """What is said of an arm, and its pulls in the order in which they were asked for."""

    decision: Decision
    pulls: list[PastPull]

    @classmethod
    def of(cls, found: results.ArmHistory) -> "History":
        """Return the history of an arm as a body."""
        pulls = [
            PastPull(
                answers=[Given(**answer._asdict()) for answer in pull.answers],
                **{name: getattr(pull, name) for name in PastPull.model_fields if name != "answers"},
            )
            for pull in found.pulls
        ]
        return cls(decision=Decision.model_validate(found.decision, from_attributes=True), pulls=pulls)


class PullRecord(BaseModel):
    """A pull as it stands."""

    id: PullId
    arm: str
    payload: Any
    worker: str | None
    state: PullState
    reward: Finite | None


class Who(Body):
    """A worker."""

    worker: Text


class Answered(BaseModel):
    """How many pulls a worker has told."""

    answered: int


class ProgressPoint(BaseModel):
    """Where a campaign stood at a time; see ``ProgressPoint`` in the reference."""

    time: Finite
    spent: int
    observed: int
    decided: int
    expected_errors: Finite


class Worker(BaseModel):
    """Somebody who works on a campaign; so many of the answers agree with the decisions of their arms."""

    name: str
    answers: int
    agreeing: int
    in_flight: int
    last_seen: Finite | None


class KnownAnswer(BaseModel):
    """An arm whose answer is known beforehand."""

    arm: str
    answer: bool = Field(description="Whether it is yes.")


class Record(BaseModel):
    """So many arms have this record, and the answer of so many of these is known beforehand."""

    pulls: int
    total: Finite
    squares: Finite
    arms: int
    known: int
