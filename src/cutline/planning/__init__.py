"""Planning: the smallest budget at which a policy reaches a target, from guessed means, a pilot round or a prior.

beliefs: what is guessed. exact: what Uniform needs, and what the paper promises. search: the budget, by simulation.
planner: the whole plan.
"""

from cutline.planning.beliefs import Beliefs
from cutline.planning.planner import Plan, plan

__all__ = ["Beliefs", "Plan", "plan"]
