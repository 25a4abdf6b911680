"""Where a request comes from and goes to, as browsers say it."""

from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import Request

from cutline.server.settings import is_loopback

_PASSED_ON = ("forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via")
"""Headers that show that a request came through a proxy."""

_PORTS = {"http": 80, "https": 443}


def is_from_elsewhere(request: Request) -> bool:
    """Tell whether a browser says that a page of another site has sent this; what is no browser says nothing."""
    if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return True
    origin = request.headers.get("origin")
    return origin is not None and not _is_same(origin, request.headers.get("host", ""))


def is_to_this_machine(request: Request) -> bool:
    """Tell whether a request was made to this machine by name and by no proxy.

    A page elsewhere whose name was made to mean this machine sends its own name, and is refused by that.
    """
    host = _split(f"//{request.headers.get('host', '')}")
    return host is not None and is_loopback(host[0]) and not any(name in request.headers for name in _PASSED_ON)


def _is_same(origin: str, host: str) -> bool:
    scheme, _, rest = origin.partition("://")
    asked, sent = _split(f"//{host}"), _split(f"//{rest}")
    if asked is None or sent is None or scheme not in _PORTS:
        return False
    return asked[0] == sent[0] and (asked[1] or _PORTS[scheme]) == (sent[1] or _PORTS[scheme])


@lru_cache(1000)
def _split(text: str) -> tuple[str, int | None] | None:
    """Return the host and the port of //host:port, None if it cannot be read."""
    try:
        parts = urlsplit(text)
        return (parts.hostname, parts.port) if parts.hostname and not parts.path.strip("/") else None
    except ValueError:
        return None
