"""What a server is sent to make and to change a campaign, checked before it is."""

import json
from collections.abc import Mapping
from typing import Any

from cutline.campaign.checks import check_excluded, check_known, check_name
from cutline.campaign.operations.changing.changing import Roster
from cutline.campaign.operations.changing.creation import Arms, checked_arms
from cutline.campaign.settings import Changes, Settings, check_changes


def body_of_creation(name: str, arms: Arms, settings: Settings, known: Mapping[str, bool] | None) -> bytes:
    """Return the JSON that makes a campaign; raise what ``Campaign.create`` raises for bad arguments."""
    check_name(name)
    answers = check_known(known)
    settings.require_known(answers)
    settings.require_readable()
    head = json.dumps({"name": name, "known": answers, **settings.as_dict()}, allow_nan=False)
    written = (
        json.dumps(arm) if payload is None else f'{{"id": {json.dumps(arm)}, "payload": {payload}}}'
        for arm, payload in checked_arms(arms)
    )
    return f'{head[:-1]}, "arms": [{", ".join(written)}]}}'.encode()


def body_of_change(settings: Changes, wanted: Roster) -> dict[str, Any]:
    """Return what changes a campaign; raise what ``Campaign.change`` raises for bad arguments."""
    check_changes(settings)
    given: dict[str, Any] = {**settings, **{name: value for name, value in wanted.checked()._asdict().items() if value}}
    if "excluded" in given:
        given["excluded"] = list(check_excluded(given["excluded"]))
    if "policy" in given:
        given["policy"] = str(given["policy"])
    given["add"] = [
        arm if payload is None else {"id": arm, "payload": json.loads(payload)}
        for arm, payload in checked_arms(wanted.add)
    ]
    return given
