"""The same command again goes on where it stopped: open the campaign that is there, or make it."""

from collections.abc import Sequence
from typing import Any

from cutline.campaign.campaign import Campaign, campaigns
from cutline.campaign.database.address import Url, label
from cutline.errors import ConflictError, InvalidInputError, NotFoundError

DEFAULT_NAME = "main"
"""What a campaign is called that nobody gave a name."""


def the_one(url: Url) -> str:
    """Return the name of the only campaign in a database.

    Raises NotFoundError if there is none, InvalidInputError that lists the names if there are several.
    """
    names = [status.name for status in campaigns(url)]
    if not names:
        raise NotFoundError(f"{label(url)}: there are no campaigns in this database")
    if len(names) > 1:
        there = ", ".join(map(repr, names[:10])) + (", ..." if len(names) > 10 else "")
        raise InvalidInputError(f"{label(url)}: there are several campaigns, {there}; give the name of one")
    return names[0]


def open_one(url: Url, name: str | None = None) -> Campaign:
    """Return the campaign of that name, or without a name the only one; raise what ``the_one`` and ``open`` raise."""
    return Campaign.open(url, the_one(url) if name is None else name)


def resume(
    url: Url | None,
    name: str | None,
    arms: Sequence[str] | None,
    settings: dict[str, Any],
    *,
    same_arms: bool = True,
) -> tuple[Campaign, bool]:
    """Return the campaign of that name, made now if there is none, and whether it was made.

    Without a name it is the only one there is, or a new one called main; without a url it is new, in memory.
    ``arms`` (None: whatever it has) and ``settings`` (of ``Campaign.create``; those that are None are not given)
    are held against what is stored (``same_arms`` False: but for the arms), and are what a new one is made with: that
    needs arms, threshold and budget, its policy is LSA unless given.
    Raises ConflictError that names what differs, NotFoundError if there is none and something to make it is missing,
    and what ``Campaign.create`` raises.
    """
    required = arms if same_arms else None
    given = {key: value for key, value in settings.items() if value is not None}
    if url is not None:
        try:
            return Campaign.open(url, name or the_one(url), arms=required, **given), False
        except NotFoundError as error:
            missing = error
    else:
        missing = NotFoundError("without a database there is no campaign yet")
    lacking = [what for what in ("threshold", "budget") if what not in given]
    if arms is None or lacking:
        lacking = ["arms", *lacking] if arms is None else lacking
        raise NotFoundError(f"{missing}; to make one, give {' and '.join(lacking)}")
    try:
        return Campaign.create(url, name or DEFAULT_NAME, arms, **{"policy": "LSA"} | given), True
    except ConflictError:  # somebody else was faster
        assert url is not None
        return Campaign.open(url, name or DEFAULT_NAME, arms=required, **given), False
