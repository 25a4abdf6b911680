"""What a run tells whoever watches it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

EventStatus: TypeAlias = Literal["told", "late", "crashed", "skipped", "retried", "remarked", "waiting"]
"""What has happened; see RunEvent."""


@dataclass(frozen=True, slots=True)
class RunEvent:
    """Something that has happened in a run, to ``arm``, or to no arm alone (None).

    ``status``: the ``reward`` was "told"; it came "late" and was refused, since the lease had ended; the measurement
    "crashed", and ``reward`` is the 0 that it counts as, or None; it failed for the moment and will be "retried"; the
    arm is "skipped", since it is not to be measured; something looks wrong as a whole ("remarked"); or half a second
    has gone by in which nothing came ("waiting"). ``text`` is what is to be said of it, None if nothing is.
    """

    status: EventStatus
    arm: str | None = None
    reward: float | None = None
    text: str | None = None


Watch: TypeAlias = Callable[[RunEvent], object]
"""Is called with what happens in a run."""
