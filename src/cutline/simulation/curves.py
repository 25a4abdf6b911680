"""RegretCurves: the wrong decisions of every policy at every budget in every run, and what they say."""

import json
import math
import os
import platform
import zipfile
import zlib
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cutline.errors import InvalidInputError, NotFoundError
from cutline.files import whole_file
from cutline.policies import Policy, parse
from cutline.problem import Problem
from cutline.rows import Rows
from cutline.simulation.statistics import Comparison, paired_t_test
from cutline.text import as_csv

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ("policy", "budget", "runs", "mean_errors", "standard_error")


def versions() -> dict[str, str]:
    """Return the versions that a result depends on."""
    from importlib.metadata import version

    return {"python": platform.python_version()} | {name: version(name) for name in ("cutline", "numpy", "numba")}


@dataclass(frozen=True, eq=False)
class RegretCurves(Rows):
    """What ``simulate`` returns: P policies at B budgets over R runs of a problem with K arms.

    ``errors``: wrong decisions, int32 of shape (P, B, R); their mean over runs is the aggregate regret (paper,
    eq. 3). ``pulls``: mean pulls of each arm, shape (P, B, K), or (P, B, 0) where they were left out.
    ``policies``: their names, which ``parse`` reads. ``budgets``: int64 of shape (B,). ``engines``: what played each
    policy, "stepping", "waterline" or "ranking"; their results are the same. ``decide``: the rule of the decisions,
    "mean" or "likelier". ``seed``, ``streams``, ``versions``: what it takes to repeat it.
    """

    problem: Problem
    policies: tuple[str, ...]
    budgets: NDArray[np.int64]
    errors: NDArray[np.int32]
    pulls: NDArray[np.float64]
    seed: int
    streams: str
    engines: tuple[str, ...] = ()
    decide: str = "mean"
    versions: dict[str, str] = field(default_factory=versions)

    @property
    def runs(self) -> int:
        """R, the number of runs."""
        return int(self.errors.shape[2])

    @property
    def mean(self) -> NDArray[np.float64]:
        """The aggregate regret: mean wrong decisions, shape (P, B), in arms."""
        mean: NDArray[np.float64] = np.mean(self.errors, axis=2, dtype=np.float64)
        return mean

    @property
    def standard_error(self) -> NDArray[np.float64]:
        """The standard error of ``mean``, shape (P, B); NaN for a single run."""
        if self.runs == 1:
            return np.full(self.errors.shape[:2], math.nan)
        deviation: NDArray[np.float64] = np.std(self.errors, axis=2, ddof=1, dtype=np.float64)
        return deviation / math.sqrt(self.runs)

    @property
    def any_error(self) -> NDArray[np.float64]:
        """The probability that any arm is on the wrong side, as the share of runs where one is, shape (P, B)."""
        share: NDArray[np.float64] = np.mean(self.errors > 0, axis=2)
        return share

    @property
    def any_error_standard_error(self) -> NDArray[np.float64]:
        """The standard error of ``any_error``, shape (P, B): sqrt(p (1 - p) / (R - 1)); NaN for a single run."""
        if self.runs == 1:
            return np.full(self.errors.shape[:2], math.nan)
        return np.sqrt(self.any_error * (1.0 - self.any_error) / (self.runs - 1))

    def row(self, policy: str | Policy) -> int:
        """Return the place of a policy on the first axis; raise NotFoundError if it is not there."""
        name = str(policy)
        if name not in self.policies:
            with suppress(NotFoundError):  # a policy of the user's own has only the name that it prints
                name = str(parse(name))
        if name not in self.policies:
            raise NotFoundError(f"no policy {name} in these curves; there are {', '.join(self.policies)}")
        return self.policies.index(name)

    def column(self, budget: int | None = None) -> int:
        """Return the place of a budget on the second axis (None: the last); raise NotFoundError if not there."""
        if budget is None:
            return self.budgets.size - 1
        places = np.flatnonzero(self.budgets == budget)
        if not places.size:
            raise NotFoundError(f"no budget {budget} in these curves; there are {', '.join(map(str, self.budgets))}")
        return int(places[0])

    def compare(self, policy: str | Policy, other: str | Policy, budget: int | None = None) -> Comparison:
        """Compare two policies at a budget (None: the last) by a two-tailed t-test, paired by run (Appendix F.1).

        t and z are positive where ``policy`` makes more errors than ``other``. Needs two runs or more.
        """
        if self.runs < 2:
            raise InvalidInputError("a t-test needs at least 2 runs; these curves have 1")
        place = self.column(budget)
        return paired_t_test(self.errors[self.row(policy), place], self.errors[self.row(other), place])

    def rows(self) -> list[dict[str, Any]]:
        """Return one dict a policy and budget, with the keys of ``COLUMNS``."""
        mean, error = self.mean, self.standard_error
        return [
            dict(zip(COLUMNS, (name, int(budget), self.runs, float(mean[p, b]), float(error[p, b])), strict=True))
            for p, name in enumerate(self.policies)
            for b, budget in enumerate(self.budgets)
        ]

    def to_csv(self, target: str | os.PathLike[str] | IO[str] | None = None) -> str:
        """Return the rows as CSV, and write them to a path or an open file if one is given.

        A standard error that is not known is an empty field.
        """
        text = as_csv(COLUMNS, self.rows())
        if isinstance(target, (str, os.PathLike)):
            with whole_file(target) as file:
                file.write(text)
        elif target is not None:
            target.write(text)
        return text

    def plot(self, path: str | os.PathLike[str] | None = None, *, title: str = "") -> "Figure":
        """Return a figure of the regret over the budgets, and write it to a path if one is given: .svg, .png or .pdf.

        ``plotting.regret_figure`` says what is drawn, and draws several curves side by side. Raises InvalidInputError
        for another ending or a file that cannot be written, MissingDependencyError without matplotlib.
        """
        from cutline.plotting import regret_figure
        from cutline.plotting.saving import drawn

        return drawn(lambda: regret_figure({title: self}), path)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one file (numpy's npz) that ``load`` reads; raise InvalidInputError if it cannot."""
        settings = {
            "threshold": self.problem.threshold,
            "policies": self.policies,
            "seed": self.seed,
            "streams": self.streams,
            "engines": self.engines,
            "decide": self.decide,
            "versions": self.versions,
        }
        with whole_file(path, "wb") as file:
            np.savez_compressed(
                file,
                settings=np.array(json.dumps(settings)),
                means=self.problem.means,
                budgets=self.budgets,
                errors=self.errors,
                pulls=self.pulls,
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "RegretCurves":
        """Read what ``save`` wrote; raise InvalidInputError if the file is not there or is something else."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as stored:
                settings = json.loads(str(stored["settings"]))
                return cls(
                    problem=Problem(stored["means"], settings["threshold"]),
                    policies=tuple(settings["policies"]),
                    budgets=stored["budgets"],
                    errors=stored["errors"],
                    pulls=stored["pulls"],
                    seed=settings["seed"],
                    streams=settings["streams"],
                    engines=tuple(settings["engines"]),
                    decide=settings.get("decide", "mean"),
                    versions=settings["versions"],
                )
        except OSError as error:
            raise InvalidInputError(f"cannot read {os.fspath(path)}: {error.strerror or error}") from None
        except (KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error):
            raise InvalidInputError(f"{os.fspath(path)} does not hold curves that cutline saved") from None
