"""Planning: the smallest budget at which a policy reaches a target, from guessed means, a pilot round or a prior.

beliefs: what is guessed. computing: errors over the budget without a game. simulator: games on a guess. search: the
budget, from these games. computed: the budget, without them. planner: the whole plan. result: what it says. figure: its
figure. remaining: what a campaign still needs.
"""

from cutline.planning.beliefs import Beliefs
from cutline.planning.computing.expected import ExpectedCurve, expected_curve
from cutline.planning.planner import plan
from cutline.planning.result import Beside, Plan

__all__ = ["Beliefs", "Beside", "ExpectedCurve", "Plan", "expected_curve", "plan"]
