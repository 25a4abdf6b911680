"""Logins in cookies, and tokens in forms that no other site can know."""

import hashlib
import hmac
import secrets

from fastapi import Request, Response

from cutline.server.access.guard import COOKIE
from cutline.server.access.origins import is_from_elsewhere
from cutline.server.access.tokens import LOGIN
from cutline.server.problems import ProblemError

FORM_COOKIE = "cutline_form"
"""The cookie that the token of a form is made from."""

FIELD = "csrf"
"""The hidden field of a form that holds its token."""


def set_login(request: Request, response: Response, login: str) -> None:
    """Have the browser keep a login."""
    _set(request, response, COOKIE, login)


def remove_login(request: Request, response: Response) -> None:
    """Have the browser forget its login."""
    response.delete_cookie(COOKIE, path=_path(request), httponly=True, samesite="strict")


def form_token(request: Request) -> str:
    """Return the token for the forms of a page; ``keep_form_token`` must see the page's response."""
    seed = request.cookies.get(FORM_COOKIE)
    if not seed:
        seed = request.state.form_seed = getattr(request.state, "form_seed", None) or secrets.token_urlsafe(24)
    return _token(seed)


def keep_form_token(request: Request, response: Response) -> None:
    """Have the browser keep what the token of this page's forms was made from, if it is new."""
    seed = getattr(request.state, "form_seed", None)
    if seed is not None:
        _set(request, response, FORM_COOKIE, seed)


def require_own_form(request: Request, given: str | None) -> None:
    """Raise a ProblemError unless a form was sent by a page of ours: ``given`` is what its hidden field held."""
    seed = request.cookies.get(FORM_COOKIE)
    known = seed is not None and hmac.compare_digest(_token(seed).encode(), (given or "").encode("utf-8", "replace"))
    if not known or is_from_elsewhere(request):
        raise ProblemError(403, "this form is out of date, or comes from another site; load the page again")


def _token(seed: str) -> str:
    return hashlib.blake2b(seed.encode("utf-8", "replace"), digest_size=24, person=b"cutline form").hexdigest()


def _set(request: Request, response: Response, name: str, value: str) -> None:
    secure = request.url.scheme == "https"
    response.set_cookie(
        name, value, max_age=int(LOGIN), path=_path(request), secure=secure, httponly=True, samesite="strict"
    )


def _path(request: Request) -> str:
    return request.scope.get("root_path") or "/"
