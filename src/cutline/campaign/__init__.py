"""Campaigns: ask which arm to measure next, tell what came back, stop when the budget or the errors say so."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutline.campaign.campaign import Campaign, backup, campaigns, delete
    from cutline.campaign.comparing import ComparedArm, ComparedCampaigns, compare
    from cutline.campaign.decisions import Decisions
    from cutline.campaign.results import (
        Answer,
        ArmHistory,
        Change,
        Decision,
        Observation,
        PastPull,
        ProgressPoint,
        Pull,
        PullRecord,
        Pulls,
        PullState,
        Reason,
        Result,
        Status,
        Worker,
    )
    from cutline.campaign.running.asynchronous import arun
    from cutline.campaign.running.commands.batch_command import BatchCommand
    from cutline.campaign.running.commands.command import Command
    from cutline.campaign.running.events import RunEvent
    from cutline.campaign.running.in_flight import RunReport
    from cutline.campaign.running.retrying import Retry
    from cutline.campaign.running.runner import run, run_batches
    from cutline.campaign.running.sources import BatchRunnable, Runnable
    from cutline.campaign.settings import Settings
    from cutline.campaign.weighed import Weighed, WorkerRates

_HOMES = {
    "Answer": "results",
    "ArmHistory": "results",
    "BatchCommand": "running.commands.batch_command",
    "BatchRunnable": "running.sources",
    "Campaign": "campaign",
    "Change": "results",
    "Command": "running.commands.command",
    "ComparedArm": "comparing",
    "ComparedCampaigns": "comparing",
    "Decision": "results",
    "Decisions": "decisions",
    "Observation": "results",
    "PastPull": "results",
    "ProgressPoint": "results",
    "Pull": "results",
    "PullRecord": "results",
    "PullState": "results",
    "Pulls": "results",
    "Reason": "results",
    "Result": "results",
    "Retry": "running.retrying",
    "RunEvent": "running.events",
    "RunReport": "running.in_flight",
    "Runnable": "running.sources",
    "Settings": "settings",
    "Status": "results",
    "Weighed": "weighed",
    "Worker": "results",
    "WorkerRates": "weighed",
    "arun": "running.asynchronous",
    "backup": "campaign",
    "campaigns": "campaign",
    "compare": "comparing",
    "delete": "campaign",
    "run": "running.runner",
    "run_batches": "running.runner",
}

__all__ = [
    "Answer",
    "ArmHistory",
    "BatchCommand",
    "BatchRunnable",
    "Campaign",
    "Change",
    "Command",
    "ComparedArm",
    "ComparedCampaigns",
    "Decision",
    "Decisions",
    "Observation",
    "PastPull",
    "ProgressPoint",
    "Pull",
    "PullRecord",
    "PullState",
    "Pulls",
    "Reason",
    "Result",
    "Retry",
    "RunEvent",
    "RunReport",
    "Runnable",
    "Settings",
    "Status",
    "Weighed",
    "Worker",
    "WorkerRates",
    "arun",
    "backup",
    "campaigns",
    "compare",
    "delete",
    "run",
    "run_batches",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cutline.campaign' has no attribute {name!r}")
    return getattr(import_module(f"cutline.campaign.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
