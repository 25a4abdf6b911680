"""Whose pulls are whose: a labeller asks under his own name or none, and touches nobody else's pulls."""

from cutline.server.access.roles import Access
from cutline.server.api.served import One
from cutline.server.problems import ProblemError


def require_own_name(access: Access, worker: str | None) -> None:
    """Raise a ProblemError if a labeller asks under another's name."""
    if access.is_personal and worker not in (None, access.name):
        raise ProblemError(403, f"a labeller asks under the name of the token, {access.name!r}, or under none")


def require_own_pulls(access: Access, campaign: One, pulls: list[str]) -> None:
    """Raise a ProblemError if a labeller touches pulls that others have asked for; unknown ones are let pass."""
    if access.is_personal and not campaign.workers_of(pulls) <= {None, access.name}:
        raise ProblemError(403, "this pull is another worker's")
