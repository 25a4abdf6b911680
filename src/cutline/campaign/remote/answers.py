"""What a server says, read as the results of a campaign."""

from typing import Any

from cutline.campaign.results import Answer, Decision, PastPull, PullState, Reason, Status
from cutline.campaign.settings import Settings


def status_of(row: dict[str, Any]) -> Status:
    """Return a status from what a server says."""
    finished = row["finished"]
    return Status(
        **{key: value for key, value in row.items() if key != "id"}
        | {"settings": Settings(**row["settings"]), "finished": None if finished is None else Reason(finished)}
    )


def past_pull_of(row: dict[str, Any]) -> PastPull:
    """Return a pull of an arm's history from what a server says."""
    answers = tuple(Answer(**answer) for answer in row["answers"])
    return PastPull(**row | {"state": PullState(row["state"]), "answers": answers})


def decision_of(row: dict[str, Any]) -> Decision:
    """Return a decision from a line of an export."""
    above = {"above": True, "below": False, "undecided": None}[row.pop("decision")]
    return Decision(above=above, **row)
