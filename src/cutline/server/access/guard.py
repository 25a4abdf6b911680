"""Finds out who asks, and refuses what is not theirs to ask for."""

from typing import Annotated

from fastapi import Depends, Query, Request

from cutline.server.access.roles import EVERYTHING, Access, Action
from cutline.server.problems import ProblemError

CampaignName = Annotated[str, Query(alias="campaign", description="The name of the campaign.", examples=["birds"])]


def who_asks(request: Request) -> Access | None:
    """Return the access of a request, None if it has shown no token and needs one."""
    return EVERYTHING


def require(access: Access | None, action: Action, campaign: str | None) -> Access:
    """Return the access if it allows the action; else raise a ProblemError: 401 without a token, 403 with one."""
    if access is None:
        raise ProblemError(401, "a token is needed; give it as Authorization: Bearer TOKEN")
    if not access.may(action, campaign):
        where = "all campaigns" if campaign is None else "this campaign"
        raise ProblemError(403, f"this token is a {access.role}'s and may not {action} on {where}")
    return access


class May:
    """A dependency: whoever asks may do this to the campaign of the query, or with ``everywhere`` to all of them."""

    def __init__(self, action: Action, everywhere: bool = False) -> None:
        self._action = action
        self._everywhere = everywhere

    def __call__(self, request: Request) -> Access:
        """Return the access of a request; raise a ProblemError if it is not enough."""
        campaign = None if self._everywhere else request.query_params.get("campaign")
        return require(who_asks(request), self._action, campaign)


Measuring = Annotated[Access, Depends(May(Action.MEASURE))]
Following = Annotated[Access, Depends(May(Action.FOLLOW))]
Reading = Annotated[Access, Depends(May(Action.READ))]
Managing = Annotated[Access, Depends(May(Action.MANAGE))]
ManagingAll = Annotated[Access, Depends(May(Action.MANAGE, everywhere=True))]
