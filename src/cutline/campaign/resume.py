"""The same command again goes on where it stopped: open the campaign that is there, or make it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from cutline.campaign.campaign import Campaign, campaigns
from cutline.campaign.database.connecting.address import Url, label
from cutline.campaign.operations.changing import roster
from cutline.campaign.settings import Changes
from cutline.defaults import POLICY
from cutline.errors import ConflictError, InvalidInputError, NotFoundError
from cutline.text import quoted

DEFAULT_NAME = "main"
"""What a campaign is called that nobody gave a name."""

_HOW = "cutline campaign change changes that, as --change of run and pytest does"


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
    arms: Sequence[str] | Mapping[str, Any] | None,
    settings: dict[str, Any],
    change: bool = False,
    known: Mapping[str, bool] | None = None,
) -> tuple[Campaign, bool]:
    """Return the campaign of that name, made now if there is none, and whether it was made.

    Without a name it is the only one there is, or a new one called main; without a url it is new, in memory.
    ``arms`` (ids, or ids with payloads; None: whatever it has) and ``settings`` (of ``Campaign.create``; those that are
    None are not given) are held against what is stored, and are what a new one is made with: that needs arms, threshold
    and budget, its policy is ``defaults.POLICY`` unless given. ``change``: a campaign that is there becomes what is
    given; its arms that are not among ``arms`` are retired, and those that are retired and are among them are brought
    back. ``known``: the answers to arms where they are known, held against those of a campaign that is there, unless it
    is changed.
    Raises ConflictError that names what differs, NotFoundError if there is none and something to make it is missing,
    and what ``Campaign.create`` raises.
    """
    found = _changed(url, name, arms, settings, known) if change else find(url, name, arms, settings)
    if isinstance(found, Campaign):
        if known and not change:
            _require_known(found, known)
        return found, False
    if arms is None:
        raise _lacking(found, ["arms", *_missing(settings)])
    terms = terms_of_new(found, settings)
    try:
        return Campaign.create(url, name or DEFAULT_NAME, arms, known=known, **terms), True
    except ConflictError:  # somebody else was faster
        if url is None:
            raise
        return Campaign.open(url, name or DEFAULT_NAME, arms=arms, **_given(settings)), False


def find(
    url: Url | None, name: str | None, arms: Sequence[str] | Mapping[str, Any] | None, settings: dict[str, Any]
) -> Campaign | NotFoundError:
    """Return the one that ``resume`` would open, or why there is none; raise what it raises if that one differs."""
    if url is None:
        return NotFoundError("without a database there is no campaign yet")
    try:
        return Campaign.open(url, name or the_one(url), arms=arms, **_given(settings))
    except NotFoundError as error:
        return error
    except ConflictError as error:
        with suppress(ConflictError):
            Campaign.open(url, name or the_one(url), **_fixed(settings)).close()
            error = ConflictError(f"{error}; {_HOW}")
        raise error from None


def _changed(
    url: Url | None,
    name: str | None,
    arms: Sequence[str] | Mapping[str, Any] | None,
    settings: dict[str, Any],
    known: Mapping[str, bool] | None,
) -> Campaign | NotFoundError:
    """Return the campaign that is there, changed to what is given; raise what ``Campaign.change`` raises."""
    found = find(url, name, None, _fixed(settings))
    if isinstance(found, Campaign):
        changes: Any = {key: value for key, value in _given(settings).items() if key not in _fixed(settings)}
        if arms is not None:
            active, retired = (roster.names(found._store, found._identity, each) for each in (False, True))
            given = set(arms)
            changes |= {
                "add": arms,
                "retire": [arm for arm in active if arm not in given],
                "bring_back": [arm for arm in retired if arm in given],
            }
        try:
            found.change(known=known, **changes)
        except BaseException:
            found.close()
            raise
    return found


def _require_known(campaign: Campaign, known: Mapping[str, bool]) -> None:
    """Close the campaign and raise ConflictError unless it has these answers to be known."""
    there = campaign.known_answers()
    for arm, answer in known.items():
        if there.get(arm) != answer:
            campaign.close()
            raise ConflictError(
                f"campaign {campaign.name!r}: the answer to {quoted(arm)} is not known to be {answer:d}; {_HOW}"
            )


def _fixed(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that are given and cannot be changed."""
    return {key: value for key, value in _given(settings).items() if key not in Changes.__annotations__}


def terms_of_new(found: NotFoundError, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a campaign to be made; raise NotFoundError, with why it is needed, if one is missing."""
    if _missing(settings):
        raise _lacking(found, _missing(settings))
    return {"policy": POLICY} | _given(settings)


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings that are not None."""
    return {key: value for key, value in settings.items() if value is not None}


def _missing(settings: dict[str, Any]) -> list[str]:
    """Return the settings that a new campaign needs and that are not given."""
    return [name for name in ("threshold", "budget") if settings.get(name) is None]


def _lacking(found: NotFoundError, what: Sequence[str]) -> NotFoundError:
    """The error to raise if there is no campaign and something is missing to make it."""
    return NotFoundError(f"{found}; to make one, give {' and '.join(what)}")
