"""Finds out who asks, and refuses what is not theirs to ask for."""

from typing import Annotated

from fastapi import Depends, Query, Request

from cutline.campaign.checks import check_text
from cutline.errors import InvalidInputError
from cutline.server.access.origins import is_from_elsewhere, is_to_this_machine
from cutline.server.access.roles import EVERYTHING, Access, Action, Role
from cutline.server.access.tokens import Tokens
from cutline.server.problems import ProblemError
from cutline.server.settings import ServerSettings

CampaignName = Annotated[
    str,
    Query(alias="campaign", min_length=1, max_length=200, description="The name of the campaign.", examples=["birds"]),
]

COOKIE = "cutline_login"
"""The cookie that holds a login."""

_SAFE = ("GET", "HEAD", "OPTIONS")


def who_asks(request: Request) -> Access | None:
    """Return the access of a request, None if it has shown no token that is good and needs one.

    A token in the header counts before a login in a cookie, and that before the name that a trusted proxy has given.
    Raises a ProblemError for a token in the header that is no good, and for a form that another site has sent.
    """
    settings: ServerSettings = request.app.state.settings
    tokens: Tokens = request.app.state.tokens
    given = _bearer(request)
    if given is not None:
        access = tokens.find(given)
        if access is None:
            raise ProblemError(401, "this token is not known, or has ended")
        return access
    login = request.cookies.get(COOKIE)
    access = tokens.find(login) if login else None
    if access is None:
        access = _of_proxy(request, settings)
    if access is None and is_open(request):
        access = EVERYTHING
    if access is not None and request.method not in _SAFE and is_from_elsewhere(request):
        raise ProblemError(403, "this comes from another site's page")
    return access


def is_open(request: Request) -> bool:
    """Tell whether a request needs no token: the server is for this machine alone, and nobody has made a token."""
    settings: ServerSettings = request.app.state.settings
    tokens: Tokens = request.app.state.tokens
    return settings.only_here and not settings.worker_header and is_to_this_machine(request) and not tokens.are_there()


def _bearer(request: Request) -> str | None:
    header = request.headers.get("authorization")
    if header is None:
        return None
    scheme, _, token = header.partition(" ")
    if scheme.lower() != "bearer":
        raise ProblemError(401, "the header Authorization must be: Bearer TOKEN")
    return token.strip()


def _of_proxy(request: Request, settings: ServerSettings) -> Access | None:
    """Return the access of somebody whom a trusted proxy has logged in: to label, under the name that it gives."""
    if not settings.worker_header or request.client is None or not settings.trusts(request.client.host):
        return None
    names = request.headers.getlist(settings.worker_header)
    if len(names) != 1 or not names[0]:
        return None
    try:
        name = check_text(settings.worker_header, names[0].encode("latin-1").decode())
    except (InvalidInputError, UnicodeDecodeError):
        raise ProblemError(401, f"the proxy's header {settings.worker_header} holds no name") from None
    return Access(Role.LABELLER, None, name)


def require(access: Access | None, action: Action, campaign: str | None) -> Access:
    """Return the access if it allows the action; else raise a ProblemError: 401 without a token, 403 with one."""
    if access is None:
        raise ProblemError(401, "a token is needed; give it as Authorization: Bearer TOKEN")
    if not access.may(action, campaign):
        one = "; name the one that it is for" if access.campaign is not None else ""
        where = f"all campaigns{one}" if campaign is None else "this campaign"
        raise ProblemError(403, f"a {access.role}'s token does not allow this ({action}) on {where}")
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


may_measure = May(Action.MEASURE)

Measuring = Annotated[Access, Depends(may_measure)]
"""The access of a request that measures on the campaign of its query."""
