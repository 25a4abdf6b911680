"""What a campaign is created with, checked, and what of it can be changed.

A setting is a field of Settings with its check, and an entry in Options for those who type it, and in Changes if it can
be changed; rows of the database, dictionaries and comparisons are made from the fields. What else a new one needs: its
column in database/schema.py with a migration, and its option in cli/_campaigns.py.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, Self, TypedDict

from cutline.campaign.checks import (
    check_decide,
    check_excluded,
    check_known_rate,
    check_policy,
    check_prior,
    check_target,
    check_workers,
)
from cutline.campaign.wording import check_keys, check_labels, check_question
from cutline.checks import check_whole
from cutline.errors import ConflictError, CutlineError, InvalidInputError
from cutline.policies import Policy
from cutline.threshold import check_threshold

_PARTS = "ab"
"""The letters that end the names of the columns of a pair, as in prior_a and prior_b."""


class Options(TypedDict, total=False):
    """What ``Campaign.create`` takes by name."""

    seed: int
    """Seeds the order of the arms that breaks ties."""
    max_pulls_per_arm: int | None
    """No arm is asked for beyond that many results; None for no limit."""
    repeat_workers: bool
    """Whether a worker may get an arm again that it has or had."""
    prior: tuple[float, float] | None
    """The Beta(a, b) belief about an arm's mean before its first result; None to learn it from the results of all."""
    target_errors: float | None
    """Stop when the expected number of errors is at most this; None to spend the whole budget."""
    decide: str
    """How an arm is decided: "likelier", the side that its mean is on with probability 1/2 or more; or "mean", the side
    of the average of its rewards, which is the paper's rule."""
    question: str | None
    """What the page to label on asks; None for what its server asks, as with the next two."""
    labels: tuple[str, str] | None
    """The words on its two buttons: of the reward 0, and of 1."""
    keys: tuple[str, str] | None
    """Their keys, next to the arrows."""
    workers: str
    """How results count: "alike"; or "weighed" by who gave them, at threshold 0.5: then the next arm is the one whose
    truth the weights leave most open, and the likelier truth is decided, whatever the policy and the rule."""
    excluded: Collection[str]
    """Workers whose results stay and weigh nothing, and who get no more arms; where workers are weighed."""
    known_rate: float
    """The share of the pulls that are of arms whose answer is known beforehand; where workers are weighed."""


class Making(Options, total=False):
    """The same, and what is no setting."""

    known: Mapping[str, bool] | None
    """The answers, yes or no, to arms where they are known beforehand: they teach which workers are right."""


class Expected(Options, total=False):
    """What ``Campaign.open`` holds against the stored settings."""

    threshold: float
    policy: Policy | str
    budget: int


class Changes(TypedDict, total=False):
    """The settings that ``Campaign.change`` takes; each is as in ``Campaign.create``."""

    threshold: float
    policy: Policy | str
    budget: int
    max_pulls_per_arm: int | None
    prior: tuple[float, float] | None
    target_errors: float | None
    decide: str
    question: str | None
    labels: tuple[str, str] | None
    keys: tuple[str, str] | None
    workers: str
    excluded: Collection[str]
    known_rate: float


OF_ARMS = ("threshold", "policy", "max_pulls_per_arm", "prior", "decide", "workers", "excluded")
"""The settings that index and probability of error of every arm depend on."""


def _checked(check: Callable[[Any], Any]) -> dict[str, Callable[[Any], Any]]:
    """The metadata of a field: what checks and converts its value; None stays None where that is the default."""
    return {"check": check}


