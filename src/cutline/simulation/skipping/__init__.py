"""The skip-ahead engine: the stepping engine's answers, bit for bit, many times faster.

Its words, in the order in which they build on one another:

- *record*: how often an arm was pulled and the sum of its rewards; its index follows from the two.
- *excess* of a record: its total less threshold times pulls, the distance from the decision's border, in rewards.
- *level*: a number that all arms are raised above: then each stands at its first record with an index above it.
- *waterline*: the smallest index of all arms, where the stepping engine pulls. Its highest value so far only rises, and
  the order of the pulls that raise it from one level to the next makes no difference (``waterline``).
- *climb*: one arm is pulled until its index is above a level, a word of rewards at a time (``climbing``).
- *wave*: the arms not yet above a level go through their next 64 rewards side by side (``wave``).
- *sweep*: all arms are raised to a level, by waves and climbs (``raising``).
- *spare*: the pulls that a sweep may take. One that would take more is a *miss*, and is undone.
- *stay*: pulls of one arm that follow each other, until its index passes its rival's.
- *aim*: the share of the pulls left that a sweep should take. *Pace*: how far a pull raised the level in the runs
  before (``aiming``).
- *word*, *block*: 64 rewards of an arm, as the bits of a number. *Word cache*: words that were made, kept in case they
  are asked for again (``word_cache``).
- *swing*: how far the excess falls and rises over 8 rewards.
- *ceiling*, *band*, *head start*: what a policy says of many records at once, so that few need a look each
  (``cutline.policies.policy.Policy``).
- *look*: a budget at which a game's errors are counted.
- *game*: a run up to its last look. A policy that must know the budget plays a game for every look.
"""
