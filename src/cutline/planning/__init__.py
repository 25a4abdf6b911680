"""Planning: the smallest budget at which a policy reaches a target, from guessed means, a pilot round or a prior.

beliefs: what is guessed. rounds, exact: what Uniform needs, and what the paper promises. nodes, weights, passage,
strides, sums: what arms come to at levels of an index, with single pulls and with several at once. levels: which
levels. adding: how the pulls of arms add up. climb: up to which budget. expected: errors over the budget, from these.
computed: the budget, from them. oracle: what a policy needs that is told the gaps. simulator: games on a guess. search:
the budget, from these games. planner: the whole plan. figure: its figure.
"""

from cutline.planning.beliefs import Beliefs
from cutline.planning.expected import ExpectedCurve, expected_curve
from cutline.planning.planner import Beside, Plan, plan

__all__ = ["Beliefs", "Beside", "ExpectedCurve", "Plan", "expected_curve", "plan"]
