"""A setting stands in one place: what the database, the command line and the types say of settings agrees."""

import importlib
from dataclasses import fields, replace
from typing import Any, get_type_hints

import click
import pytest

import cutline.campaign
from cutline.campaign import Settings
from cutline.campaign.database.schema import COUNTERS, campaigns
from cutline.campaign.settings import OF_ARMS, Changes, Expected
from cutline.cli._campaigns import settings_options, wording_options
from cutline.errors import ConflictError, InvalidInputError
from cutline.policies.apt import APT
from cutline.policies.lsa import LSA

NAMES = [item.name for item in fields(Settings)]
DEFAULT = Settings(0.5, LSA(), 10)
OTHER = Settings(
    0.25, APT(0.05), 2**53, 7, 3, True, (0.5, 2.0), 0.125, "mean", "Is it?", ("no bird", "bird"), ("x", "b")
)
WEIGHED = Settings(0.5, LSA(), 10, workers="weighed", excluded=("bob", "ann"), known_rate=0.125)
ONLY_WEIGHED = ("workers", "excluded", "known_rate")


def test_every_setting_has_its_columns_its_option_and_its_type() -> None:
    own = {"id", "name", "token", "arms", "unfinished_until", *COUNTERS}
    own |= {"generation", "learnt_from", "learn_at", "up_to_date", "changed_at", "version", "retired"}
    assert set(DEFAULT.columns()) == {column.name for column in campaigns.columns} - own
    assert set(get_type_hints(Expected)) == set(NAMES)
    assert set(NAMES) - set(get_type_hints(Changes)) == {"seed", "repeat_workers"}
    assert set(OF_ARMS) < set(get_type_hints(Changes)) < set(NAMES)
    options = click.command(settings_options(wording_options(lambda: None))).params
    assert {option.name for option in options} == set(NAMES)


@pytest.mark.parametrize("settings", [DEFAULT, OTHER, WEIGHED], ids=["default", "other", "weighed"])
def test_settings_come_back_from_their_columns_as_they_were(settings: Settings) -> None:
    columns = settings.columns()
    assert {type(value) for value in columns.values()} <= {int, float, str, bool, type(None)}
    assert Settings.from_columns(columns) == settings
    settings.require_readable()


def test_a_dictionary_of_settings_has_what_json_can_write() -> None:
    assert OTHER.as_dict() == {
        "threshold": 0.25,
        "policy": "APT(0.05)",
        "budget": 2**53,
        "seed": 7,
        "max_pulls_per_arm": 3,
        "repeat_workers": True,
        "prior": [0.5, 2.0],
        "target_errors": 0.125,
        "decide": "mean",
        "question": "Is it?",
        "labels": ["no bird", "bird"],
        "keys": ["x", "b"],
        "workers": "alike",
        "excluded": [],
        "known_rate": 0.0,
    }
    assert {name: WEIGHED.as_dict()[name] for name in ONLY_WEIGHED} == {
        "workers": "weighed",
        "excluded": ["ann", "bob"],
        "known_rate": 0.125,
    }


@pytest.mark.parametrize("name", NAMES)
def test_any_setting_that_differs_is_named_with_both_values(name: str) -> None:
    wanted: dict[str, Any] = {name: getattr(WEIGHED if name in ONLY_WEIGHED else OTHER, name)}
    stored = Settings(0.5, LSA(), 10, workers="weighed") if name in ONLY_WEIGHED[1:] else DEFAULT
    stored.require({name: getattr(stored, name)})
    with pytest.raises(ConflictError, match=rf"^{name} is .*, not "):
        stored.require(wanted)


def test_none_is_a_value_only_of_settings_that_may_be_left_out() -> None:
    assert replace(OTHER, max_pulls_per_arm=None, prior=None, target_errors=None).prior is None
    for name in ("threshold", "policy", "budget", "seed", "decide"):
        nothing: dict[str, Any] = {name: None}
        with pytest.raises(InvalidInputError, match=name):
            replace(OTHER, **nothing)


@pytest.mark.parametrize(
    ("left", "way_out"),
    [({"excluded": ["bob"]}, "nobody excluded"), ({"known_rate": 0.1}, "known_rate 0")],
)
def test_what_is_for_weighed_workers_says_what_to_give_where_workers_come_to_count_alike(
    left: dict[str, Any], way_out: str
) -> None:
    weighed = Settings(0.5, "Lai", 9, workers="weighed", **left)  # type: ignore[arg-type]  # Settings parses it
    (name,) = left
    message = f"^{name} is for workers that are weighed; give workers weighed, too, or {way_out}$"
    with pytest.raises(InvalidInputError, match=message):
        replace(weighed, workers="alike")


def test_the_room_exports_what_it_says() -> None:
    for name, home in cutline.campaign._HOMES.items():
        assert getattr(cutline.campaign, name) is getattr(importlib.import_module(f"cutline.campaign.{home}"), name)
    assert sorted(cutline.campaign._HOMES) == sorted(cutline.campaign.__all__) == dir(cutline.campaign)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cutline.campaign.nothing


def test_a_campaign_has_the_default_policy_but_must_be_given_a_budget() -> None:
    assert str(cutline.campaign.Campaign.create(None, "c", ["a"], 0.5, budget=3).settings.policy) == "Lai"
    with pytest.raises(InvalidInputError, match="budget is None"):
        cutline.campaign.Campaign.create(None, "c", ["a"], 0.5)
