"""Where a database is: what a url or a path means, and how it is shown, without what is secret in it."""

import os
import re
from os import PathLike
from typing import Any, TypeAlias
from urllib.parse import urlsplit

from sqlalchemy import URL, make_url
from sqlalchemy.exc import ArgumentError

from cutline.errors import InvalidInputError
from cutline.passwords import hide_passwords

Url: TypeAlias = str | PathLike[str]
"""``sqlite:///flaky.db``, ``postgresql://host/name``, the path of an SQLite file, or a server: ``http://host:8000``."""

_RIGHT = "write sqlite:///file.db, postgresql://user@host/name, or the path of a file"

_ALMOST_A_URL = re.compile(
    r"(sqlite|postgres(ql)?|mysql|mariadb|mssql|oracle|https?|jdbc)(\+\w+)?(:|//)", re.IGNORECASE
)
"""How a url begins that lacks a slash or the colon; the name of a file would be a surprise."""

_MANY = {"host", "port"}
"""Options of PostgreSQL that may come several times, for several servers; these are shown, too."""


def parse(url: Url) -> URL:
    """Return a url or path as SQLAlchemy takes it; raise InvalidInputError, which shows no password, for a bad one."""
    text = _text(url)
    if is_service(url):
        raise InvalidInputError(
            f"{service_address(url)} is a server; this needs the database itself, so do it where that is"
        )
    scheme, separator, rest = text.partition("://")
    backend = scheme.partition("+")[0].lower()
    if not separator and text not in ("", ":memory:") and not _ALMOST_A_URL.match(text) and not _keywords(text):
        return URL.create("sqlite", database=text)
    if separator and backend == "sqlite":
        return _sqlite(rest)
    if separator and backend in ("postgres", "postgresql"):
        return _postgresql(rest)
    shown = f"{scheme}://..." if separator else hide_passwords(text, text)
    raise InvalidInputError(f"cannot keep campaigns in {shown!r}; {_RIGHT}")


def label(url: Url) -> str:
    """Return a url or path to be shown; raise InvalidInputError for a bad one."""
    if is_service(url):
        return service_address(url)
    parsed = parse(url)
    if parsed.get_backend_name() == "sqlite":
        path = str(parsed.database)
        return hide_passwords(path, path)
    shown = {name: value for name, value in parsed.query.items() if name in _MANY}
    return parsed.set(drivername="postgresql", query=shown).render_as_string(hide_password=True)


def is_service(url: Any) -> bool:
    """Tell whether a url is that of a server: http or https."""
    return isinstance(url, str) and re.match(r"https?://", url, re.IGNORECASE) is not None


def service_address(url: Url) -> str:
    """Return the address of a server without a slash at its end; raise InvalidInputError for a bad one."""
    text = _text(url)
    try:
        parts = urlsplit(text)
        good = is_service(text) and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good or "@" in parts.netloc or parts.query or parts.fragment or not text.isprintable() or " " in text:
        raise InvalidInputError(
            "the address of the server must be http://host:port or https://host:port, maybe with a path; a token goes "
            "into CUTLINE_TOKEN, not into the address"
        )
    return text.rstrip("/")


def _text(url: Any) -> str:
    try:
        text = os.fsdecode(url)
    except TypeError:
        raise InvalidInputError(f"a database is a url or a path, not {type(url).__name__}; {_RIGHT}") from None
    if "\0" in text or ("://" in text and "%00" in text):
        raise InvalidInputError("the url or path of the database has a NUL character")
    return text


def _keywords(text: str) -> bool:
    """Tell whether a text is of the form host=... dbname=..., which other programs take for PostgreSQL."""
    return bool(re.match(r"\s*(host|hostaddr|port|dbname|user|password|service|sslmode)\s*=", text))


def _sqlite(rest: str) -> URL:
    parsed = make_url(f"sqlite://{rest}") if rest.startswith("/") else None
    if parsed is None or parsed.database in (None, "", ":memory:"):
        raise InvalidInputError(f"the url of the SQLite database names no file; {_RIGHT}")
    if parsed.query:
        raise InvalidInputError("the url of an SQLite database has no options; leave away what follows the ?")
    return parsed


def _postgresql(rest: str) -> URL:
    if rest.count("@") > 1:
        raise InvalidInputError("the url of the database has more than one @; in a user or password write it as %40")
    try:
        parsed = make_url(f"postgresql+psycopg://{rest}")
    except (ArgumentError, ValueError):
        parsed = None
    ports = [] if parsed is None else [parsed.port, *_all_values(parsed, "port")]
    if parsed is None or not all(port in (None, "") or _is_port(port) for port in ports):
        raise InvalidInputError(
            "the port in the url of the database must be a whole number from 1 to 65535; "
            "write postgresql://user:password@host:port/name, with %3A for a colon and %2F for a slash within a part"
        )
    for name, value in parsed.query.items():
        if name not in _MANY and not isinstance(value, str):
            raise InvalidInputError(f"the url of the database has the option {name!r} more than once")
    return _with_user_of_options(parsed)


def _with_user_of_options(parsed: URL) -> URL:
    """Move user and password from the options to where they are known to be kept from view."""
    query = dict(parsed.query)
    fields = {"user": "username", "password": "password"}
    given: dict[str, Any] = {field: query.pop(option) for option, field in fields.items() if option in query}
    return parsed.set(query=query, **given)


def _all_values(parsed: URL, name: str) -> list[str]:
    values = parsed.query.get(name, ())
    return ",".join([values] if isinstance(values, str) else values).split(",")


def _is_port(port: int | str) -> bool:
    return str(port).isdecimal() and 1 <= int(port) <= 65535
