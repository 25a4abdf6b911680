"""Pulls: ask which arms to measure, and tell what came back."""

from fastapi import APIRouter

from cutline.server.access.guard import Measuring
from cutline.server.api.findings import Answered, PullRecord, Who
from cutline.server.api.ownership import require_own_name, require_own_pulls
from cutline.server.api.rewards import (
    Answer,
    Answers,
    Ask,
    Asked,
    Changed,
    Correction,
    Extend,
    Extended,
    GivenBack,
    Leased,
    New,
)
from cutline.server.api.served import OneCampaign

router = APIRouter(tags=["pulls"])  # QuickWay answers them


@router.post("/ask")
def ask(campaign: OneCampaign, body: Ask, access: Measuring) -> Asked:
    """Lease the pulls that are next; with the same request id again, those of before."""
    require_own_name(access, body.worker)
    return Asked.of(campaign.use(lambda it: it.ask(**body.model_dump())))


@router.post("/tell")
def tell(campaign: OneCampaign, body: Answer, access: Measuring) -> New:
    """Record the reward of a pull; telling the same again changes nothing."""
    require_own_pulls(access, campaign, [body.pull])
    return New(new=campaign.use(lambda it: it.tell(body.pull, body.reward, body.note)))


@router.post("/tell-many")
def tell_many(campaign: OneCampaign, body: Answers, access: Measuring) -> New:
    """Record the rewards of many pulls, all or none; each as by tell."""
    require_own_pulls(access, campaign, [item.pull for item in body.rewards])
    rewards = [(item.pull, item.reward, item.note) for item in body.rewards]
    return New(new=campaign.use(lambda it: it.tell_many(rewards)))


@router.post("/abandon", status_code=204)
def abandon(campaign: OneCampaign, body: GivenBack, access: Measuring) -> None:
    """Give a pull back without a reward."""
    require_own_pulls(access, campaign, [body.pull])
    campaign.use(lambda it: it.abandon(body.pull))


@router.post("/extend")
def extend(campaign: OneCampaign, body: Extend, access: Measuring) -> Extended:
    """Make a lease end later."""
    require_own_pulls(access, campaign, [body.pull])
    return Extended(expires=campaign.use(lambda it: it.extend(body.pull, body.lease)))


@router.post("/correct")
def correct(campaign: OneCampaign, body: Correction, access: Measuring) -> Changed:
    """Replace the reward of a pull; the old one stays in the history of its arm."""
    require_own_pulls(access, campaign, [body.pull])
    require_own_name(access, body.worker)
    return Changed(changed=campaign.use(lambda it: it.correct(body.pull, body.reward, body.note, body.worker)))


@router.post("/pull")
def pull(campaign: OneCampaign, body: GivenBack, access: Measuring) -> PullRecord:
    """Return what has become of a pull."""
    require_own_pulls(access, campaign, [body.pull])
    return PullRecord.model_validate(campaign.use(lambda it: it.pull(body.pull)), from_attributes=True)


@router.post("/answered")
def answered(campaign: OneCampaign, body: Who, access: Measuring) -> Answered:
    """Return how many pulls a worker has told."""
    require_own_name(access, body.worker)
    return Answered(answered=campaign.use(lambda it: it.answered(body.worker)))


@router.post("/leased")
def leased(campaign: OneCampaign, body: Who, access: Measuring) -> Leased:
    """Return the pulls that a worker has in flight."""
    require_own_name(access, body.worker)
    return Leased.of(campaign.use(lambda it: it.leased(body.worker)))
