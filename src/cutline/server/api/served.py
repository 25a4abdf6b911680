"""How an operation reaches the campaigns that the server serves."""

from collections.abc import Callable
from typing import Annotated, NamedTuple, TypeVar

from fastapi import Depends, Query, Request

from cutline.campaign.campaign import Campaign
from cutline.server.access.guard import CampaignName
from cutline.server.campaigns import Campaigns

T = TypeVar("T")


async def _served(request: Request) -> Campaigns:
    served = request.app.state.campaigns
    assert isinstance(served, Campaigns)
    return served


Served = Annotated[Campaigns, Depends(_served)]


class One(NamedTuple):
    """The campaign that the query of a request names; ``id`` is what it must be known by, if that is given."""

    served: Campaigns
    name: str
    id: str | None

    def use(self, work: Callable[[Campaign], T]) -> T:
        """Do ``work`` with the campaign; see ``Campaigns.use``."""
        return self.served.use(self.name, work, self.id)

    def workers_of(self, pulls: list[str]) -> set[str | None]:
        """Return who has asked for these pulls."""
        return self.served.workers_of(self.name, pulls)


CampaignId = Annotated[
    str | None,
    Query(max_length=100, description="Its id, as its status has it: 404 if that name is another's by now."),
]


async def _one(served: Served, campaign: CampaignName, id: CampaignId = None) -> One:
    return One(served, campaign, id)


OneCampaign = Annotated[One, Depends(_one)]
