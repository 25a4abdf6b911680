"""Expected errors over the budget, found without a game.

bisection, rounds, exact: what Uniform needs, and what the paper promises. nodes, weights, lattice, strides, sums,
passage: what arms come to at levels of an index, with single pulls and with several at once. levels: which levels.
adding: how the pulls of arms add up. climb: up to which budget. expected: the curve, from these. oracle: what a policy
needs that is told the gaps.
"""
