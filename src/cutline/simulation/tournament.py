"""A tournament tree: the arm with the smallest index in O(1), a new index in O(log K); the lower arm wins a tie.

A tree over K arms is two arrays of length 2 n, n the power of two from K on: the winner of every match, and its index.
Node 1 is the root, node n + i is arm i, and the children of a node are 2 node and 2 node + 1. Winners are carried
up in registers and never looked up through one another, so that a walk does not wait for memory at every match.
"""

import numpy as np
from numpy.typing import NDArray

from cutline.compiled import jit, jit_in_place

Tree = tuple[NDArray[np.int64], NDArray[np.float64]]


@jit
def empty_tree(arms: int) -> Tree:
    """Return a tree whose arms all have an infinite index, before its matches are played."""
    size = 1
    while size < arms:
        size *= 2
    winners = np.empty(2 * size, np.int64)
    for arm in range(size):
        winners[size + arm] = arm
    return winners, np.full(2 * size, np.inf)


@jit_in_place
def play_all_matches(tree: Tree) -> None:
    """Play every match from the leaves up."""
    winners, indices = tree
    for node in range(winners.size // 2 - 1, 0, -1):
        best = 2 * node if indices[2 * node] <= indices[2 * node + 1] else 2 * node + 1
        winners[node] = winners[best]
        indices[node] = indices[best]


@jit_in_place
def set_index(tree: Tree, arm: int, index: float) -> None:
    """Give an arm a new index and play its matches again."""
    winners, indices = tree
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
def rival_of(tree: Tree, arm: int) -> tuple[int, float]:
    """Return the arm that would win without this one, and its index: itself and infinity if it has no rival."""
    winners, indices = tree
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
    return best, index
