"""Pulls: ask which arms to measure, and tell what came back."""

from fastapi import APIRouter, Depends

from cutline.server.access.guard import CampaignName, May
from cutline.server.access.roles import Action
from cutline.server.api.models import Answers, Ask, Asked, Told
from cutline.server.api.served import Served

router = APIRouter(tags=["pulls"], dependencies=[Depends(May(Action.MEASURE))])


@router.post("/ask")
def ask(campaign: CampaignName, body: Ask, served: Served) -> Asked:
    """Lease the pulls that are next."""

    return Asked.of(
        served.use(campaign, lambda it: it.ask(body.n, body.worker, body.lease, body.without, body.distinct))
    )


@router.post("/tell")
def tell(campaign: CampaignName, body: Answers, served: Served) -> Told:
    """Record the rewards of pulls, all or none; telling again what is known changes nothing."""
    rewards = [(item.pull, item.reward) for item in body.rewards]
    return Told(new=served.use(campaign, lambda it: it.tell_many(rewards)))
