"""A mock model: it answers as asked in a share of its answers that depends on the prompt."""

import random
import sys

SHARES = {"in one word": 0.97, "Name": 0.75, "What": 0.55, "": 0.2}
CAPITALS = {"France": "Paris", "Peru": "Lima"}

prompt = sys.argv[1]
share = next(share for words, share in SHARES.items() if words in prompt)
capital = next(capital for country, capital in CAPITALS.items() if country in prompt)
print(capital if random.random() < share else f"Let me see. I believe it is {capital}.")
