"""Opening the campaign that is there, or making it."""

from pathlib import Path
from typing import Any

import pytest

from cutline.campaign import Campaign
from cutline.campaign.database.connecting.address import label
from cutline.campaign.resume import find, open_one, resume, the_one
from cutline.errors import ConflictError, InvalidInputError, NotFoundError

SETTINGS: dict[str, Any] = {"threshold": 0.5, "budget": 5, "policy": None, "seed": None}


@pytest.fixture
def url(tmp_path: Path) -> Path:
    return tmp_path / "x.db"


def test_the_first_time_makes_a_campaign_and_the_next_opens_it(url: Path) -> None:
    first, made = resume(url, None, ["a", "b"], SETTINGS)
    again, made_again = resume(url, None, ["b", "a"], {**SETTINGS, "policy": "Lai"})
    assert (made, made_again, first.name, again.name) == (True, False, "main", "main")
    assert str(again.settings.policy) == "Lai"
    only, _ = resume(url, None, None, {})
    assert only.name == "main"
    for campaign in (first, again, only):
        campaign.close()


def test_without_a_name_it_is_the_only_one_whatever_it_is_called(url: Path) -> None:
    Campaign.create(url, "fruit", ["a"], 0.5, "LSA", 5).close()
    with open_one(url) as campaign:
        assert campaign.name == the_one(url) == "fruit"
    Campaign.create(url, "bread", ["a"], 0.5, "LSA", 5).close()
    with pytest.raises(InvalidInputError, match="there are several campaigns, 'bread', 'fruit'; give the name of one"):
        open_one(url)


def test_what_differs_is_an_error_and_other_arms_are_one(url: Path) -> None:
    Campaign.create(url, "main", ["a"], 0.5, "LSA", 5).close()
    with pytest.raises(ConflictError, match="campaign 'main': budget is 5, not 6"):
        resume(url, None, None, {"budget": 6})
    with pytest.raises(ConflictError, match="campaign 'main': arms: 'b' is new"):
        resume(url, None, ["a", "b"], SETTINGS)
    found = find(url, None, None, SETTINGS)
    assert isinstance(found, Campaign)
    found.close()


def test_who_is_overtaken_while_making_a_campaign_opens_the_one_that_was_made(
    url: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = Campaign.create

    def overtaken(*arguments: Any, **options: Any) -> Campaign:
        create(*arguments, **options).close()
        return create(*arguments, **options)

    monkeypatch.setattr(Campaign, "create", overtaken)
    campaign, made = resume(url, "x", ["a"], SETTINGS)
    assert (campaign.name, made) == ("x", False)
    campaign.close()


def test_what_is_missing_to_make_one_is_named(url: Path) -> None:
    with pytest.raises(NotFoundError, match="to make one, give arms and threshold and budget"):
        resume(url, None, None, {})
    with pytest.raises(NotFoundError, match=r"there is no such database; to make one, give budget$"):
        resume(url, None, ["a"], {"threshold": 0.5})
    assert not url.exists()


def test_a_password_is_not_shown() -> None:
    assert label("postgresql://ann:secret@host/name") == "postgresql://ann:***@host/name"
    assert label("a b.db") == "a b.db"
