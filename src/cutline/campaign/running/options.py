"""How a run is done: what ``run``, ``arun`` and ``run_batches`` take by name."""

from dataclasses import dataclass
from typing import TypeAlias, TypedDict, get_args

from cutline.campaign.running.events import Watch
from cutline.campaign.running.outcomes import Handling, OnTrouble
from cutline.campaign.running.retrying import Retry
from cutline.checks import check_positive, check_whole
from cutline.errors import InvalidInputError

OnCrash: TypeAlias = OnTrouble


class RunOptions(TypedDict, total=False):
    """What ``run``, ``arun`` and ``run_batches`` take by name.

    ``on_crash``: what it means when a measurement raises or returns no reward: "stop" (the default) ends the run with
    MeasurementError; "zero" is a reward of 0; "abandon" gives the pull back, uncounted, and after three times in a row
    the run leaves that arm alone. ``on_timeout``: the same for TimeoutError, if it is to mean something else.
    ``retry``: which exceptions are only for the moment, so that the measurement is made again after a while; the lease
    goes on, and what has failed often enough is a crash. Without it (None) everything is at once.
    ``lease`` (60): a run that is killed leaves its pulls in flight for up to so many seconds.
    ``watch`` is called with a RunEvent for everything that happens, and at least twice a second.
    ``progress`` (False) shows a bar on a terminal and in a notebook, and some lines on standard error elsewhere.
    """

    on_crash: OnCrash
    on_timeout: OnCrash | None
    retry: Retry | None
    lease: float
    watch: Watch | None
    progress: bool


@dataclass(frozen=True, kw_only=True)
class RunSettings:
    """The options of a run with their defaults; raises InvalidInputError for one that is out of range."""

    on_crash: OnCrash = "stop"
    on_timeout: OnCrash | None = None
    retry: Retry | None = None
    lease: float = 60.0
    watch: Watch | None = None
    progress: bool = False

    def __post_init__(self) -> None:
        for name, value in (("on_crash", self.on_crash), ("on_timeout", self.on_timeout)):
            if value not in get_args(OnTrouble) and (name == "on_crash" or value is not None):
                raise InvalidInputError(f"{name} is {value!r}; it must be one of {', '.join(get_args(OnTrouble))}")
        if self.retry is not None and not isinstance(self.retry, Retry):
            raise InvalidInputError(f"retry is {self.retry!r}; it must be a Retry, such as Retry(OSError, attempts=5)")
        check_positive("lease", self.lease)

    @property
    def handling(self) -> Handling:
        """What is done about each kind of trouble."""
        crash = self.on_crash
        return {"crash": crash, "timeout": self.on_timeout or crash, "missing": crash, "error": crash}


def check_run(jobs: int, lease: float, seconds: float | None = None) -> None:
    """Raise InvalidInputError for a number that is out of range, before there is a campaign to run."""
    check_whole("jobs", jobs, 1)
    check_positive("lease", lease)
    if seconds is not None:
        check_positive("seconds", seconds)
