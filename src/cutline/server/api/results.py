"""What a campaign holds and says: observations, decisions, results, exports."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi.responses import StreamingResponse

from cutline.campaign.campaign import Campaign
from cutline.server.access.guard import May
from cutline.server.access.roles import Action
from cutline.server.api.findings import Decision, History, KnownAnswer, Page, ProgressPoint, Record, Which, Worker
from cutline.server.api.rewards import New, Observations
from cutline.server.api.served import OneCampaign
from cutline.server.api.streams import Form, What, exported, result_lines

router = APIRouter(tags=["results"])

Confidence = Annotated[float, Query(gt=0, lt=1, description="The confidence of the interval from low to high.")]

_READING = [Depends(May(Action.READ))]
_LINES: dict[int | str, dict[str, Any]] = {
    200: {"description": "A line a row.", "content": {"application/x-ndjson": {}, "text/csv": {}}}
}


@router.post("/observe", dependencies=[Depends(May(Action.MANAGE))])
def observe(campaign: OneCampaign, body: Observations) -> New:
    """Record results from elsewhere, all or none; they cost no budget."""
    rows = [(item.arm, item.reward, item.worker, item.key, item.note) for item in body.observations]
    return New(new=campaign.use(lambda it: it.observe_many(rows, body.add_arms)))


@router.post("/decisions", dependencies=_READING)
def decisions(campaign: OneCampaign, body: Page) -> list[Decision]:
    """Return a page of what is said of the arms, sorted and filtered; export has all of them."""
    found = campaign.use(lambda it: it.decisions(**body.model_dump()))
    return [Decision.model_validate(item, from_attributes=True) for item in found]


@router.post("/arm", dependencies=_READING)
def arm(campaign: OneCampaign, body: Which) -> History:
    """Return what is said of an arm, and who gave which reward when."""
    return History.of(campaign.use(lambda it: it.arm(body.arm, body.last, body.confidence)))


@router.get("/progress", dependencies=_READING)
def progress(campaign: OneCampaign) -> list[ProgressPoint]:
    """Return the curve of expected errors: where the campaign stood at counts of results, and where it stands now."""
    return [ProgressPoint.model_validate(item, from_attributes=True) for item in campaign.use(Campaign.progress)]


@router.get("/known", dependencies=_READING)
def known_answers(campaign: OneCampaign) -> list[KnownAnswer]:
    """Return the answers that are known beforehand, in the order of the arms."""
    return [KnownAnswer(arm=arm, answer=answer) for arm, answer in campaign.use(Campaign.known_answers).items()]


@router.get("/workers", dependencies=_READING)
def workers(campaign: OneCampaign) -> list[Worker]:
    """Return who works on the campaign, whoever gave most answers first."""
    return [Worker.model_validate(item, from_attributes=True) for item in campaign.use(Campaign.workers)]


@router.get("/records", dependencies=_READING)
def records(campaign: OneCampaign) -> list[Record]:
    """Return the different records of arms, and how many arms have each."""
    found = campaign.use(Campaign.records)
    return [
        Record(pulls=pulls, total=total, squares=squares, arms=arms, known=known)
        for pulls, total, squares, arms, known in found
    ]


@router.get("/results", dependencies=_READING, response_class=StreamingResponse, responses=_LINES)
def results(campaign: OneCampaign) -> StreamingResponse:
    """Stream every reward as JSON Lines, in the order in which pulls were asked for or observed."""
    return StreamingResponse(campaign.use(result_lines), media_type="application/x-ndjson")


@router.get("/export", dependencies=_READING, response_class=StreamingResponse, responses=_LINES)
def export(
    campaign: OneCampaign,
    what: What = What.OBSERVATIONS,
    form: Annotated[Form, Query(alias="format")] = Form.CSV,
    confidence: Confidence = 0.95,
) -> StreamingResponse:
    """Stream the observations, or what is said of each arm, as cutline export writes them."""
    lines = campaign.use(lambda it: exported(it, what, form, confidence))
    return StreamingResponse(
        lines, media_type=form.media, headers={"Content-Disposition": f'attachment; filename="{what}.{form}"'}
    )
