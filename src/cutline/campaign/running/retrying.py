"""Measurements that fail for the moment, as by a rate limit, and are made again after a while."""

import math
import random
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, TypeVar

from cutline.campaign.running.events import RunEvent, Watch
from cutline.campaign.running.outcomes import described
from cutline.checks import check_positive, check_whole
from cutline.errors import InvalidInputError, TryAgainError

if TYPE_CHECKING:
    from tenacity import RetryCallState

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Retry:
    """Which exceptions say that a measurement failed only for the moment, and how often it is made again.

    ``exceptions`` is a class or a tuple of them; TryAgainError is always one. A measurement is made ``attempts`` times
    at most. The first wait is ``first`` seconds at most, each further one twice as long, none longer than ``longest``,
    and each is cut by up to a half by chance, so that not all come back together. Where the exception carries a
    Retry-After, it is waited for, too: an attribute ``retry_after`` (seconds, or a timedelta), or the header, in
    ``headers`` or ``response.headers`` (seconds or a date). One that asks for more than ``longest`` is not made again.
    Raises InvalidInputError for a value out of range.
    """

    exceptions: type[Exception] | tuple[type[Exception], ...] = ()
    attempts: int = 8
    first: float = 1.0
    longest: float = 300.0

    def __post_init__(self) -> None:
        for item in self.momentary:
            if not (isinstance(item, type) and issubclass(item, Exception)):
                raise InvalidInputError(f"retry: {item!r} is no class of exceptions, such as TimeoutError")
        check_whole("attempts", self.attempts, 1)
        check_positive("first", self.first)
        check_positive("longest", self.longest)

    @property
    def momentary(self) -> tuple[type[Exception], ...]:
        """All exceptions that are only for the moment."""
        given = self.exceptions if isinstance(self.exceptions, tuple) else (self.exceptions,)
        return (TryAgainError, *given)


class Retrier:
    """Calls measurements, and calls them again as a Retry says; safe to use from several threads."""

    def __init__(self, retry: Retry | None) -> None:
        self._retry = retry
        self._is_stopped = threading.Event()

    def call(self, measure: Callable[[T], R], argument: T, arm: str | None, say: Watch) -> R:
        """Return what ``measure`` returns; raise what it raises in the end. ``say`` is told of each further attempt."""
        if self._retry is None:
            return measure(argument)
        from tenacity import Retrying

        return Retrying(**self._rules(arm, say), sleep=self._pause)(measure, argument)

    async def acall(self, measure: Callable[[T], Awaitable[R]], argument: T, arm: str | None, say: Watch) -> R:
        """As ``call``, for what is awaited."""
        if self._retry is None:
            return await measure(argument)
        from tenacity import AsyncRetrying

        async def awaited() -> R:
            return await measure(argument)

        return await AsyncRetrying(**self._rules(arm, say))(awaited)

    def stop(self) -> None:
        """End the waits; nothing is made again from now on."""
        self._is_stopped.set()

    def _pause(self, seconds: float) -> None:
        if self._is_stopped.wait(seconds):
            raise TryAgainError("the run has ended")

    def _rules(self, arm: str | None, say: Watch) -> dict[str, Any]:
        from tenacity import (
            retry_if_exception,
            stop_after_attempt,
            stop_when_event_set,
            wait_exponential,
            wait_random_exponential,
        )

        retry = self._retry
        assert retry is not None
        half = {"multiplier": retry.first / 2, "max": retry.longest / 2}
        own = wait_exponential(**half) + wait_random_exponential(**half)

        def is_momentary(error: BaseException) -> bool:
            return isinstance(error, retry.momentary) and (asked_to_wait(error) or 0.0) <= retry.longest

        def wait(state: "RetryCallState") -> float:
            asked = asked_to_wait(_error(state))
            return own(state) if asked is None else max(own(state), asked + random.uniform(0.0, retry.first))

        def announce(state: "RetryCallState") -> None:
            who = "a batch" if arm is None else f"arm {arm!r}"
            text = f"{who}: {described(_error(state))}; again in {state.upcoming_sleep:.1f} s"
            if not self._is_stopped.is_set():
                say(RunEvent("retried", arm, None, f"{text} (attempt {state.attempt_number} of {retry.attempts})"))

        return {
            "retry": retry_if_exception(is_momentary),
            "stop": stop_after_attempt(retry.attempts) | stop_when_event_set(self._is_stopped),
            "wait": wait,
            "before_sleep": announce,
            "reraise": True,
        }


def asked_to_wait(error: BaseException) -> float | None:
    """Return the seconds that an exception asks to wait before the next attempt, None if it does not say."""
    own = getattr(error, "retry_after", None)
    if isinstance(own, timedelta):
        own = own.total_seconds()
    for asked in (own, *map(_of_headers, (error, getattr(error, "response", None)))):
        seconds = _seconds(asked)
        if seconds is not None:
            return seconds
    return None


def _of_headers(carrier: object) -> object:
    """Return the value of the header in ``headers``, a mapping whose names may be in any case; None without one."""
    headers: Any = getattr(carrier, "headers", None)
    items = headers.items() if hasattr(headers, "items") else ()
    return next((value for name, value in items if str(name).lower() == "retry-after"), None)


def _seconds(asked: Any) -> float | None:
    """Return a number of seconds, or how long it is until a date of HTTP; None for what is neither."""
    try:
        seconds = float(asked)
    except (TypeError, ValueError):
        if not isinstance(asked, str):
            return None
        try:
            date = parsedate_to_datetime(asked)
        except ValueError:
            return None
        seconds = (date.replace(tzinfo=date.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _error(state: "RetryCallState") -> BaseException:
    error = state.outcome.exception() if state.outcome else None
    assert error is not None
    return error
