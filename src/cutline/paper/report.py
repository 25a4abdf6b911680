"""The whole paper in one folder: simulate it, write curves, figures, table and manifest, and sum it up."""

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cutline.files import whole_file
from cutline.paper.figures import ALPHA_FIGURE, FIGURES, alpha_figure, setups_figure
from cutline.paper.setups import ALPHAS, BEYOND, COMPETITORS, OURS, RUNS, SETUPS, Setup, check_setups, yardsticks
from cutline.paper.summary import summary
from cutline.paper.table import Cell, table, to_csv, to_markdown
from cutline.paper.yardsticks import fixed_regret
from cutline.plotting import figure_bytes, require_drawable
from cutline.policies import Policy
from cutline.progress import Progress, progress_bar
from cutline.simulation.chunks import pulls_of_a_run
from cutline.simulation.curves import RegretCurves, versions
from cutline.simulation.simulate import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MANIFEST = "manifest.json"
FIGURE_ENDINGS = (".svg", ".png")
STREAMS = "independent"
"""Every policy has rewards of its own, as in the paper's t-tests."""


def make_paper(
    out: str | os.PathLike[str],
    *,
    setups: Iterable[int] = tuple(SETUPS),
    runs: int = RUNS,
    seed: int = 0,
    beyond: bool = False,
    executor: Executor | int | None = None,
    progress: Progress | bool | None = None,
) -> str:
    """Simulate the paper's setups, write all that comes of them into a folder, and return a summary.

    The folder gets, as far as the setups chosen allow: ``curves-setup-N.csv`` and ``curves-alpha.csv`` (with Setup
    1), ``figure-1`` to ``figure-3`` as SVG and PNG, ``table.md`` and ``table.csv`` (for Setups 1 to 3 and two runs
    or more), and at last ``manifest.json``: versions, settings, and the SHA-256 of every file. Each file is written
    whole, as soon as it can be; a folder without a manifest is one that was not finished.

    ``beyond``: simulate the policies past the paper too, and put them into the curves, the figures and the table.
    ``executor`` and ``progress`` as in ``simulate``. The same arguments give the same files, byte for byte. Raises
    InvalidInputError, before anything is simulated, for a folder that cannot be written and for what is out of range.
    """
    chosen = check_setups(setups)
    for ending in FIGURE_ENDINGS:
        require_drawable(Path(out) / f"figure-1{ending}")
    policies = (OURS, *COMPETITORS, *(BEYOND if beyond else ()), *yardsticks())
    total = sum(_planned_pulls(policies, setup, runs) for setup in chosen)
    if SETUPS[1] in chosen:
        total += _planned_pulls(ALPHAS, SETUPS[1], runs)
    background = ThreadPoolExecutor(1)
    try:
        with progress_bar("simulating the paper", total, progress) as advance:
            work = _Work(Path(out), runs, seed, executor, advance, background)
            for stem, numbers in FIGURES.items():
                for setup in (setup for setup in chosen if setup.number in numbers):
                    work.later(fixed_regret, setup.problem, setup.max_budget)
                    work.curves[setup.number] = work.simulate(setup, policies, f"curves-setup-{setup.number}.csv")
                if work.curves.keys() & set(numbers):
                    work.later(work.write_figure, stem, setups_figure, numbers, dict(work.curves))
                    work.later(work.write_table, dict(work.curves))
            if SETUPS[1] in chosen:
                alphas = work.simulate(SETUPS[1], ALPHAS, "curves-alpha.csv")
                work.later(work.write_figure, ALPHA_FIGURE, alpha_figure, alphas)
            work.finish()
    finally:
        background.shutdown()
    work.write_manifest(chosen, policies, beyond)
    return summary(work.curves, work.cells)


@dataclass
class _Work:
    """The making of the paper: where the files go, how to simulate, and the curves, table cells and files made so far.

    ``background`` runs one function at a time in a thread of its own: it writes files and draws figures of what is
    simulated already, while the next setup is simulated. ``pending`` are the functions that it was given.
    """

    out: Path
    runs: int
    seed: int
    executor: Executor | int | None
    advance: Progress
    background: Executor
    pending: list[Future[None]] = field(default_factory=list)
    curves: dict[int, RegretCurves] = field(default_factory=dict)
    cells: list[Cell] = field(default_factory=list)
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def simulate(self, setup: Setup, policies: Sequence[Policy], name: str) -> RegretCurves:
        curves = simulate(
            setup.problem,
            policies,
            setup.budgets,
            runs=self.runs,
            seed=self.seed,
            streams=STREAMS,
            executor=self.executor,
            progress=self.advance,
        )
        self.later(self.write, name, curves.to_csv().encode())
        return curves

    def later(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function in the background; raise the error of any earlier one that has failed by now."""
        self.pending.append(self.background.submit(function, *arguments))
        for future in self.pending:
            if future.done():
                future.result()

    def finish(self) -> None:
        """Wait for all functions in the background; raise the first error among them."""
        for future in self.pending:
            future.result()

    def write(self, name: str, content: bytes) -> None:
        if not self.files:  # from here on an older manifest in this folder would be wrong
            (self.out / MANIFEST).unlink(missing_ok=True)
        with whole_file(self.out / name, "wb") as file:
            file.write(content)
        self.files[name] = {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}

    def write_figure(self, stem: str, draw: "Callable[..., Figure]", *shown: Any) -> None:
        figure = draw(*shown)
        for ending in FIGURE_ENDINGS:
            self.write(f"{stem}{ending}", figure_bytes(figure, ending))

    def write_table(self, curves: dict[int, RegretCurves]) -> None:
        if self.cells or self.runs == 1:
            return
        self.cells = table(curves)
        if self.cells:
            self.write("table.csv", to_csv(self.cells).encode())
            self.write("table.md", to_markdown(self.cells, self.runs).encode())

    def write_manifest(self, setups: Sequence[Setup], policies: Sequence[Policy], beyond: bool) -> None:
        numbers = ",".join(str(setup.number) for setup in setups)
        manifest = {
            "repeat": f"cutline paper --setups {numbers} --runs {self.runs} --seed {self.seed}"
            + (" --beyond" if beyond else ""),
            "versions": versions() | {"matplotlib": version("matplotlib")},
            "runs": self.runs,
            "seed": self.seed,
            "streams": STREAMS,
            "policies": [str(policy) for policy in policies],
            "alpha_policies": [str(policy) for policy in ALPHAS],
            "setups": [
                {
                    "number": setup.number,
                    "title": setup.title,
                    "means": setup.problem.means.tolist(),
                    "threshold": setup.problem.threshold,
                    "budgets": setup.budgets,
                }
                for setup in setups
            ],
            "files": dict(sorted(self.files.items())),
        }
        self.write(MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())


def _planned_pulls(policies: Sequence[Policy], setup: Setup, runs: int) -> int:
    budgets = np.array(setup.budgets)
    return runs * sum(pulls_of_a_run(policy, budgets) for policy in policies)
