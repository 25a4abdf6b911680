"""Where the means of all arms lie, as passing levels takes them: some means, and how many arms there are at each."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]

_MOST = 1 << 12
_CELLS = 1 << 11
_NEAR = 2.0**-11  # of a reward's standard deviation: means so near the threshold take 2^22 pulls to tell from it


class Nodes(NamedTuple):
    """Where the means lie: ``masses`` arms at the means that these logarithms and odds belong to; (N,) each.

    ``likelier``: an arm is called what is likelier by its record and these masses, not what its mean reward says.
    """

    log_mean: _Floats
    log_rest: _Floats
    odds: _Floats
    masses: _Floats
    above: NDArray[np.bool_]
    likelier: bool

    @classmethod
    def of(cls, means: _Floats, masses: _Floats, threshold: float, likelier: bool = False) -> "Nodes":
        """Return the nodes of so many arms at these means; those that hardly any arm has are left out."""
        means, masses = grouped(*_without_near_ones(means, masses, threshold), threshold)
        kept = masses > 1e-13 * masses.sum()
        inside = np.clip(means[kept], 1e-300, 1.0 - 2.0**-53)
        rest = 1.0 - inside
        return cls(np.log(inside), np.log(rest), inside / rest, masses[kept], means[kept] >= threshold, likelier)


def _without_near_ones(means: _Floats, masses: _Floats, threshold: float) -> tuple[_Floats, _Floats]:
    """Return means and masses with one mean on either side of the threshold for all that are near it."""
    near = np.abs(means - threshold) < _NEAR * np.sqrt(threshold * (1.0 - threshold))
    sides = [side for side in (near & (means >= threshold), near & (means < threshold)) if masses[side].sum() > 0.0]
    sums = np.array([masses[side].sum() for side in sides])
    centres = [masses[side] @ means[side] / masses[side].sum() for side in sides]
    inside = [np.clip(at, means[side].min(), means[side].max()) for at, side in zip(centres, sides, strict=True)]
    return np.concatenate([means[~near], inside]), np.concatenate([masses[~near], sums])


def grouped(means: _Floats, masses: _Floats, threshold: float) -> tuple[_Floats, _Floats]:
    """Return means and masses as they are, or where there are very many, groups of means that are next to one another.

    What arms come to is smooth in the mean on either side of the threshold, over distances of a hundredth.
    """
    if means.size <= _MOST:
        return means, masses
    cells = 2 * np.floor(means * _CELLS).astype(np.int64) + (means >= threshold)
    _, places = np.unique(cells, return_inverse=True)
    grouped = np.bincount(places, weights=masses).astype(np.float64)
    return np.bincount(places, weights=masses * means) / grouped, grouped
