"""Planning: the smallest budget at which a policy reaches a target, from guessed means, a pilot round or a prior.

beliefs: what is guessed. exact: what Uniform needs, and what the paper promises. simulator: games on a guess. search:
the budget, from these games. planner: the whole plan. figure: its figure.
"""

from cutline.planning.beliefs import Beliefs
from cutline.planning.planner import Plan, plan

__all__ = ["Beliefs", "Plan", "plan"]
