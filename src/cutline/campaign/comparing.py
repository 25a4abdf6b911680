"""Two campaigns with the same arms, such as two models on the same prompts, held against each other."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

from cutline.campaign.results import Decision, Result, in_words
from cutline.campaign.settings import Settings
from cutline.errors import InvalidInputError
from cutline.rows import Rows

if TYPE_CHECKING:
    from cutline.beliefs.comparing import Side


class Comparable(Protocol):
    """What ``compare`` needs of a campaign."""

    @property
    def name(self) -> str:
        """The name of the campaign."""

    @property
    def settings(self) -> Settings:
        """Its settings."""

    def decisions(self) -> Sequence[Decision]:
        """Return a Decision for every arm."""

    def results(self) -> Iterable[Result]:
        """Yield every reward."""


@dataclass(frozen=True, slots=True)
class ComparedArm:
    """An arm of two campaigns: its mean (None without rewards) and decision ("above", "below", "undecided") in both.

    ``higher`` is the probability that its true mean is higher in the first campaign.
    """

    arm: str
    first_mean: float | None
    first_decision: str
    second_mean: float | None
    second_decision: str
    higher: float

    @property
    def differs(self) -> bool:
        """Whether one campaign calls the arm above and the other below."""
        return {self.first_decision, self.second_decision} == {"above", "below"}


@dataclass(frozen=True)
class ComparedCampaigns(Rows):
    """What ``compare`` returns; a table with a row an arm.

    ``first`` and ``second`` are the names of the campaigns. ``arms``: those that both have, in the order of the first.
    ``first_only`` and ``second_only``: how many arms one alone has. ``higher``: the probability that the average of the
    true means of all common arms is higher in the first campaign.
    """

    first: str
    second: str
    arms: tuple[ComparedArm, ...]
    first_only: int
    second_only: int
    higher: float

    @property
    def differing(self) -> list[ComparedArm]:
        """The arms that one campaign calls above and the other below, the clearest first."""
        return sorted((arm for arm in self.arms if arm.differs), key=lambda arm: -abs(arm.higher - 0.5))

    def rows(self) -> list[dict[str, Any]]:
        """Return the fields of each ComparedArm, and ``differs``."""
        return [asdict(arm) | {"differs": arm.differs} for arm in self.arms]


def compare(first: Comparable, second: Comparable) -> ComparedCampaigns:
    """Hold two campaigns against each other, arm by arm and as a whole.

    They may stand in different databases or on servers. Each arm's mean is believed in as its campaign believes in it:
    by its rewards, and by the prior that is fixed or learnt there. Means that are equal, such as two that are surely 1,
    count half. All results are read. Raises InvalidInputError if no arm is in both.
    """
    from cutline.beliefs.comparing import higher

    decided = [{item.arm: item for item in campaign.decisions()} for campaign in (first, second)]
    common = [arm for arm in decided[0] if arm in decided[1]]
    if not common:
        raise InvalidInputError(f"campaigns {first.name!r} and {second.name!r} have no arm in common")
    sides = [_side(campaign, decisions, common) for campaign, decisions in zip((first, second), decided, strict=True)]
    each, whole = higher(*sides)
    ours, theirs = decided
    return ComparedCampaigns(
        first.name,
        second.name,
        tuple(_arms(common, ours, theirs, each.tolist())),
        len(ours) - len(common),
        len(theirs) - len(common),
        whole,
    )


def _arms(
    common: list[str], ours: dict[str, Decision], theirs: dict[str, Decision], higher: list[float]
) -> Iterator[ComparedArm]:
    for arm, probability in zip(common, higher, strict=True):
        one, other = ours[arm], theirs[arm]
        yield ComparedArm(arm, one.mean, in_words(one), other.mean, in_words(other), probability)


def _side(campaign: Comparable, decisions: dict[str, Decision], common: list[str]) -> "Side":
    """Return what a campaign knows of the common arms; the prior is learnt from all of its arms."""
    from cutline.beliefs.comparing import side
    from cutline.beliefs.knowledge import Beta, Knowledge

    records = {arm: [0, 0.0, 0.0] for arm in decisions}
    for result in campaign.results():
        record = records.get(result.arm)
        if record is not None:
            record[0] += 1
            record[1] += result.reward
            record[2] += result.reward**2
    pulls, totals, squares = zip(*records.values(), strict=True)
    knowledge = Knowledge.learn(pulls, totals, squares, [1] * len(records))
    prior = campaign.settings.prior
    if prior is not None:
        knowledge = replace(knowledge, prior=Beta(*prior))
    return side(knowledge, *zip(*(records[arm] for arm in common), strict=True))
