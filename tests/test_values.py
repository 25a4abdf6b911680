"""Every value that the public names take or return goes through pickle and copy.

The values are found by what the annotations of the public names mention; one without an example here is a failure.
"""

import copy
import dataclasses
import enum
import importlib
import inspect
import pickle
import pkgutil
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import cutline
from cutline import campaign, errors
from cutline.campaign.comparing import ComparedArm, ComparedCampaigns
from cutline.campaign.decisions import Decisions
from cutline.campaign.files.importing import Imported
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
from cutline.campaign.running.events import RunEvent
from cutline.campaign.running.in_flight import RunReport
from cutline.campaign.running.retrying import Retry
from cutline.campaign.settings import Settings
from cutline.campaign.weighed import Weighed, WorkerRates
from cutline.planning import Beliefs, Beside, Plan
from cutline.planning.result import Point
from cutline.policies import available
from cutline.policies.lsa import LSA
from cutline.problem import Problem
from cutline.recorded import readers
from cutline.recorded.observations import Counts, Observations, Pilot, RecordedLabel, TaskTotals
from cutline.recorded.result import Replay
from cutline.simulation.curves import RegretCurves
from cutline.simulation.statistics import Comparison

SETTINGS = Settings(0.25, LSA(2.0), 10, 7, 3, True, (0.5, 2.0), 0.125, "mean", "Is it?", ("no", "yes"), ("x", "b"))
COMPARED = ComparedArm("pear", 1.0, "above", None, "undecided", 0.75)
PULL = Pull("5f2c-1-0", "pear", {"n": [1, None]}, "ann", 1.5)
OBSERVATIONS = Observations(
    "l.csv", ("a", "b"), np.array([0, 1, 0]), ("ann", None, "bob"), np.array([1.0, 0.0, 0.5]), np.array([2, 3, 4])
)


CURVES = RegretCurves(
    Problem([0.2, 0.7], 0.5), ("LSA",), np.array([4]), np.array([[[0, 1]]], np.int32), np.ones((1, 1, 2)), 7, "common"
)
POINT = Point(4, 0.5, 0.1, 0.6)


ANSWER = Answer(1.5, "ann", 0.5, "a note")
DECISION = Decision("pear", {"n": 1}, 2, 1, 0.5, True, 0.25, 1.0, 0.0, 1.0)
RATES = WorkerRates("ann", 3, 0.7, (0.4, 0.9), 0.8, (0.5, 0.95))
PAST = PastPull("key", PullState.TOLD, "ann", 1.5, None, (ANSWER,))


def fault(error: Any) -> Any:
    return error("what", "and why")


EXAMPLES: dict[type, Callable[[], Any]] = {
    Change: lambda: Change(1.5, "budget", 20, 30),
    Answer: lambda: ANSWER,
    ArmHistory: lambda: ArmHistory(DECISION, (PAST,)),
    Beliefs: lambda: Beliefs.prior(1, 2, 3),
    Beside: lambda: Beside("Lai", 4, 3, 5, 9, (POINT,)),
    Comparison: lambda: Comparison(0.5, 0.1, 5.0, 4.5, 1e-5, -5.0, 10),
    Counts: lambda: Counts("c.csv", ("a",), np.array([1]), np.array([2])),
    Decision: lambda: DECISION,
    Decisions: lambda: Decisions([DECISION], 0.3),
    Imported: lambda: Imported("main", 3, 2, None, 1),
    Observation: lambda: Observation("pear", 0.5, "ann", "key"),
    Observations: lambda: OBSERVATIONS,
    PastPull: lambda: PAST,
    PullRecord: lambda: PullRecord("c-1-0", "arm", {"text": "x"}, "ann", PullState.TOLD, 1.0),
    PullState: lambda: PullState.IN_FLIGHT,
    Pilot: lambda: Pilot("p.csv", ("a",), np.array([2]), np.array([0.5]), ("line 2",)),
    Plan: lambda: Plan("LSA", 2, 0.5, 0.1, 4, 3, 5, 0.95, 0.1, 0.01, 9, 6, None, 2, "a remark", 7, (POINT,)),
    Point: lambda: POINT,
    Problem: lambda: Problem([0.2, 0.7], 0.5),
    ProgressPoint: lambda: ProgressPoint(1.5, 3, 1, 2, 0.25),
    Pull: lambda: PULL,
    Pulls: lambda: Pulls([PULL, PULL], Reason.ALL_IN_FLIGHT),
    Reason: lambda: Reason.BUDGET_SPENT,
    RecordedLabel: lambda: RecordedLabel("pear", None, 0.5, 3, "key"),
    RegretCurves: lambda: CURVES,
    Replay: lambda: Replay("l.csv", ("a", "b"), 4, CURVES, None, 1),
    Result: lambda: Result("pear", 0.5, None, "key", True),
    Retry: lambda: Retry(OSError, attempts=3, first=0.5, longest=60.0),
    RunEvent: lambda: RunEvent("told", "plum", 1.0),
    RunReport: lambda: RunReport(3, 1, 0, ["plum"], Reason.BUDGET_SPENT, ["fig"]),
    Settings: lambda: SETTINGS,
    Status: lambda: Status("main", SETTINGS, 2, 3, 1, 6, 0, 0.5, None),
    ComparedArm: lambda: COMPARED,
    ComparedCampaigns: lambda: ComparedCampaigns("a", "b", (COMPARED,), 1, 0, 0.75),
    Weighed: lambda: Weighed((DECISION,), (RATES,), True, 0.04),
    WorkerRates: lambda: RATES,
    TaskTotals: lambda: TaskTotals("pear", 2, 3, 5),
    Worker: lambda: Worker("ann", 3, 2, 1, 1.5),
    **{policy: policy for policy in available()},
    **{error: partial(fault, error) for error in filter(inspect.isclass, vars(errors).values())},
}


