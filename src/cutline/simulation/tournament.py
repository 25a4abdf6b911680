"""A tournament tree: the arm with the smallest index in O(1), a new index in O(log K); the lower arm wins a tie.

A tree over K arms is two arrays of length 2 n, n the power of two from K on: the winner of every match, and its index.
Node 1 is the root, node n + i is arm i, and the children of a node are 2 node and 2 node + 1. Winners are carried
up in registers and never looked up through one another, so that a walk does not wait for memory at every match.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place


class Tree(NamedTuple):
    """The winner of every match and its index, (2 n,) each."""

    winners: NDArray[np.int64]
    indices: NDArray[np.float64]


class Lead(NamedTuple):
    """The arm with the smallest index, its ``value``, and the rival that would win without it, and the rival's.

    An arm without a rival is its own, at infinity.
    """

    arm: int
    value: float
    rival: int
    rivals_value: float


@jit
def empty_tree(arms: int) -> Tree:
    """Return a tree whose arms all have an infinite index, before its matches are played."""
    size = 1
    while size < arms:
        size *= 2
    winners = np.empty(2 * size, np.int64)
    for arm in range(size):
        winners[size + arm] = arm
    return Tree(winners, np.full(2 * size, np.inf))


@jit_in_place
def enter(tree: Tree, indices: NDArray[np.float64]) -> None:
    """Give every arm its index and play all matches."""
    leaf = tree.winners.size // 2
    for arm in range(indices.size):
        tree.indices[leaf + arm] = indices[arm]
    play_all_matches(tree)


@jit_in_place
def play_all_matches(tree: Tree) -> None:
    """Play every match from the leaves up."""
    winners, indices = tree.winners, tree.indices
    for node in range(winners.size // 2 - 1, 0, -1):
        best = 2 * node if indices[2 * node] <= indices[2 * node + 1] else 2 * node + 1
        winners[node] = winners[best]
        indices[node] = indices[best]


@jit_in_place
def set_index(tree: Tree, arm: int, index: float) -> None:
    """Give an arm a new index and play its matches again."""
    winners, indices = tree.winners, tree.indices
    node = winners.size // 2 + arm
    indices[node] = index
    winner = arm
    while node > 1:
        other = node ^ 1
        rival, bar = winners[other], indices[other]
        loses = (bar < index) | ((bar == index) & (rival < winner))  # without jumps, which would be mispredicted
        index = bar if loses else index
        winner = rival if loses else winner
        node >>= 1
        winners[node] = winner
        indices[node] = index


@jit_in_place
def lead_of(tree: Tree) -> Lead:
    """Return who leads, and its rival, which is found among those that it has beaten."""
    winners, indices = tree.winners, tree.indices
    arm = winners[1]
    node = winners.size // 2 + arm
    index = np.inf
    best = arm
    while node > 1:
        other = node ^ 1
        rival, bar = winners[other], indices[other]
        better = (bar < index) | ((bar == index) & (rival < best))
        index = bar if better else index
        best = rival if better else best
        node >>= 1
    return Lead(arm, indices[1], best, index)


@jit_in_place
def still_leads(lead: Lead, index: float) -> bool:
    """Say whether the arm that leads would lead with another index, too."""
    return index < lead.rivals_value or (index == lead.rivals_value and lead.arm <= lead.rival)
