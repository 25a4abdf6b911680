"""How a run measures: by a callable or a command, for one arm or for many at a time."""

import signal
from collections.abc import Awaitable, Callable, Iterable, Sequence
from inspect import isawaitable, iscoroutine, iscoroutinefunction
from typing import Protocol, TypeAlias

from cutline.campaign.checks import check_note, check_reward
from cutline.campaign.results import Pull
from cutline.campaign.running.commands.batch_command import BatchCommand
from cutline.campaign.running.commands.command import Command
from cutline.campaign.running.events import Watch
from cutline.campaign.running.outcomes import BatchResult, Measured, Trouble, trouble_of
from cutline.campaign.running.retrying import Retrier, Retry
from cutline.errors import InvalidInputError, MeasurementError

Measure: TypeAlias = Callable[[Pull], Measured]
"""Measures ``pull.arm`` once and returns the reward, or (reward, note)."""

AsyncMeasure: TypeAlias = Callable[[Pull], Awaitable[Measured]]
"""The same, to be awaited: a coroutine function."""

MeasureBatch: TypeAlias = Callable[[Sequence[Pull]], Iterable[Measured | None]]
"""Measures each arm of a batch once and returns the rewards in its order; None: there is none for this arm."""


class Measurer(Protocol):
    """Measures batches, each in a thread of its own."""

    def measure(self, batch: Sequence[Pull], say: Watch) -> BatchResult:
        """Measure a batch; ``say`` is told what happens meanwhile."""
        ...

    def stop(self, how: signal.Signals) -> None:
        """Send a signal to what is being measured, and make nothing again."""
        ...

    @property
    def can_be_stopped(self) -> bool:
        """Whether ``stop`` ends what is being measured."""
        ...


class _Stoppable:
    """Makes what fails for the moment again, and can be stopped if it measures by a command."""

    def __init__(self, measure: Callable[..., object], retry: Retry | None) -> None:
        refuse_coroutine_function(measure)
        self._command = measure if isinstance(measure, Command | BatchCommand) else None
        self._retrier = Retrier(retry)

    def stop(self, how: signal.Signals) -> None:
        """See Measurer."""
        self._retrier.stop()
        if self._command:
            self._command.stop(how)

    @property
    def can_be_stopped(self) -> bool:
        """See Measurer."""
        return self._command is not None


class SingleMeasurer(_Stoppable):
    """Measures one arm at a time, by a callable or a command."""

    def __init__(self, measure: Measure | Command, retry: Retry | None) -> None:
        super().__init__(measure, retry)
        self._measure = measure

    def measure(self, batch: Sequence[Pull], say: Watch) -> BatchResult:
        """See Measurer."""
        (pull,) = batch
        try:
            answer = self._retrier.call(self._measure, pull, pull.arm, say)
            _refuse_coroutine(answer)
            return _measured(pull, answer)
        except Exception as error:
            return _failed([pull], error)


class BatchMeasurer(_Stoppable):
    """Measures many arms at a time, by a callable or a command."""

    def __init__(self, measure: MeasureBatch | BatchCommand, retry: Retry | None) -> None:
        super().__init__(measure, retry)
        self._measure = measure
        self._momentary = (retry or Retry()).momentary

    def measure(self, batch: Sequence[Pull], say: Watch) -> BatchResult:
        """See Measurer."""
        try:
            return self._retrier.call(self._measure_once, batch, None, say)
        except self._momentary as error:
            return _failed(batch, error)  # no arm is to blame, and halves would fail as well
        except Exception as error:
            return BatchResult(death=trouble_of(error), suspects=[pull.arm for pull in batch])

    def _measure_once(self, batch: Sequence[Pull]) -> BatchResult:
        if not isinstance(self._measure, BatchCommand):
            return _listed(batch, self._measure(batch))
        try:
            return self._measure(batch)
        except OSError as error:  # no place for its report: that is the fault of no arm
            return BatchResult(death=trouble_of(error))


async def measure_awaited(measure: AsyncMeasure, retrier: Retrier, pull: Pull, say: Watch) -> BatchResult:
    """Measure one arm by a coroutine function."""

    async def awaited(pull: Pull) -> Measured:
        answer = measure(pull)
        if not isawaitable(answer):
            raise MeasurementError(f"it returned {answer!r}, which cannot be awaited; plain functions are for run")
        return await answer

    try:
        return _measured(pull, await retrier.acall(awaited, pull, pull.arm, say))
    except Exception as error:
        return _failed([pull], error)


def refuse_coroutine_function(measure: object) -> None:
    """Raise InvalidInputError for a coroutine function, which a thread cannot call."""
    if iscoroutinefunction(measure) or iscoroutinefunction(vars(type(measure)).get("__call__")):
        raise InvalidInputError("measure is a coroutine function; await campaign.arun(measure) runs it")


def _refuse_coroutine(reward: object) -> None:
    if iscoroutine(reward):
        reward.close()
        raise MeasurementError("it returned a coroutine; await campaign.arun(measure) runs what is to be awaited")


def _measured(pull: Pull, answer: Measured) -> BatchResult:
    reward, note = _parted(answer)
    return BatchResult(rewards={pull.arm: reward}, notes={} if note is None else {pull.arm: note})


def _parted(answer: Measured) -> tuple[float, str | None]:
    """Return the reward and the note that a measurement has returned; raise InvalidInputError for what is neither."""
    if not isinstance(answer, tuple):
        return check_reward(answer), None
    if len(answer) != 2:
        raise InvalidInputError(f"{answer!r} is neither a reward nor (reward, note)")
    return check_reward(answer[0]), check_note(answer[1])


def _failed(batch: Sequence[Pull], error: Exception) -> BatchResult:
    trouble = trouble_of(error)
    return BatchResult(troubles={pull.arm: trouble for pull in batch})


def _listed(batch: Sequence[Pull], returned: Iterable[Measured | None]) -> BatchResult:
    """Return what a callable has made of a batch; raise MeasurementError if it did not return a reward for each arm."""
    _refuse_coroutine(returned)
    answers = list(returned)
    if len(answers) != len(batch):
        raise MeasurementError(f"{len(answers)} rewards came back for {len(batch)} arms; there must be one for each")
    rewards: dict[str, float] = {}
    notes: dict[str, str] = {}
    troubles: dict[str, Trouble] = {}
    for pull, answer in zip(batch, answers, strict=True):
        if answer is None:
            troubles[pull.arm] = Trouble("missing", "no reward came back")
            continue
        try:
            rewards[pull.arm], note = _parted(answer)
            if note is not None:
                notes[pull.arm] = note
        except InvalidInputError as error:
            troubles[pull.arm] = trouble_of(error)
    return BatchResult(rewards, troubles, notes=notes)
