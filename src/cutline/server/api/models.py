"""The bodies of what makes, changes and describes a campaign, and what they share with all others."""

from collections.abc import Iterable
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from cutline.campaign import results
from cutline.campaign.campaign import Campaign
from cutline.campaign.results import Reason
from cutline.defaults import POLICY

MOST = 100_000
"""So many pulls, rewards or results go into one request."""

LONGEST = 1_000_000
"""So many characters a text may have: an id, the name of a worker, a key."""

_MOST_WHOLE = 2**63 - 1

Text = Annotated[str, Field(min_length=1, max_length=LONGEST)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Whole = Annotated[int, Field(ge=0, le=_MOST_WHOLE)]
Name = Annotated[str, Field(min_length=1, max_length=200, examples=["birds"])]
PullId = Annotated[str, Field(min_length=1, max_length=LONGEST, examples=["5f2c81aa-1-0"])]


class Body(BaseModel):
    """What a request holds: nothing that is not known, and nothing of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Arm(Body):
    """An arm with its payload: what to show, or whatever else JSON can write."""

    id: Text = Field(examples=["heron-17"])
    payload: Any = None


def pairs(arms: Iterable[str | Arm]) -> list[tuple[str, Any]]:
    """Return arms as a campaign takes them."""
    return [(arm, None) if isinstance(arm, str) else (arm.id, arm.payload) for arm in arms]


class Words(Body):
    """The words of the page to label on; null for what the server asks."""

    question: Annotated[str, Field(max_length=1000)] | None = Field(None, examples=["Is it a bird?"])
    labels: list[Text] | None = Field(None, description="On the buttons: of 0, and of 1.", examples=[["no", "yes"]])
    keys: list[Text] | None = Field(None, description="Their keys, next to the arrows.", examples=[["n", "y"]])


class NewSettings(Words):
    """What a campaign is made with; see ``Campaign.create``."""

    threshold: Finite = Field(examples=[0.5])
    policy: Annotated[str, Field(max_length=1000)] = Field(POLICY, examples=[POLICY])
    budget: Whole = Field(examples=[4000])
    seed: Whole = 0
    max_pulls_per_arm: Whole | None = None
    repeat_workers: bool = False
    prior: list[Finite] | None = Field(None, description="Beta(a, b) as [a, b]; null: learnt from the results.")
    target_errors: Finite | None = None
    decide: Annotated[str, Field(max_length=100)] = "likelier"
    workers: Annotated[str, Field(max_length=100, description="How results count: alike, or weighed.")] = "alike"
    excluded: list[Text] = Field([], description="Workers whose results weigh nothing.")
    known_rate: Finite = Field(0.0, description="The share of pulls that are of arms whose answer is known.")


class NewCampaign(NewSettings):
    """A campaign to be made."""

    known: dict[Text, bool] = Field({}, description="Arms whose answer is known.", examples=[{"heron-17": True}])

    name: Name
    arms: list[Text | Arm] = Field(examples=[["heron-17", {"id": "wren-3", "payload": {"text": "a wren"}}]])

    def given_arms(self) -> list[tuple[str, Any]]:
        """Return the arms as ``Campaign.create`` takes them."""
        return pairs(self.arms)

    def settings(self) -> dict[str, Any]:
        """Return the settings as ``Campaign.create`` takes them."""
        return self.model_dump(exclude={"name", "arms", "known"})


class Status(BaseModel):
    """Where a campaign stands."""

    id: str = Field(examples=["5f2c81aa"], description="Tells it from others that had its name before.")
    name: str
    settings: dict[str, Any] = Field(examples=[{"threshold": 0.5, "policy": "LSA(1.35)", "budget": 4000}])
    arms: int
    spent: int = Field(description="Pulls that have their reward.")
    in_flight: int = Field(description="Pulls that are leased.")
    left: int = Field(description="Pulls that can still be asked for.")
    observed: int = Field(description="Results from elsewhere; they cost no budget.")
    expected_errors: Finite
    finished: Reason | None = Field(description="Why there is nothing more to do; null while there is.")
    more_needed: int | None = Field(
        description="About how many more pulls the target takes; null: there is none to reach, or none ever do."
    )
    least_errors: Finite = Field(description="Errors that are to be expected however many pulls there are.")
    retired: int = Field(description="Arms that are, beside those that take part.")
    known_answers: int = Field(description="Arms whose answer is known beforehand.")

    @classmethod
    def of(cls, token: str, status: results.Status) -> "Status":
        """Return the status of a campaign as a body."""
        values = {name: getattr(status, name) for name in cls.model_fields if name not in ("id", "settings")}
        return cls(id=token, settings=status.settings.as_dict(), **values)

    @classmethod
    def now(cls, campaign: Campaign) -> "Status":
        """Return where a campaign stands, as a body."""
        return cls.of(campaign._identity.token, campaign.status())


class Changes(Words):
    """The settings, arms and workers that are to change; see ``Campaign.change``."""

    threshold: Finite = 0.5
    policy: Annotated[str, Field(max_length=1000)] = POLICY
    budget: Whole = 1
    max_pulls_per_arm: Whole | None = None
    prior: list[Finite] | None = None
    target_errors: Finite | None = None
    decide: Annotated[str, Field(max_length=100)] = "likelier"
    workers: Annotated[str, Field(max_length=100)] = "alike"
    excluded: list[Text] = []
    known_rate: Finite = 0.0
    known: dict[Text, bool] = {}
    add: list[Text | Arm] = []
    retire: list[Text] = []
    bring_back: list[Text] = []
    forget: list[Text] = Field([], description="Arms whose answer is known no more.")
    exclude: list[Text] = Field([], description="Workers who are excluded, too; excluded is the whole list.")
    readmit: list[Text] = Field([], description="Workers who are excluded no more.")

    def given(self) -> dict[str, Any]:
        """Return what is given as ``Campaign.change`` takes it."""
        return self.model_dump(exclude_unset=True) | {"add": pairs(self.add)}


class Change(BaseModel):
    """A change after the campaign was made."""

    time: Finite
    what: str
    before: Any
    after: Any

    @classmethod
    def of(cls, change: results.Change) -> "Change":
        """Return a change as a body."""
        return cls.model_validate(change, from_attributes=True)


class Renamed(Body):
    """Another name."""

    name: Name


class Copy(Renamed):
    """The name of the copy, and whether it has the results that there are."""

    results: bool = True


class Imported(BaseModel):
    """What an import did; see ``cutline import``."""

    name: str
    rows: int = Field(description="How many results were sent.")
    new: int = Field(description="How many of them were not there.")
    arms: int | None = Field(description="How many arms the campaign was made with; null if it was there.")
    withdrawn: int = Field(description="How many earlier results of the source count no more.")
