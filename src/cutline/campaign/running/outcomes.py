"""What came of measuring arms: rewards, and what went wrong with whom."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from cutline.campaign.results import Pull
from cutline.errors import InvalidInputError, MeasurementError

Measured: TypeAlias = float | tuple[float, str | None]
"""A reward, a number in [0, 1] or a boolean; or a reward and a note, text that is kept with it."""

OnTrouble: TypeAlias = Literal["stop", "zero", "abandon"]
"""What a trouble means: the end of the run, a reward of 0, or nothing, its pull being given back."""

Kind: TypeAlias = Literal["crash", "timeout", "missing", "error"]
"""The measurement broke down, took too long, is not in the report, or says itself that it could not be made."""

Handling: TypeAlias = Mapping[Kind, OnTrouble]
"""What is done about each kind of trouble."""


class Trouble(NamedTuple):
    """Why there is no reward: in what way, in words, and the exception that said so."""

    kind: Kind
    text: str
    cause: Exception | None = None


def trouble_of(error: Exception) -> Trouble:
    """Return the trouble that an exception from a measurement is."""
    ours = isinstance(error, (MeasurementError, InvalidInputError))
    kind: Kind = "timeout" if isinstance(error, TimeoutError) else "crash"
    return Trouble(kind, str(error) if ours else described(error), error)


def described(error: BaseException) -> str:
    """Return the class and the text of an exception, on one line."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


@dataclass(frozen=True)
class BatchResult:
    """What came of a batch of distinct arms, by their ids.

    ``rewards`` of the arms that were measured; ``troubles`` of those that could not be; ``skipped``: those that are not
    to be measured, with the reason. If the batch has died before its end, ``death`` says how, and ``suspects`` are the
    arms of which one may be the cause: a single one is, several are measured again in halves. Arms that are named
    nowhere were not reached: their pulls are given back. ``notes`` come with some of the rewards. ``ahead``: seconds
    that the command had taken to be ready before it had its batch.
    """

    rewards: Mapping[str, float] = field(default_factory=dict)
    troubles: Mapping[str, Trouble] = field(default_factory=dict)
    skipped: Mapping[str, str] = field(default_factory=dict)
    death: Trouble | None = None
    suspects: Sequence[str] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    ahead: float = 0.0


def halves(batch: Sequence[Pull]) -> list[Sequence[Pull]]:
    """Return the two halves of a batch of at least two, the larger one first."""
    middle = (len(batch) + 1) // 2
    return [batch[:middle], batch[middle:]]
