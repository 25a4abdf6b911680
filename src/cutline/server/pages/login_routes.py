"""Logging in with a token or a link, and out again."""

from typing import Annotated

from fastapi import APIRouter, Form, Request
from fastapi.responses import Response

from cutline.server.access.forms import remove_login, set_login
from cutline.server.access.guard import COOKIE
from cutline.server.pages.forms import OURS
from cutline.server.pages.rendering import plain_page, redirect

router = APIRouter()

Then = Annotated[str, Form(max_length=2000)]


@router.get("/login")
def login(request: Request, then: str = "/") -> Response:
    """Show the form to log in with; the token of a link stands behind the #, which no server and no log sees."""
    return plain_page(request, "login.html", 200, then=then, said="")


@router.post("/login", dependencies=OURS)
def log_in(request: Request, token: Annotated[str, Form(max_length=300)], then: Then = "/") -> Response:
    """Exchange a token or a link for a login in a cookie, and go on to where it was needed."""
    made = request.app.state.tokens.log_in(token.strip())
    if made is None:
        said = "This token or link is not known, has ended, or has been used."
        return plain_page(request, "login.html", 401, then=then, said=said)
    # a path of ours alone: not //elsewhere, nor /\elsewhere, which browsers take for the same
    onward = redirect(request, then if then[:1] == "/" and then[1:2] not in ("/", "\\") else "/")
    set_login(request, onward, made)
    return onward


@router.post("/logout", dependencies=OURS)
def log_out(request: Request) -> Response:
    """Make the login worthless, and have the browser forget it."""
    request.app.state.tokens.log_out(request.cookies.get(COOKIE, ""))
    onward = redirect(request, "/login")
    remove_login(request, onward)
    return onward
