"""Changes of a campaign as a whole: its settings, its name, copies of it."""

from typing import Annotated

from fastapi import APIRouter, Depends, File, UploadFile

from cutline.campaign.reader import Reader
from cutline.recorded.sources import read_answers
from cutline.server.access.guard import May
from cutline.server.access.roles import Action
from cutline.server.api.models import Change, Changes, Copy, Renamed, Status
from cutline.server.api.served import OneCampaign
from cutline.server.uploads import read_upload

router = APIRouter(tags=["campaigns"])

_MANAGING = [Depends(May(Action.MANAGE))]
_MANAGING_ALL = [Depends(May(Action.MANAGE, everywhere=True))]


@router.post("/change", dependencies=_MANAGING)
def change(campaign: OneCampaign, body: Changes) -> list[Change]:
    """Change settings, arms and workers, and return what has changed; what is not given stays."""
    given = body.given()
    return [Change.of(item) for item in campaign.use(lambda it: it.change(**given))]


@router.post("/known", dependencies=_MANAGING)
def know(
    campaign: OneCampaign,
    answers: Annotated[UploadFile, File(description="Columns task and label, as CSV or JSON Lines; gzipped or not.")],
) -> list[Change]:
    """Have the answers in a file be known, and return what has changed; workers are weighed by them."""
    known = read_upload(answers, read_answers)
    return [Change.of(item) for item in campaign.use(lambda it: it.change(known=known))]


@router.get("/history", dependencies=[Depends(May(Action.READ))])
def history(campaign: OneCampaign) -> list[Change]:
    """Return what was changed after the campaign was made, the first change first."""
    return [Change.of(item) for item in campaign.use(Reader.history)]


@router.post("/rename", dependencies=_MANAGING_ALL)
def rename(campaign: OneCampaign, body: Renamed) -> Status:
    """Give the campaign another name."""
    campaign.use(lambda it: it.rename(body.name))
    return campaign.served.use(body.name, Status.now)


@router.post("/copy", status_code=201, dependencies=_MANAGING_ALL)
def copy(campaign: OneCampaign, body: Copy) -> Status:
    """Make another campaign with the same arms and settings, and unless it says no the same results."""
    campaign.use(lambda it: it.copy(body.name, body.results).close())
    return campaign.served.use(body.name, Status.now)
