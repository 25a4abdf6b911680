"""What one person does on the page to label on: get an item, answer it, skip it, change an answer, give items back."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from cutline.campaign.campaign import Campaign
from cutline.campaign.results import PullRecord, Pulls, PullState
from cutline.errors import ConflictError, NotFoundError

_AT_ONCE = 0.001
"""Seconds until a lease ends that nobody needs."""

Outcome = Literal["stored", "twice", "changed", "same", "first", "skipped", "skipped before", "gone", "ended"]

_SAID: dict[Outcome, str] = {
    "stored": "",
    "twice": "This answer had been stored already. It counts once.",
    "changed": "Your answer was changed.",
    "same": "Your answer stays as it was.",
    "first": "You had answered this item before, perhaps in another tab. That answer stands; you can change it here.",
    "skipped": "",
    "skipped before": "You had skipped that item before, so the answer was not stored.",
    "gone": "Your time for that item was over and its place has been taken. The answer was not stored.",
    "ended": "Your time for that item was over. Here is another one.",
}
"""What is said about what became of a request."""


def what_to_say(outcome: str | None) -> str:
    """Return what is said about an outcome; nothing about anything else, since addresses may hold any text."""
    return next((text for known, text in _SAID.items() if known == outcome), "")


STAYS: frozenset[Outcome] = frozenset({"first"})
"""After these the same item is shown again."""


_WHY_NOT: dict[PullState, Outcome] = {PullState.TOLD: "first", PullState.ABANDONED: "skipped before"}


@dataclass(frozen=True)
class Labeller:
    """One person at one campaign. Methods raise NotFoundError for a pull that is not this person's."""

    campaign: Campaign
    worker: str
    lease: float

    def next(self, after: str | None = None) -> Pulls:
        """Lease the item that follows a pull of this person's, always the same one, or (None) a new one."""
        if after is None:
            return self.campaign.ask(1, self.worker, self.lease)
        self.record(after)
        return self.campaign.ask(1, self.worker, self.lease, request=f"the item after {after}")

    def record(self, pull: str) -> PullRecord:
        """Return what has become of a pull."""
        found = self.campaign.pull(pull)
        if found.worker != self.worker:
            raise NotFoundError(f"{self.worker!r} has no pull {pull!r} in campaign {self.campaign.name!r}")
        return found

    def answer(self, pull: str, reward: float, was: float | None) -> Outcome:
        """Store an answer, once; ``was`` is the answer that the page showed as given, and that is to be changed."""
        found = self.record(pull)
        if was is not None and found.reward == was:
            return "changed" if self.campaign.correct(pull, reward) else "same"
        try:
            return "stored" if self.campaign.tell(pull, reward) else "twice"
        except ConflictError:
            return self._why_not(pull)

    def skip(self, pull: str) -> Outcome:
        """Give an item back for good: this person does not get it again."""
        self.record(pull)
        try:
            self.campaign.abandon(pull)
        except ConflictError:
            return self._why_not(pull)
        return "skipped"

    def give_back(self, pulls: Iterable[str]) -> None:
        """End the leases of items that nobody looks at any more; this person may get them again."""
        for pull in pulls:
            with suppress(ConflictError, NotFoundError):  # answered, or given back already
                self.record(pull)
                self.campaign.extend(pull, _AT_ONCE)

    def _why_not(self, pull: str) -> Outcome:
        state = self.campaign.pull(pull).state
        return _WHY_NOT.get(state, "gone")
