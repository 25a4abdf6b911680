"""What a run has in flight, and what it makes of what comes back."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from cutline.campaign.results import Pull, Reason
from cutline.campaign.running.events import RunEvent
from cutline.campaign.running.outcomes import BatchResult, Handling, Trouble, halves
from cutline.campaign.running.places import Done
from cutline.campaign.running.sources import Answer, Retires, Runnable, Source, tell_all
from cutline.errors import AccessError, ConflictError, MeasurementError

CRASHES_IN_A_ROW = 3
"""After so many crashes of an arm, with no reward between them, a run that abandons leaves it alone."""


@dataclass
class RunReport:
    """What a run did: ``told`` rewards; ``crashes``; ``late``, rewards refused because the lease had ended.

    ``set_aside``: the arms that were left alone because they could not be measured; ``skipped``: those that said that
    they are not to be, and were retired. ``finished``: why there is nothing more to do, or None if only such arms are
    left, or ``time_is_up``.
    """

    told: int = 0
    crashes: int = 0
    late: int = 0
    set_aside: list[str] = field(default_factory=list)
    finished: Reason | None = None
    skipped: list[str] = field(default_factory=list)
    time_is_up: bool = False


class InFlight:
    """The pulls that a run has leased: it tells, abandons and extends them, and keeps the report."""

    def __init__(self, campaign: Runnable, source: Source, handling: Handling, lease: float) -> None:
        self.report = RunReport()
        self.again: list[Sequence[Pull]] = []
        """Halves of batches that have died, to be measured before anything else."""
        self._campaign = campaign
        self._source = source
        self._handling = handling
        self._lease = lease
        self._running: dict[str, Pull] = {}
        self._crashes: Counter[str] = Counter()  # of each arm, since its last reward
        self._deaths = 0  # of batches that have measured nothing and can blame nobody, in a row
        self._extended = time.monotonic()

    def add(self, batches: Sequence[Sequence[Pull]]) -> None:
        """Note pulls that have been leased."""
        self._running |= {pull.id: pull for batch in batches for pull in batch}

    def take_in(self, done: Sequence[Done]) -> Iterator[RunEvent]:
        """Tell what has been measured and do what is to be done about the rest; yield what has happened.

        Raises MeasurementError if that ends the run.
        """
        yield from self.tell(done)
        for one in done:
            yield from self._take_in(one)

    def tell(self, done: Sequence[Done]) -> list[RunEvent]:
        """Tell the rewards of what has been measured."""
        answers: list[Answer] = []
        for one in done:
            pulls, notes = {pull.arm: pull for pull in one.batch}, one.result.notes
            for arm, reward in one.result.rewards.items():
                answers.append((pulls[arm], reward, notes[arm]) if arm in notes else (pulls[arm], reward))
        return self._tell(answers)

    def extend_leases(self) -> None:
        """Extend the leases if a third of their time has gone by."""
        if time.monotonic() - self._extended < self._lease / 3:
            return
        self._extended = time.monotonic()
        for pull in self._running.values():
            with suppress(ConflictError):  # the lease has ended all the same: telling will show whether it matters
                self._campaign.extend(pull, self._lease)

    def give_back(self) -> None:
        """Abandon all that is in flight."""
        for pull in self._running.values():
            with suppress(ConflictError):
                self._campaign.abandon(pull)

    def _take_in(self, done: Done) -> Iterator[RunEvent]:
        result, pulls = done.result, {pull.arm: pull for pull in done.batch}
        if result.death is None:  # how long it takes to die is not how long batches take
            remark = self._source.note(done.batch, done.seconds)
            if remark:
                yield RunEvent("remarked", text=remark)
        if result.rewards:
            self._deaths = 0
        if result.skipped:
            yield from self._skip(result.skipped, pulls)
        for arm, trouble in result.troubles.items():
            yield self._handle(pulls[arm], trouble)
        if result.death is not None:
            yield self._bury(result, [pulls[arm] for arm in result.suspects])
        again = {pull.id for batch in self.again for pull in batch}
        for pull in done.batch:
            if pull.id in self._running and pull.id not in again:
                self._abandon(pull)  # it was not reached

    def _bury(self, result: BatchResult, suspects: list[Pull]) -> RunEvent:
        """Find out whose fault it is that a batch has died, or try again in halves."""
        assert result.death is not None
        if len(suspects) == 1:
            return self._handle(suspects[0], result.death)
        text = f"a batch has died: {result.death.text}"
        if suspects:
            self.again += halves(suspects)
            return RunEvent("crashed", text=f"{text}; {len(suspects)} of its arms are measured again in halves")
        self._deaths += not result.rewards
        if self._deaths == CRASHES_IN_A_ROW:
            raise MeasurementError(f"{CRASHES_IN_A_ROW} batches in a row have measured nothing: {result.death.text}")
        return RunEvent("crashed", text=text)

    def _handle(self, pull: Pull, trouble: Trouble) -> RunEvent:
        """Do what is to be done about the trouble with one arm, and return what has happened."""
        self.report.crashes += 1
        text = f"arm {pull.arm!r}: {trouble.text}"
        how = self._handling[trouble.kind]
        if how == "stop":
            raise MeasurementError(text) from trouble.cause
        if how == "zero":
            (told,) = self._tell([(pull, 0.0)])
            return told if told.text else RunEvent("crashed", pull.arm, 0.0, f"{text}; counts as 0")
        self._abandon(pull)
        self._crashes[pull.arm] += 1
        if self._crashes[pull.arm] < CRASHES_IN_A_ROW:
            return RunEvent("crashed", pull.arm, None, f"{text}; does not count")
        if pull.arm not in self.report.set_aside:
            self.report.set_aside.append(pull.arm)
        return RunEvent("crashed", pull.arm, None, f"{text}; left alone from now on")

    def _skip(self, skipped: Mapping[str, str], pulls: Mapping[str, Pull]) -> Iterator[RunEvent]:
        """Retire the arms that are not to be measured, so that nobody asks for them and they are not decided on."""
        for arm in skipped:
            self._abandon(pulls[arm])
        new = [arm for arm in skipped if arm not in self.report.skipped]
        self.report.skipped += new
        retired = self._retire(new)
        for arm in new:
            reason = f": {skipped[arm]}" if skipped[arm] else ""
            yield RunEvent("skipped", arm, None, f"arm {arm!r} is skipped{reason}{'; retired' if retired else ''}")

    def _retire(self, arms: Sequence[str]) -> bool:
        """Retire arms if the campaign can do so and lets this user; return whether they are."""
        if not isinstance(self._campaign, Retires):
            return False
        with suppress(AccessError):  # whoever may only measure leaves them alone
            self._campaign.change(retire=arms)
            return True
        return False

    def _abandon(self, pull: Pull) -> None:
        del self._running[pull.id]
        with suppress(ConflictError):  # the lease has ended, and others have told it
            self._campaign.abandon(pull)

    def _tell(self, rewards: list[Answer]) -> list[RunEvent]:
        """Tell rewards, and return what became of each."""
        if not rewards:
            return []
        try:
            late = tell_all(self._campaign, rewards)
        finally:
            for pull, *_ in rewards:
                del self._running[pull.id]
        self.report.late += len(late)
        self.report.told += len(rewards) - len(late)
        events = []
        for pull, reward, *_ in rewards:
            del self._crashes[pull.arm]
            text = late.get(pull.id)
            events.append(RunEvent("late" if text else "told", pull.arm, float(reward), text))
        return events
