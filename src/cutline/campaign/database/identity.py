"""What a campaign is known by: the constant part of its row, its terms, and the ids of its pulls."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection, bindparam, select

from cutline.campaign.arithmetic import Arithmetic
from cutline.campaign.checks import check_name
from cutline.campaign.database.prepared import Prepared
from cutline.campaign.database.schema import STRIDE, campaigns, digest
from cutline.campaign.database.store import Store
from cutline.campaign.settings import Settings
from cutline.errors import NotFoundError

PullKey: TypeAlias = tuple[int, int]
"""The number of a pull and the number of its arm."""


class Terms(NamedTuple):
    """The part of a campaign's row that can be changed, its name and settings, and how often it has been."""

    version: int
    name: str
    settings: Settings

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> "Terms":
        """Return the terms in a campaign's row; raise what reading the policy raises."""
        return cls(row["version"], row["name"], Settings.from_columns(row))


@dataclass(eq=False)
class Identity:
    """The constant part of a campaign's row, its id and token, and the ``terms`` that this process read last.

    Whoever depends on the present terms asks ``terms_of`` for them in his transaction. ``keeper`` is called with the
    state after each ask and tell, and whether it was a tell, if others than the caller are to learn from it.
    """

    id: int
    token: str
    terms: Terms
    keeper: Callable[[Any, bool], object] | None = None

    @property
    def name(self) -> str:
        """Its name when it was read last."""
        return self.terms.name

    @property
    def settings(self) -> Settings:
        """Its settings when they were read last."""
        return self.terms.settings

    def follow(self, terms: Terms) -> None:
        """Take terms that hold, if they are newer than those that are known."""
        if terms.version > self.terms.version:
            self.terms = terms

    @cached_property
    def arithmetics(self) -> dict[tuple[int, int], Arithmetic]:
        """What ``arithmetic_of`` has made, by version of the terms and generation."""
        return {}

    @cached_property
    def base(self) -> int:
        """What the numbers of its arms and pulls are counted from."""
        return self.id * STRIDE

    @property
    def numbers(self) -> tuple[int, int]:
        """The first and the last number that its arms and pulls may have."""
        return self.base, self.base + STRIDE - 1

    def digest(self, text: str) -> bytes:
        """Return what a text of this campaign is looked up by."""
        return digest(self.id, text)

    def optional_digest(self, text: str | None) -> bytes | None:
        """Return the same, None of None."""
        return None if text is None else digest(self.id, text)

    def pull_id(self, key: PullKey) -> str:
        """Write the id of a pull for the outside.

        After a power failure an ask may be forgotten (see store.py) and its number given out again; with the arm in the
        id, no reward can go to an arm that it was not measured at.
        """
        return f"{self.token}-{key[0] - self.base}-{key[1] - self.base}"

    def pull_key(self, pull: Any) -> PullKey:
        """Read the id of a pull of this campaign; raise NotFoundError for any other text."""
        name = getattr(pull, "id", pull)
        key = self.own_key(name) if isinstance(name, str) else None
        if key is None:
            raise self.no_pull(name)
        return key

    def own_key(self, pull_id: str) -> PullKey | None:
        """Read the id of a pull of this campaign; return None for any other text."""
        match = self._id.fullmatch(pull_id)
        return None if match is None else (self.base + int(match[1]), self.base + int(match[2]))

    @cached_property
    def _id(self) -> re.Pattern[str]:
        return re.compile(self.token + "-([0-9]{1,12})-([0-9]{1,12})")

    def no_pull(self, pull: Any) -> NotFoundError:
        """The error to raise for a pull that this campaign has not leased."""
        return NotFoundError(f"campaign {self.name!r} has no pull {pull!r}")

    def gone(self) -> NotFoundError:
        """The error to raise if the campaign's row is not there any more."""
        return NotFoundError(f"campaign {self.name!r} has been deleted")


_TERMS_COLUMNS = [column for column in campaigns.columns if column.name in {*Terms._fields, *Settings.column_names()}]
_TERMS = Prepared(select(*_TERMS_COLUMNS).where(campaigns.c.id == bindparam("campaign")))


def terms_of(connection: Connection, campaign: Identity, version: int) -> Terms:
    """Return the terms that hold in a transaction, which has read their version; raise NotFoundError if it is gone."""
    terms = campaign.terms
    if terms.version != version:
        rows = _TERMS.rows(connection, campaign=campaign.id)
        if not rows:
            raise campaign.gone()
        row = dict(zip((column.name for column in _TERMS_COLUMNS), rows[0], strict=True))
        if row["policy"] == str(terms.settings.policy):
            row["policy"] = terms.settings.policy  # which in memory may be one that cannot be read
        terms = Terms.of_row(row)
        campaign.follow(terms)
    return terms


def read_identity(store: Store, name: str) -> Identity:
    """Return the campaign of that name; raise NotFoundError, naming those there are, if there is none."""
    check_name(name)
    rows = _rows(store, campaigns.c.name == name)
    if not rows:
        names = [campaign.name for campaign in read_identities(store)]
        there = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise NotFoundError(f"{store.label}: no campaign is called {name!r}; there are {there or 'none'}")
    return _identity(rows[0])


def read_identities(store: Store) -> list[Identity]:
    """Return all campaigns, by name."""
    return sorted(map(_identity, _rows(store)), key=lambda campaign: campaign.name)


def _rows(store: Store, *conditions: Any) -> list[Mapping[str, Any]]:
    query = select(campaigns).where(campaigns.c.unfinished_until.is_(None), *conditions)
    return store.read(lambda connection: [dict(row) for row in connection.execute(query).mappings()])


def _identity(row: Mapping[str, Any]) -> Identity:
    return Identity(row["id"], row["token"], Terms.of_row(row))
