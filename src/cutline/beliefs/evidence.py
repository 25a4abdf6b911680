"""The evidence on a task, as campaigns and replays ask and decide by it: plain arithmetic, on one task or on arrays.

The evidence is the log odds that the truth of a task is yes. ``workers`` learns what a label adds to it.
"""

import math
from typing import Any

RATE = 4.0 / 5.5
"""How often a worker is taken to be right before there are labels."""

MISTAKEN = 0.1
"""The share of tasks that a crowd is taken to have wrong together, while no answers are known; see ``doubts``."""

_FEWEST = 20
_FAR = 20.0


def log_odds(prior: float, weight: Any, labels: Any, correlation: float) -> Any:
    """Return the log odds that a truth is yes, given the weight of so many labels, at least one, in all.

    What one of n labels adds is divided by 1 + (n - 1) correlation; see ``workers``.
    """
    return prior + weight / (1.0 + (labels - 1.0) * correlation)


def asking_index(evidence: float, labels: float) -> float:
    """Return the index of a task with so much evidence and so many labels, at least one: the smallest is asked for.

    |evidence| + (1/2) ln n, which is LSA's (Algorithm 1) with the log odds in the place of alpha n gap^2.
    """
    return abs(evidence) + 0.5 * math.log(labels)


def next_fit(labels: int) -> int:
    """Return at how many labels it is time to learn again after so many."""
    return labels + max(labels * 3 // 20, _FEWEST)


def index_for(evidence: float, labels: float, no: float, yes: float) -> float:
    """Return the index of a task for a worker whose labels 0 and 1 weigh so much; the smallest is worth most.

    -ln I + (1/2) ln n, I being the information (in nats) that the worker's label is expected to give on the truth. Far
    from 0 it falls as exp(-|evidence|), so that this is ``asking_index`` but for a constant of the worker. A worker
    whose labels weigh nothing leaves ``asking_index``.
    """
    if not no < 0.0 < yes:
        return asking_index(evidence, labels)
    near = min(max(evidence, -_FAR), _FAR)
    information = _information(near, no, yes)
    return -math.log(information) + abs(evidence - near) + 0.5 * math.log(labels)


def _information(evidence: float, no: float, yes: float) -> float:
    """Return the mutual information of the truth of a task and a label of a worker."""
    right_on_no = math.expm1(yes) / (math.exp(yes) - math.exp(no))
    yes_on_no = 1.0 - right_on_no
    yes_on_yes = math.exp(yes) * yes_on_no
    p = 1.0 / (1.0 + math.exp(-evidence))
    rest = 1.0 / (1.0 + math.exp(evidence))
    said = p * yes_on_yes + rest * yes_on_no
    if_yes = _divergence(yes_on_yes, said)
    if_no = _divergence(yes_on_no, said)
    return max(p * if_yes + rest * if_no, 1e-300)


def _divergence(p: float, q: float) -> float:
    """Return the divergence of a coin that shows 1 with probability p from one with q, both between 0 and 1."""
    return p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q))
