"""Who counts and what is known where a campaign weighs its workers: workers excluded, answers known beforehand."""

from itertools import islice
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from fastapi.responses import Response

from cutline.campaign.campaign import Campaign
from cutline.recorded.sources import read_answers
from cutline.server.access.guard import CampaignName, May
from cutline.server.access.roles import Action
from cutline.server.api.served import Served
from cutline.server.pages import dashboard
from cutline.server.pages.dashboard_routes import READING
from cutline.server.pages.forms import OURS
from cutline.server.pages.rendering import named, page, redirect
from cutline.server.uploads import read_upload

router = APIRouter()

MANAGING = [Depends(May(Action.MANAGE)), *OURS]
"""The dependencies of a form that changes a campaign."""

SHOWN = 500
"""So many known answers are shown."""


@router.post("/workers/exclude", dependencies=MANAGING)
def exclude(
    request: Request,
    campaign: CampaignName,
    served: Served,
    worker: Annotated[str, Form()],
    excluded: Annotated[bool, Form()],
) -> Response:
    """Have the results of a worker weigh nothing, or something again."""

    name = [worker]
    served.use(campaign, lambda opened: opened.change(exclude=name) if excluded else opened.change(readmit=name))
    return redirect(request, "/workers", campaign=campaign)


@router.get("/known", dependencies=READING)
def known(request: Request, campaign: CampaignName, served: Served, new: int | None = None) -> Response:
    """Show the answers that are known beforehand; ``new`` of them have just become so."""

    def show(opened: Campaign) -> Response:
        status = opened.status()
        known = opened.known_answers()
        return page(
            request,
            "known.html",
            status=status,
            state=dashboard.state([status]),
            answers=[
                (arm, answer, named(arm, "arm", opened._identity.digest))
                for arm, answer in islice(known.items(), SHOWN)
            ],
            count=len(known),
            wording=request.app.state.settings.labelling.wording_of(status.settings),
            new=new,
        )

    return served.use(campaign, show)


@router.post("/known", dependencies=MANAGING)
def know_file(
    request: Request, campaign: CampaignName, served: Served, answers: Annotated[UploadFile, File()]
) -> Response:
    """Have the answers in a file be known."""
    given = read_upload(answers, read_answers)
    changed = served.use(campaign, lambda opened: opened.change(known=given))
    new = sum(change.after["count"] for change in changed)
    return redirect(request, "/known", campaign=campaign, new=new)


@router.post("/arm/known", dependencies=MANAGING)
def know(
    request: Request,
    campaign: CampaignName,
    served: Served,
    arm: Annotated[str, Form()],
    answer: Annotated[bool | None, Form()] = None,
) -> Response:
    """Have the answer to an arm be known, or without one known no more."""

    def work(opened: Campaign) -> Response:
        opened.change(forget=[arm]) if answer is None else opened.change(known={arm: answer})
        return redirect(request, "/arm", campaign=campaign, **named(arm, "arm", opened._identity.digest))

    return served.use(campaign, work)
