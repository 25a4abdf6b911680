"""What a server is sent to make and to change a campaign, checked before it is."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cutline.campaign.checks import check_excluded, check_known, check_name
from cutline.campaign.operations.changing.changing import checked_ids
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


def body_of_change(
    settings: Changes, add: Arms, retire: Iterable[str], bring_back: Iterable[str], known: Mapping[str, bool] | None
) -> dict[str, Any]:
    """Return what changes a campaign; raise what ``Campaign.change`` raises for bad arguments."""
    check_changes(settings)
    given: dict[str, Any] = dict(settings)
    if known:
        given["known"] = check_known(known)
    if "excluded" in given:
        given["excluded"] = list(check_excluded(given["excluded"]))
    if "policy" in given:
        given["policy"] = str(given["policy"])
    given["add"] = [
        arm if payload is None else {"id": arm, "payload": json.loads(payload)} for arm, payload in checked_arms(add)
    ]
    return given | {"retire": checked_ids("retire", retire), "bring_back": checked_ids("bring_back", bring_back)}
