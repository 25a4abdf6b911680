"""What the paper simulates: its six setups, the policies that it compares, and the budgets (Section 5, Appendix F)."""

from collections.abc import Iterable
from dataclasses import dataclass

from cutline.errors import InvalidInputError
from cutline.policies import Policy
from cutline.policies.apt import APT
from cutline.policies.fwt import FWT
from cutline.policies.kl_lsa import KLLSA
from cutline.policies.lai import Lai
from cutline.policies.lsa import LSA
from cutline.policies.opt_kg import OptKG
from cutline.policies.oracle import GapOracle, RatioOracle
from cutline.policies.ucbe import UCBE
from cutline.policies.uniform import Uniform
from cutline.problem import Problem

RUNS = 5000
"""Runs of every policy, as in the paper."""

LOOKS = 20
"""Budgets of a curve; the paper does not say at which budgets it looked."""


@dataclass(frozen=True)
class Setup:
    """One setup of the paper: its number and title, the problem, and the largest budget of its figure."""

    number: int
    title: str
    problem: Problem
    max_budget: int

    @property
    def name(self) -> str:
        """Its number and title, as a panel shows them."""
        return f"Setup {self.number}: {self.title}"

    @property
    def budgets(self) -> list[int]:
        """Twenty budgets, equally spaced up to the largest."""
        return [self.max_budget * look // LOOKS for look in range(1, LOOKS + 1)]


def _setup(number: int, title: str, means: list[int], unit: int, max_budget: int) -> Setup:
    # A quotient of whole numbers is the float nearest to the decimal; a sum of decimals need not be.
    return Setup(number, title, Problem([mean / unit for mean in means], 0.5), max_budget)


SETUPS = {
    setup.number: setup
    for setup in (
        _setup(1, "arithmetic progression I", [20, 25, 30, 35, 45, 55, 65, 70, 75, 80], 100, 1_000),
        _setup(2, "arithmetic progression II", [405 + 10 * i for i in range(20)], 1000, 40_000),
        _setup(3, "two-group setting", [450] * 5 + [505] * 5, 1000, 100_000),
        _setup(4, "geometric progression", [2000, 3600, 3920, 3984, 4500, 5500, 6016, 6080, 6400, 8000], 10_000, 2_000),
        _setup(5, "two-group setting II", [40] * 50 + [51] * 50, 100, 100_000),
        _setup(6, "one-side group", [40 + i for i in range(10)], 100, 20_000),
    )
}
"""The six setups by number, threshold 1/2 in all (Section 5 and Appendix F.2)."""

OURS = LSA(1.35)
"""The paper's method as its experiments use it."""

COMPETITORS: tuple[Policy, ...] = (
    *(APT(0), APT(0.025), APT(0.05), APT(0.1)),
    *(UCBE(-1), UCBE(0), UCBE(4)),
    *(OptKG(1, 1), OptKG(0.5, 0.5), Uniform()),
)
"""What the paper compares it with, in the order of its table (Section 5)."""

ALPHAS: tuple[Policy, ...] = (LSA(0.5), LSA(1), LSA(1.35), LSA(2), LSA(4))
"""LSA with other tuning parameters, simulated on Setup 1 (Appendix F.3; the paper does not list its values)."""


BEYOND: tuple[Policy, ...] = (Lai(), KLLSA(), FWT())
"""What came after the paper, or differs from it: drawn with the rest on demand, and compared with LSA alike."""


def yardsticks() -> tuple[Policy, ...]:
    """Return the policies that are told the truth, with their default parameters, and the ratio oracle's better one.

    Apart from O' they are not in the paper.
    """
    return GapOracle(), RatioOracle(), RatioOracle(1)


def check_setups(numbers: Iterable[int]) -> list[Setup]:
    """Return the setups with these numbers, in order; raise InvalidInputError for one that is not there, or twice."""
    given = list(numbers)
    if not given:
        raise InvalidInputError("no setups; give some of 1 to 6")
    for number in given:
        if number not in SETUPS:
            raise InvalidInputError(f"the paper has no setup {number!r}; there are 1 to 6")
        if given.count(number) > 1:
            raise InvalidInputError(f"setup {number} is given twice")
    return [SETUPS[number] for number in sorted(given)]
