"""Print the table of standard errors in calibration.md: python docs/claims.py GAMES FOLDER

The cases are those of ``stopping.py``. Lai plays; at some numbers of pulls an arm what a campaign with a target would
claim, and the standard error that it would add, stand beside the errors expected by whoever is told the distribution.
"""

import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np

from cutline import Problem
from cutline.beliefs.knowledge import Knowledge
from cutline.policies.lai import Lai
from cutline.simulation.chunks import Chunk
from cutline.simulation.engines import play

PULLS_AN_ARM = (2, 8)
FEWEST = 0.5
"""Expected errors below which nothing is said about how far a claim is off."""


def claimed(case: Any, pulls: int, game: int) -> tuple[float, float, float]:
    """Return the errors that the told expects in a game, those claimed, and the claim's standard error as a share."""
    means = case.draw(np.random.default_rng([1, game]))
    played = play(Chunk(Problem(means, case.threshold), Lai(), np.array([pulls * means.size]), 7, game, 1))
    records = np.concatenate([played.pulls, played.totals]).astype(np.float64)
    (n, total), counts = np.unique(records, axis=1, return_counts=True)
    arms = counts.astype(np.float64)
    known = Knowledge.learn(n, total, total, arms, aims_at=case.threshold)
    assert known.caution is not None
    claim = arms @ np.minimum(*known.sides(n, total, total, case.threshold))
    return float(arms @ case.told(n, total)), float(claim), known.caution - 1.0


def main(games: int, folder: Path) -> None:
    """Print a line a case."""
    cases = runpy.run_path(str(Path(__file__).with_name("stopping.py")))
    heads = [f"{n} pulls: {what}" for n in PULLS_AN_ARM for what in ("told / claimed", "off by", "standard error")]
    print("| " + " | ".join(["means", "threshold", *heads]) + " |\n|---|" + "---:|" * (1 + len(heads)))
    for case in cases["simulated"]() + cases["recorded"](folder):
        cells = []
        for pulls in PULLS_AN_ARM:
            told, claims, errors = np.array([claimed(case, pulls, game) for game in range(games)]).T
            off = "-"
            if told.mean() >= FEWEST:
                off = f"{100 * np.sqrt((np.log(claims / told) ** 2).mean()):.0f} %"
            cells += [f"{told.mean():.1f} / {claims.mean():.1f}", off, f"{100 * errors.mean():.0f} %"]
        print("| " + " | ".join([case.name, f"{case.threshold:g}", *cells]) + " |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(int(sys.argv[1]), Path(sys.argv[2]))
