"""Cutline decides which of many items make the cut: thresholding bandits with the lowest aggregate regret."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutline.errors import CutlineError, InvalidInputError, NotFoundError
    from cutline.policies import Policy, parse
    from cutline.policies.apt import APT
    from cutline.policies.lsa import LSA
    from cutline.policies.opt_kg import OptKG
    from cutline.policies.ucbe import UCBE
    from cutline.policies.uniform import Uniform
    from cutline.problem import Problem
    from cutline.simulation.curves import RegretCurves
    from cutline.simulation.simulate import simulate

__version__ = "0.1.0"

_HOMES = {
    "APT": "policies.apt",
    "CutlineError": "errors",
    "InvalidInputError": "errors",
    "LSA": "policies.lsa",
    "NotFoundError": "errors",
    "OptKG": "policies.opt_kg",
    "Policy": "policies",
    "Problem": "problem",
    "RegretCurves": "simulation.curves",
    "UCBE": "policies.ucbe",
    "Uniform": "policies.uniform",
    "parse": "policies",
    "simulate": "simulation.simulate",
}

__all__ = [
    "APT",
    "LSA",
    "UCBE",
    "CutlineError",
    "InvalidInputError",
    "NotFoundError",
    "OptKG",
    "Policy",
    "Problem",
    "RegretCurves",
    "Uniform",
    "parse",
    "simulate",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'cutline' has no attribute {name!r}")
    return getattr(import_module(f"cutline.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
