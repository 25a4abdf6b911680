"""The engine by rank: the stepping engine's answers, bit for bit, many times faster where many arms get few pulls each.

Its words, in the order in which they build on one another:

- *record*: how often an arm was pulled and the sum of its rewards; its index follows from the two.
- *table*: the index of every record that an arm can come to before it is above some level (``table``).
- *rank* of a record: how many different indices in the table are below its own. *Code*: the rank and the decision.
- *edge*: the records with as many pulls as the table is deep.
- *look*: a budget at which a game's errors are counted.
- *level* of a look: the rank at which the budget is reached. Of the pulls at that very rank those of the first arms are
  still made.
- *tile*: some arms whose words are worked on while they are in a core's cache.
- *game*: a run up to its last look. A policy that must know the budget plays a game, with a table, for every look.

With one look nearly all pulls are far below the level, and need not be looked at one by one:

- *window*: the ranks between which the level is thought to be. A guess, of a ``pilot`` and then of the runs that were
  played (``narrowing``): it can change the time, never the result.
- *leap*: eight rewards at a time, below the window (``leaps``).
- *survey*: the walk of all arms to the end of the window, which counts the pulls at each of its ranks and *logs* them
  (``walking``); which of them are made follows from the counts and the log (``stopping``).

With many looks nearly every pull is close to a level (``looks``):

- *stride*: four pulls of each arm of a tile, side by side (``strides``). The first walk counts the pulls at each rank,
  and which of them change a decision (``counting``): from these counts follow the levels (``levels``), and how many
  errors there are when all pulls below a level are made.
- *block*: some arms that are counted together. Of the pulls at a level all are made, or none, in every block but the
  one in which the look comes. Its arms are walked again if one of them changes a decision there (``ties``). Where there
  are few arms the pulls of a run are logged, and only those at the levels counted in blocks, small ones (``logs``).
- *class*: the ranks between two levels, or those of a level. Where the pulls of each arm are asked for, a second walk
  of all arms puts down where each *stands* after its last pull in each class (``standing``).

What is left to the other engines, and why:

- Arms with more pulls than a table can hold. APT(0) and UCBE bring such arms with them: an arm
  whose excess comes back to 0 has APT(0)'s smallest index again, however often it was pulled (with 1,000 arms and 40
  pulls an arm ten arms get a third of all), and ten arms get 97 % of UCBE's pulls. A table up to there would have
  millions of records.
- Policies with a parameter for each arm, the oracles: every arm would need a table of its own.
- Policies that learn: their parameters are other ones after every refit, in every run, so a table would be walked once.
- Replay: rewards come from piles and are not words, and records are as long as the piles (``recorded.drawing``).
"""