def classes() -> Iterator[type]:
    """Every class of the package that is a value: a dataclass, a tuple, an enumeration or an error."""
    for module in pkgutil.walk_packages(cutline.__path__, "cutline."):
        if not module.name.endswith("__main__") and ".migrations." not in module.name:
            for item in vars(importlib.import_module(module.name)).values():
                if inspect.isclass(item) and item.__module__ == module.name:
                    yield item


def is_value(item: type) -> bool:
    return dataclasses.is_dataclass(item) or issubclass(item, (tuple, enum.Enum, BaseException))


def mentioned(item: Any) -> set[str]:
    """The names in the annotations of a function, or of a class, its methods and its properties."""
    members = [item]
    if inspect.isclass(item):
        members += [value for name, value in vars(item).items() if not name.startswith("_")]
    words = ""
    for member in members:
        function = getattr(member, "fget", None) or getattr(member, "__func__", member)
        words += " ".join(str(value) for value in getattr(function, "__annotations__", {}).values()) + " "
    return set(re.findall(r"\w+", words))


def public_values() -> list[type]:
    by_name = {item.__name__: item for item in classes()}
    open_ = [getattr(room, name) for room in (cutline, campaign) for name in room.__all__]
    open_ += [item for name, item in vars(readers).items() if name.startswith(("read_", "iter_"))]
    found: list[Any] = []
    while open_:
        item = open_.pop()
        if item not in found:
            found.append(item)
            open_ += [by_name[name] for name in mentioned(item) if name in by_name]
    values = {item for item in found if inspect.isclass(item) and is_value(item) and not inspect.isabstract(item)}
    return sorted(values - {cutline.Policy}, key=lambda item: item.__name__)


def same(a: Any, b: Any) -> bool:
    """Whether two values are of one class and have the same parts, arrays compared by what they hold."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
    if isinstance(a, BaseException):
        return str(a) == str(b) and same(a.args, b.args)
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b)) and getattr(a, "reason", None) == getattr(b, "reason", None)
    if isinstance(a, Decisions):
        return list(a) == list(b) and a.threshold == b.threshold
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, item.name), getattr(b, item.name)) for item in dataclasses.fields(a))
    return bool(a == b)


@pytest.mark.parametrize("value", public_values(), ids=lambda item: item.__name__)
def test_a_public_value_comes_back_from_pickle_and_copy_as_it_was(value: type) -> None:
    assert value in EXAMPLES, f"{value.__qualname__} is public: give an example of it"
    example = EXAMPLES[value]()
    assert type(example) is value
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert same(pickle.loads(pickle.dumps(example, protocol)), example), protocol
    if isinstance(example, BaseException):  # tblib, which Dask loads, makes exceptions anew like this
        assert same(value.__new__(value, *example.args), example)
    assert same(copy.copy(example), example)
    assert same(copy.deepcopy(example), example)


def test_what_is_found_is_what_users_meet() -> None:
    found = {item.__name__ for item in public_values()}
    assert found >= {"Pulls", "Decision", "Status", "Settings", "RegretCurves", "Plan", "Replay", "LSA", "StoreError"}
    assert not same(Pulls([PULL], None), Pulls([PULL], Reason.ALL_IN_FLIGHT))
    assert not same(Problem([0.2]), Problem([0.3]))
