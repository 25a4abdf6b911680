"""The dashboard: all campaigns, one campaign, its workers, one arm."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response

from cutline.campaign.campaign import Campaign
from cutline.campaign.operations.reading.known_answers import arm_of_digest
from cutline.server.access.guard import CampaignName, May, require, who_asks
from cutline.server.access.roles import Action
from cutline.server.api.served import Served
from cutline.server.pages import dashboard, pictures
from cutline.server.pages.items import Media, parts
from cutline.server.pages.rendering import named, page, redirect
from cutline.server.problems import ProblemError

router = APIRouter()

READING = [Depends(May(Action.READ))]
"""The dependencies of what shows decisions, which nobody sees who labels."""

HISTORY = 200
"""So many pulls of an arm are shown, the latest."""


@router.get("/")
def home(request: Request, served: Served) -> Response:
    """Show all campaigns, or send whoever has only one on to it."""
    access = who_asks(request)
    if access is None:
        raise ProblemError(401, "log in first")
    if access.campaign is not None:
        path = "/campaign" if access.may(Action.READ, access.campaign) else "/label"
        return redirect(request, path, campaign=access.campaign)
    statuses = served.statuses()
    return page(request, "campaigns.html", statuses=statuses, state=dashboard.state(statuses))


@router.get("/pulse")
def pulse(request: Request, served: Served, campaign: CampaignName | None = None) -> Response:
    """Return a text that changes as soon as what a page shows of a campaign, or of all of them, has changed."""
    require(who_asks(request), Action.FOLLOW, campaign)
    statuses = served.statuses() if campaign is None else [served.use(campaign, Campaign.status)]
    return JSONResponse({"state": dashboard.state(statuses)}, headers={"Cache-Control": "no-store"})


@router.get("/campaign", dependencies=READING)
def campaign(
    request: Request,
    campaign: CampaignName,
    served: Served,
    view: Annotated[dashboard.View, Depends()],
) -> Response:
    """Show where a campaign stands, and a page of its arms."""

    def show(opened: Campaign) -> Response:
        status = opened.status()
        table = dashboard.table(opened, view, status)
        return page(
            request,
            "campaign.html",
            status=status,
            state=dashboard.state([status]),
            settings=dashboard.settings_in_words(status),
            changes=dashboard.changes_in_words(opened.history()),
            curve=pictures.curve(opened.progress(), status.settings.budget, status.settings.target_errors),
            join=dashboard.ways_to_join(request, status.name),
            table=table,
            arms=[(arm, pictures.interval(arm, status.settings.threshold)) for arm in table.arms],
            named=partial(named, digest=opened._identity.digest),
            view=view,
        )

    return served.use(campaign, show)


@router.get("/workers", dependencies=READING)
def workers(request: Request, campaign: CampaignName, served: Served, rates: bool = False) -> Response:
    """Show who works on a campaign, how much, and how often they agree with what is decided.

    With ``rates`` also how often each is right, which takes all results to know, so that it is not followed live.
    """

    def show(opened: Campaign) -> Response:
        status = opened.status()
        weighed = opened.weigh() if rates else None
        return page(
            request,
            "workers.html",
            status=status,
            state=dashboard.state([status]),
            workers=dashboard.workers_in_words(opened.workers(), weighed, status.settings.excluded),
            remarks=() if weighed is None else weighed.remarks,
            rates=rates,
            wording=request.app.state.settings.labelling.wording_of(status.settings),
        )

    return served.use(campaign, show)


@router.get("/arm", dependencies=READING)
def arm(request: Request, campaign: CampaignName, served: Served, arm: str, long: bool = False) -> Response:
    """Show what is said of an arm, and its history; ``long``: it is named by the digest of its id."""

    def show(opened: Campaign) -> Response:
        name = arm_of_digest(opened._store, opened._identity, arm) if long else arm
        status, known = opened.status(), opened.arm(name, HISTORY)
        decision, set_up = known.decision, request.app.state.settings.labelling
        return page(
            request,
            "arm.html",
            name=status.name,
            state=dashboard.state([status]),
            arm=decision,
            weighed=status.settings.weighed,
            wording=set_up.wording_of(status.settings),
            drawn=pictures.interval(decision, status.settings.threshold),
            pulls=known.pulls,
            most=HISTORY,
            parts=parts(decision.arm, decision.payload, Media(set_up.media)),
        )

    return served.use(campaign, show)
