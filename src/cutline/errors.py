"""What Cutline raises: one base class, and below it what a Python user would catch anyway."""


class CutlineError(Exception):
    """Base of every error that Cutline raises on purpose: what is wrong, where, and what would be right."""


class InvalidInputError(CutlineError, ValueError):
    """A value outside what is allowed: a mean above 1, a budget below the number of arms, a bad label."""


class NotFoundError(CutlineError, KeyError):
    """A name that does not exist: a policy, a campaign, an arm."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class OutOfMemoryError(MemoryError, CutlineError):
    """Work that needs more memory than there is."""


class MissingDependencyError(CutlineError, ImportError):
    """An optional package that is not installed: what needs it, and how to get it."""


class ConflictError(InvalidInputError):
    """A request that contradicts what a campaign already holds: another reward for a pull, other settings."""


class StoreError(CutlineError):
    """A database that does not do what is asked: full, read-only, out of reach, of a newer version."""


class AccessError(CutlineError, PermissionError):
    """A server that does not let in: no token, one that has ended, or one that does not allow this."""


class MeasurementError(CutlineError):
    """A measurement that broke down and says nothing of the arm: killed, out of time, its answer unreadable."""


class MeasurementTimeoutError(MeasurementError, TimeoutError):
    """A measurement that took longer than it may."""


class TryAgainError(MeasurementError):
    """A measurement that fails for the moment, as by a rate limit; ``retry_after``: seconds to wait, if known."""

    def __init__(self, message: str = "", retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