@dataclass(frozen=True)
class Settings:
    """The settings of a campaign; see ``Campaign.create``. Raises InvalidInputError for a bad one."""

    threshold: float = field(metadata=_checked(check_threshold))
    policy: Policy = field(metadata=_checked(check_policy))
    budget: int = field(metadata=_checked(partial(check_whole, "budget", least=1)))
    seed: int = field(default=0, metadata=_checked(partial(check_whole, "seed", least=0)))
    max_pulls_per_arm: int | None = field(
        default=None, metadata=_checked(partial(check_whole, "max_pulls_per_arm", least=1))
    )
    repeat_workers: bool = field(default=False, metadata=_checked(bool))
    prior: tuple[float, float] | None = field(default=None, metadata={**_checked(check_prior), "pair": True})
    target_errors: float | None = field(default=None, metadata=_checked(check_target))
    decide: str = field(default="likelier", metadata=_checked(check_decide))
    question: str | None = field(default=None, metadata=_checked(check_question))
    labels: tuple[str, str] | None = field(default=None, metadata={**_checked(check_labels), "pair": True})
    keys: tuple[str, str] | None = field(default=None, metadata={**_checked(check_keys), "pair": True})
    workers: str = field(default="alike", metadata=_checked(check_workers))
    excluded: tuple[str, ...] = field(default=(), metadata={**_checked(check_excluded), "json": True})
    known_rate: float = field(default=0.0, metadata=_checked(check_known_rate))

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None or item.default is not None:
                object.__setattr__(self, item.name, item.metadata["check"](value))
        self._require_weighable()

    @property
    def weighed(self) -> bool:
        """Whether results are weighed by who gave them."""
        return self.workers == "weighed"

    def require_known(self, known: Mapping[str, Any]) -> None:
        """Raise InvalidInputError if there are known answers and workers count alike."""
        if known and not self.weighed:
            raise InvalidInputError("known answers are there for workers to be weighed by; give workers weighed, too")

    def _require_weighable(self) -> None:
        """Raise InvalidInputError for what does not go together with how workers count."""
        if not self.weighed:
            for name, none in (("excluded", "nobody excluded"), ("known_rate", "known_rate 0")):
                if getattr(self, name):
                    raise InvalidInputError(
                        f"{name} is for workers that are weighed; give workers weighed, too, or {none}"
                    )
        elif self.threshold != 0.5:
            raise InvalidInputError(
                f"threshold is {self.threshold}; workers are weighed at 0.5, where an answer is yes or no"
            )
        elif self.prior is not None or self.decide != "likelier":
            name = "decide" if self.prior is None else "prior"
            raise InvalidInputError(
                f"{name} is about the mean of an arm; where workers are weighed the likelier truth is decided, so it "
                "must be left out"
            )

    def has_room(self, pulls: int, in_flight: int) -> bool:
        """Whether an arm with so many results and pulls in flight may have one more result."""
        return self.max_pulls_per_arm is None or pulls + in_flight < self.max_pulls_per_arm

    def require(self, expected: Mapping[str, Any]) -> None:
        """Raise ConflictError, naming every field and both values, unless the settings are as expected."""
        wanted = replace(self, **expected)
        differing = [
            f"{item.name} is {_shown(getattr(self, item.name))}, not {_shown(getattr(wanted, item.name))}"
            for item in fields(self)
            if getattr(self, item.name) != getattr(wanted, item.name)
        ]
        if differing:
            raise ConflictError("; ".join(differing))

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return the settings with these changes; raise InvalidInputError for one that is bad or cannot be made."""
        check_changes(changes)
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        """Return the settings by name, as JSON has them: the policy as text, tuples as lists."""
        return {item.name: _plain(getattr(self, item.name)) for item in fields(self)}

    def columns(self) -> dict[str, Any]:
        """Return the settings as columns of a campaign's row: policy as text, a pair as two columns, a list as JSON."""
        columns = self.as_dict()
        for item in (item for item in fields(self) if item.metadata.get("pair")):
            values = columns.pop(item.name) or [None] * len(_PARTS)
            columns |= {f"{item.name}_{part}": each for part, each in zip(_PARTS, values, strict=True)}
        for item in (item for item in fields(self) if item.metadata.get("json")):
            columns[item.name] = json.dumps(columns[item.name], ensure_ascii=False)
        return columns

    @classmethod
    def column_names(cls) -> list[str]:
        """Return the names of the columns that ``columns`` fills."""
        return [
            name
            for item in fields(cls)
            for name in ([f"{item.name}_{part}" for part in _PARTS] if item.metadata.get("pair") else [item.name])
        ]

    @classmethod
    def from_columns(cls, row: Mapping[str, Any]) -> Self:
        """Return the settings that ``columns`` made this of; raise what reading the policy raises."""
        values: dict[str, Any] = {}
        for item in fields(cls):
            if item.metadata.get("pair"):
                pair = [row[f"{item.name}_{part}"] for part in _PARTS]
                values[item.name] = None if None in pair else pair
            elif item.metadata.get("json"):
                values[item.name] = json.loads(row[item.name])
            else:
                values[item.name] = row[item.name]
        return cls(**values)

    def require_readable(self) -> None:
        """Raise InvalidInputError unless a database gives these settings back: a policy must be known by its text."""
        try:
            same = self.from_columns(self.columns()) == self
        except CutlineError:
            same = False
        if not same:
            raise InvalidInputError(
                f"policy {self.policy} is not one that cutline policies lists, so the campaign could not be opened "
                "again; see docs/new_policy.md, or keep the campaign in memory"
            )


def check_changes(changes: Collection[str]) -> None:
    """Raise InvalidInputError unless every setting of these names can be changed."""
    for name in changes:
        if name not in Changes.__annotations__:
            can = ", ".join(Changes.__annotations__)
            raise InvalidInputError(f"{name} of a campaign cannot be changed; what can be is {can}")


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Policy) else list(value) if isinstance(value, tuple) else value


def _shown(value: Any) -> str:
    return str(value) if isinstance(value, Policy) else repr(value)
