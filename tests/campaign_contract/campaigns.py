"""What the tests of campaigns share: a clock, short ways to ask, and campaigns that are audited in the end."""

import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from cutline.campaign import Campaign, Pull
from ledger import audit

Create = Callable[..., Campaign]

STRANGE_IDS = [
    "a/b",
    "a%2Fb",
    'it\'s "quoted"',
    "two\nlines\r\nand\ttabs",
    "x" * 5000,
    "x" * 4999 + "y",
    "é",
    "e\u0301",
    " leading and trailing ",
    "NA",
    "null",
    "007",
    "1e5",
    "12345678901234567890",
    "%s :name ? {arm} $1 \\",
    "-- '; DROP TABLE cutline_arms; --",
    "\u202eright to left\u2028",
    "🏁",
]


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def arms(count: int) -> list[str]:
    return [f"arm {i}" for i in range(count)]


def asked(campaign: Campaign, n: int = 1, **options: Any) -> list[str]:
    return [pull.arm for pull in campaign.ask(n, **options)]


def one(campaign: Campaign, **options: Any) -> Pull:
    (pull,) = campaign.ask(1, **options)
    return pull


def for_each(
    names: str | tuple[str, ...], cases: Iterable[Any]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test with each of the cases in turn, on one database and one server: these take longer than most cases.

    Names and cases are those of ``pytest.mark.parametrize``. Cases share the fixtures of the test.
    """
    given = (names,) if isinstance(names, str) else names
    every = list(cases)  # each class that has the test goes through them anew
    assert every

    def of(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*fixtures: Any, **named: Any) -> None:
            for case in every:
                values = dict(zip(given, (case,) if isinstance(names, str) else case, strict=True))
                try:
                    test(*fixtures, **named, **values)
                except BaseException as error:
                    error.add_note(f"in the case {values}")
                    raise

        signature = inspect.signature(test)
        kept = [item for name, item in signature.parameters.items() if name not in given]
        vars(run)["__signature__"] = signature.replace(parameters=kept)
        return run

    return of


class CampaignTests:
    """Tests on any store; the contract is given a fixture ``url``: None, or that of an empty database."""

    policy = "LSA"
    """That of a campaign which is created without one."""

    @pytest.fixture
    def clock(self) -> Clock:
        return Clock()

    @pytest.fixture
    def create(self, url: str | None, clock: Clock) -> Iterator[Create]:
        """Create a campaign with defaults for what a test does not care about; it is audited and closed in the end."""
        made: list[Campaign] = []

        def create(
            given: Any = 3, threshold: float = 0.5, policy: Any = self.policy, budget: int = 1000, **more: Any
        ) -> Campaign:
            name = more.pop("name", f"campaign {len(made)}")
            given = arms(given) if isinstance(given, int) else given
            made.append(Campaign.create(url, name, given, threshold, policy, budget, clock=clock, **more))
            return made[-1]

        yield create
        for campaign in made:
            audit(campaign)
            campaign.close()


class SharedCampaignTests:
    """Tests on a store that processes share; the contract is given a fixture ``url``: that of an empty database."""

    policy = "LSA"
    """That of the campaign which they share."""

    @pytest.fixture
    def made(self, url: str) -> Iterator[Campaign]:
        """A campaign called "flaky"; it is audited in the end."""
        with Campaign.create(url, "flaky", arms(20), 0.5, self.policy, 1_000_000, seed=4) as campaign:
            yield campaign
            audit(campaign)
