"""Tokens: made, listed, revoked, and recognised.

A token is ``cutline_ID_SECRET``. The database keeps the digest of the secret, which has 192 random bits: nothing is
gained by guessing, so a fast digest is enough. A login and a link are tokens without a name, made from one with a name,
and end with it.
"""

import hashlib
import hmac
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import Connection

from cutline.campaign.checks import check_text
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.connecting.address import Url
from cutline.campaign.database.identity import read_identity
from cutline.campaign.database.rows import tokens as rows
from cutline.campaign.database.rows.tokens import TokenRow
from cutline.campaign.database.store import Store
from cutline.checks import check_positive
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from cutline.server.access.roles import Access, Role

DAY = 86_400.0

LOGIN = 30 * DAY
"""Seconds that a login lasts."""

LINK = 7 * DAY
"""Seconds for which a link waits for being used."""

LONGEST_NAME = 200

_FRESH = 1.0
"""Seconds for which a token that was found is not looked up again; so long may a revoked one still be good."""

_MOST_REMEMBERED = 10_000

_ANY = "\0"
"""Stands for all tokens where what was found is remembered; no header can hold it."""


class Tokens:
    """The tokens of a database. Safe to use from several threads."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock
        self._seen: dict[str, tuple[float, Any]] = {}
        self._turn = threading.Lock()

    def create(self, name: str, role: Role | str, campaign: str | None = None, days: float | None = None) -> str:
        """Make a token and return it; it is never shown again. It ends after so many days, if they are given.

        Raises InvalidInputError for a bad name, role or end, and for a role without the campaign that it needs;
        ConflictError if the name is taken; NotFoundError if there is no such campaign.
        """
        name = _check_name(name)
        role = _check_role(role, campaign)
        lasting = None if days is None else check_positive("days", days) * DAY
        identity = None if campaign is None else read_identity(self._store, campaign)

        def work(connection: Connection) -> str:
            if rows.named(connection, name) is not None:
                raise ConflictError(f"there is a token called {name!r} already; revoke it, or take another name")
            values = {"name": name, "role": str(role), "campaign_id": None if identity is None else identity.id}
            return self._add(connection, values, lasting)

        return self._store.write(work)

    def list(self) -> list[TokenRow]:
        """Return the tokens there are, by name, those that have ended included."""
        return list(self._store.read(rows.listed))

    def revoke(self, name: str) -> None:
        """Make a token worthless, with its logins and links; raise NotFoundError if there is none of that name."""
        name = _check_name(name)

        def work(connection: Connection) -> None:
            row = rows.named(connection, name)
            if row is None:
                there = ", ".join(repr(row.name) for row in rows.listed(connection)[:10])
                raise NotFoundError(f"no token is called {name!r}; there are {there or 'none'}")
            rows.remove(connection, row.id)

        self._store.write(work)
        self._forget()

    def are_there(self) -> bool:
        """Tell whether any token lets somebody in."""
        return bool(self._lately(_ANY, lambda: self._store.read(lambda it: rows.count(it, self._clock.now(it)))))

    def find(self, token: str) -> Access | None:
        """Return what a token or a login is good for, None if it is unknown or has ended; links are for ``log_in``."""
        found = self._lately(token, lambda: self._store.read(lambda connection: self._row(connection, token)))
        return None if found is None or found.once else _access(found)

    def log_in(self, token: str) -> str | None:
        """Exchange a token, or a link, which is gone then, for a login, which a cookie holds; None if it is no good."""

        def work(connection: Connection) -> str | None:
            now = self._clock.now(connection)
            rows.remove_ended(connection, now)
            row = self._row(connection, token)
            if row is None:
                return None
            if row.once and not rows.remove(connection, row.id):
                return None
            left = LOGIN if row.ends is None or row.once else min(LOGIN, row.ends - now)
            return self._add(connection, _derived(row), left)

        return self._store.write(work)

    def log_out(self, login: str) -> None:
        """Make a login worthless; nothing happens if it is none."""

        def work(connection: Connection) -> None:
            row = self._row(connection, login)
            if row is not None and row.parent is not None:
                rows.remove(connection, row.id)

        self._store.write(work)
        self._forget()

    def link(self, name: str) -> str:
        """Make a link from the token of that name: what ``log_in`` takes once. Raises NotFoundError for no such."""
        name = _check_name(name)

        def work(connection: Connection) -> str:
            row = rows.named(connection, name)
            if row is None:
                raise NotFoundError(f"no token is called {name!r}")
            return self._add(connection, _derived(row) | {"once": True}, LINK)

        return self._store.write(work)

    def _add(self, connection: Connection, values: dict[str, Any], lasting: float | None) -> str:
        now, secret = self._clock.now(connection), secrets.token_urlsafe(24)
        ends = None if lasting is None else now + lasting
        number = rows.add(connection, {**values, "digest": _digest(secret), "created": now, "ends": ends})
        return f"cutline_{number}_{secret}"

    def _row(self, connection: Connection, token: str) -> Any:
        """Return the row of a token that is good now, None if there is none."""
        number, secret = _parts(token)
        row = rows.find(connection, number)
        kept = row.digest if row is not None else bytes(32)
        if not hmac.compare_digest(kept, _digest(secret)) or row is None:
            return None
        for ends in (row, rows.find(connection, row.parent) if row.parent is not None else row):
            if ends is None or (ends.ends is not None and ends.ends <= self._clock.now(connection)):
                return None
        return row if row.campaign_id is None or row.campaign is not None else None

    def _lately(self, key: str, look: Any) -> Any:
        """Return what ``look`` returns, or what it returned for this key a moment ago."""
        hashed, now = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest(), time.monotonic()
        with self._turn:
            seen, found = self._seen.get(hashed, (-_FRESH, None))
        if now - seen < _FRESH:
            return found
        found = look()
        with self._turn:
            if len(self._seen) >= _MOST_REMEMBERED:
                self._seen.clear()
            self._seen[hashed] = (now, found)
        return found

    def _forget(self) -> None:
        with self._turn:
            self._seen.clear()


def _access(row: Any) -> Access:
    return Access(Role(row.role), row.campaign, row.label)


def _derived(row: Any) -> dict[str, Any]:
    """Return the columns of what is exchanged for a token."""
    return {"role": row.role, "campaign_id": row.campaign_id, "parent": row.id if row.name else row.parent}


def _parts(token: str) -> tuple[int, str]:
    """Return the id and the secret of a token, of one that cannot be if the text is none."""
    word, _, rest = token.partition("_")
    number, _, secret = rest.partition("_")
    if word != "cutline" or not (number.isascii() and number.isdecimal() and len(number) < 10):
        return 0, ""
    return int(number), secret


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode("utf-8", "replace")).digest()


def _check_name(name: str) -> str:
    if len(check_text("token name", name)) > LONGEST_NAME or not name.isprintable():
        raise InvalidInputError(f"token name {name!r}: it must be 1 to {LONGEST_NAME} characters of text, on one line")
    return name


def _check_role(role: Role | str, campaign: str | None) -> Role:
    try:
        known = Role(role)
    except ValueError:
        raise InvalidInputError(f"role {role!r} is none; it must be {', '.join(Role)}") from None
    if known is Role.LABELLER and campaign is None:
        raise InvalidInputError("a labeller labels one campaign; say which")
    if known is Role.OWNER and campaign is not None:
        raise InvalidInputError("an owner has all campaigns; leave out the campaign, or make a labeller or viewer")
    return known


@contextmanager
def tokens_of(url: Url) -> Iterator[Tokens]:
    """Open the tokens of a database that is there; raise NotFoundError if it is not, StoreError if it fails."""
    with Store.connect(url, create=False) as store:
        yield Tokens(store, Clock())
