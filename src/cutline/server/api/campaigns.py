"""Campaigns: which there are, and where each stands."""

from fastapi import APIRouter, Depends

from cutline.campaign.campaign import Campaign
from cutline.server.access.guard import CampaignName, May
from cutline.server.access.roles import Action
from cutline.server.api.models import Status
from cutline.server.api.served import Served

router = APIRouter(tags=["campaigns"])


@router.get("/campaigns", dependencies=[Depends(May(Action.FOLLOW, everywhere=True))])
def list_campaigns(served: Served) -> list[Status]:
    """Return where every campaign stands, by name."""
    return [Status.of(status) for status in served.statuses()]


@router.get("/status", dependencies=[Depends(May(Action.FOLLOW))])
def status(campaign: CampaignName, served: Served) -> Status:
    """Return where a campaign stands."""
    return Status.of(served.use(campaign, Campaign.status))
