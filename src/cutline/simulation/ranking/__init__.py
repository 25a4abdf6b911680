"""The engine by rank: the stepping engine's answers, bit for bit, many times faster where many arms get few pulls each.

Its words, in the order in which they build on one another:

- *record*: how often an arm was pulled and the sum of its rewards; its index follows from the two.
- *table*: the index of every record that an arm can come to before it is above some level (``table``).
- *rank* of a record: how many different indices in the table are below its own.
- *edge*: the records with as many pulls as the table is deep.
- *window*: the ranks between which all budgets of a run are thought to be reached. A guess: it can change the time,
  never the result (``pilot``).
- *survey*: the walk of all arms through a window that counts the pulls made at each rank (``walking``).
- *look*: a budget at which a game's errors are counted. *Stop*: the rank at which a look ends, and how many of the
  pulls at that rank are made, in the order of the arms.
- *cell*: the ranks between two stops, or those of one.
- *tile*: some arms whose words, records and cells are worked on while they are in a core's cache.
- *game*: a run up to its last look. A policy that must know the budget plays a game, with a table, for every look.

An arm with more pulls than a table can hold, and a policy whose parameters differ from arm to arm, are left to the
other engines.
"""
