"""What an ask wants, checked."""

from collections.abc import Collection
from typing import NamedTuple

from cutline.campaign.checks import check_text
from cutline.checks import check_positive, check_whole
from cutline.errors import InvalidInputError


class Wanted(NamedTuple):
    """What is asked for; see Campaign.ask."""

    n: int
    worker: str | None
    lease: float
    without: Collection[str]
    distinct: bool
    request: str | None

    def checked(self) -> "Wanted":
        """Return it converted; raise InvalidInputError for what cannot be asked for."""
        n, lease = check_whole("n", self.n, 1), check_positive("lease", self.lease)
        for what, text in (("worker", self.worker), ("request", self.request)):
            if text is not None:
                check_text(what, text)
        if isinstance(self.without, str):
            raise InvalidInputError(f"without is {self.without!r}; it must be a list of ids")
        return self._replace(n=n, lease=lease, without=frozenset(self.without))
