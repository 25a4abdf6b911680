"""Cutline decides which of many items make the cut: thresholding bandits with the lowest aggregate regret."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutline.campaign.campaign import Campaign, campaigns
    from cutline.errors import (
        AccessError,
        ConflictError,
        CutlineError,
        InvalidInputError,
        MeasurementError,
        MeasurementTimeoutError,
        MissingDependencyError,
        NotFoundError,
        OutOfMemoryError,
        StoreError,
        TryAgainError,
    )
    from cutline.planning import Beliefs, Plan, plan
    from cutline.policies import Policy, parse
    from cutline.policies.apt import APT
    from cutline.policies.lsa import LSA
    from cutline.policies.opt_kg import OptKG
    from cutline.policies.oracle import GapOracle, RatioOracle
    from cutline.policies.ucbe import UCBE
    from cutline.policies.uniform import Uniform
    from cutline.problem import Problem
    from cutline.recorded.replay import replay
    from cutline.simulation.curves import RegretCurves
    from cutline.simulation.simulate import simulate

__version__ = "0.1.0"

_HOMES = {
    "APT": "policies.apt",
    "AccessError": "errors",
    "Beliefs": "planning",
    "Campaign": "campaign.campaign",
    "ConflictError": "errors",
    "CutlineError": "errors",
    "GapOracle": "policies.oracle",
    "InvalidInputError": "errors",
    "LSA": "policies.lsa",
    "MeasurementError": "errors",
    "MeasurementTimeoutError": "errors",
    "MissingDependencyError": "errors",
    "NotFoundError": "errors",
    "OptKG": "policies.opt_kg",
    "OutOfMemoryError": "errors",
    "Plan": "planning",
    "Policy": "policies",
    "Problem": "problem",
    "RatioOracle": "policies.oracle",
    "RegretCurves": "simulation.curves",
    "StoreError": "errors",
    "TryAgainError": "errors",
    "UCBE": "policies.ucbe",
    "Uniform": "policies.uniform",
    "campaigns": "campaign.campaign",
    "parse": "policies",
    "plan": "planning",
    "replay": "recorded.replay",
    "simulate": "simulation.simulate",
}

__all__ = [
    "APT",
    "LSA",
    "UCBE",
    "AccessError",
    "Beliefs",
    "Campaign",
    "ConflictError",
    "CutlineError",
    "GapOracle",
    "InvalidInputError",
    "MeasurementError",
    "MeasurementTimeoutError",
    "MissingDependencyError",
    "NotFoundError",
    "OptKG",
    "OutOfMemoryError",
    "Plan",
    "Policy",
    "Problem",
    "RatioOracle",
    "RegretCurves",
    "StoreError",
    "TryAgainError",
    "Uniform",
    "campaigns",
    "parse",
    "plan",
    "replay",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cutline' has no attribute {name!r}")
    return getattr(import_module(f"cutline.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
