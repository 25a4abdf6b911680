"""Templates to pages: what every page is given, and how addresses of pages are written."""

from collections.abc import Callable
from functools import cache, partial
from typing import Any
from urllib.parse import quote_plus, urlencode

from fastapi import Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cutline import __version__
from cutline.server.access.forms import FIELD, form_token, keep_form_token
from cutline.server.access.guard import who_asks
from cutline.server.access.roles import Access, Action
from cutline.text import moment, number, shown

_SEE_OTHER = 303

_LONGEST = 1000
"""An id that takes more characters of an address is named by its digest: proxies refuse addresses of some thousand."""


def named(arm: str, what: str, digest: Callable[[str], bytes]) -> dict[str, str]:
    """Return the part of a query that names an arm: its id as ``what``, or if that is too long its digest."""
    if len(quote_plus(arm)) <= _LONGEST:
        return {what: arm}
    return {what: digest(arm).hex(), "long": "yes"}


def link(request: Request, path: str, **query: object) -> str:
    """Return the address of a page, behind the root path; None is left out of the query."""
    given = {name: value for name, value in query.items() if value is not None}
    address = request.app.state.settings.root_path + path
    return f"{address}?{urlencode(given)}" if given else address


def path_of(request: Request) -> str:
    """Return the path of a request, without the root path."""
    return request.url.path.removeprefix(request.app.state.settings.root_path)


def redirect(request: Request, path: str, **query: object) -> Response:
    """Send the browser on to another page, whatever the request was."""
    return RedirectResponse(link(request, path, **query), _SEE_OTHER)


def is_secure(request: Request) -> bool:
    """Tell whether the browser reached the service by TLS."""
    return request.url.scheme == "https"


def page(request: Request, template: str, code: int = 200, **values: Any) -> HTMLResponse:
    """Return a page made from a template; nobody keeps it, since what it says changes."""
    return _page(request, who_asks(request), template, code, values)


def plain_page(request: Request, template: str, code: int, **values: Any) -> HTMLResponse:
    """Return a page for somebody of whom it does not matter who it is, and who may be nobody to talk to."""
    return _page(request, None, template, code, values)


def _page(request: Request, access: Access | None, template: str, code: int, values: dict[str, Any]) -> HTMLResponse:
    def may(action: str, campaign: str | None) -> bool:
        return access is not None and access.may(Action(action), campaign)

    token = Markup(f'<input type="hidden" name="{FIELD}" value="{form_token(request)}">')
    given = {"link": partial(link, request), "access": access, "may": may, "version": __version__, "token": token}
    text = _environment().get_template(template).render(given | values)
    made = HTMLResponse(text, code, {"Cache-Control": "no-store"})
    keep_form_token(request, made)
    return made


@cache
def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("cutline.server"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": number, "shown": shown, "whole": "{:,}".format, "moment": moment}
    return made
