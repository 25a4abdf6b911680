"""The engine by rank: the stepping engine's answers, bit for bit, many times faster where many arms get few pulls each.

Its words, in the order in which they build on one another:

- *record*: how often an arm was pulled and the sum of its rewards; its index follows from the two.
- *table*: the index of every record that an arm can come to before it is above some level (``table``).
- *rank* of a record: how many different indices in the table are below its own.
- *edge*: the records with as many pulls as the table is deep.
"""
