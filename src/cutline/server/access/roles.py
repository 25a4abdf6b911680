"""Roles, and what each of them may do."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a token is good for."""

    OWNER = "owner"
    """Everything, on all campaigns."""
    LABELLER = "labeller"
    """To ask, tell, give back and correct on one campaign; sees no decision."""
    VIEWER = "viewer"
    """To read, on all campaigns or on one."""


class Action(StrEnum):
    """What a request is about."""

    MEASURE = "measure"
    """Ask, tell, give back, correct."""
    FOLLOW = "follow"
    """See how far a campaign is."""
    READ = "read"
    """See decisions, results and workers."""
    MANAGE = "manage"
    """Create, change, delete, observe."""


_MAY = {
    Role.OWNER: frozenset(Action),
    Role.LABELLER: frozenset({Action.MEASURE, Action.FOLLOW}),
    Role.VIEWER: frozenset({Action.FOLLOW, Action.READ}),
}


@dataclass(frozen=True)
class Access:
    """Who asks: a role, on one ``campaign`` or (None) on all; ``name`` is the token's, None where none is needed."""

    role: Role
    campaign: str | None = None
    name: str | None = None

    @property
    def is_personal(self) -> bool:
        """Whether this is somebody who labels: his answers are his own, and he touches nobody else's."""
        return self.role is Role.LABELLER

    def may(self, action: Action, campaign: str | None) -> bool:
        """Tell whether this is allowed on a campaign; None: on all of them."""
        return action in _MAY[self.role] and self.campaign in (None, campaign)


EVERYTHING = Access(Role.OWNER)
"""The access of whoever reaches a server that needs no token."""
