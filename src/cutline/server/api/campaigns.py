"""Campaigns: which there are, how one is made, and where each stands."""

import shutil
import tempfile
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, UploadFile
from fastapi.exceptions import RequestValidationError
from fastapi.responses import FileResponse
from pydantic import ValidationError
from starlette.background import BackgroundTask

from cutline.campaign.campaign import Campaign
from cutline.campaign.files.arms_file import read_arms
from cutline.server.access.guard import May
from cutline.server.access.roles import Action
from cutline.server.api.models import Name, NewCampaign, NewSettings, Status
from cutline.server.api.served import OneCampaign, Served
from cutline.server.uploads import read_upload

router = APIRouter(tags=["campaigns"])

_MANAGING_ALL = [Depends(May(Action.MANAGE, everywhere=True))]


@router.get("/campaigns", dependencies=[Depends(May(Action.FOLLOW, everywhere=True))])
def list_campaigns(served: Served) -> list[Status]:
    """Return where every campaign stands, by name."""
    return [Status.of(*each) for each in served.identified()]


@router.post("/campaigns", status_code=201, dependencies=_MANAGING_ALL)
def create(body: NewCampaign, served: Served) -> Status:
    """Make a campaign."""
    return Status.of(*served.create(body.name, body.given_arms(), body.settings(), body.known))


@router.post("/campaigns/upload", status_code=201, dependencies=_MANAGING_ALL)
def upload(
    name: Annotated[Name, Form()],
    settings: Annotated[str, Form(description='The settings as JSON, such as {"threshold": 0.5, "budget": 4000}.')],
    arms: Annotated[UploadFile, File(description="The arms, one id a line, as UTF-8; gzipped or not.")],
    served: Served,
) -> Status:
    """Make a campaign of the arms in a file."""
    try:
        given = NewSettings.model_validate_json(settings)
    except ValidationError as error:
        found = error.errors(include_url=False)
        raise RequestValidationError([{**each, "loc": ("body", "settings", *each["loc"])} for each in found]) from None
    file = read_upload(arms, read_arms)
    return Status.of(*served.create(name, list(file.payloads), given.model_dump(), file.known))


@router.delete("/campaigns", status_code=204, dependencies=[Depends(May(Action.MANAGE))])
def delete(campaign: OneCampaign) -> None:
    """Delete a campaign and all that it holds."""
    campaign.use(Campaign.delete)


@router.get("/status", dependencies=[Depends(May(Action.FOLLOW))])
def status(campaign: OneCampaign) -> Status:
    """Return where a campaign stands."""
    return campaign.use(Status.now)


@router.get(
    "/backup",
    dependencies=_MANAGING_ALL,
    response_class=FileResponse,
    responses={200: {"description": "An SQLite database.", "content": {"application/vnd.sqlite3": {}}}},
)
def backup(served: Served) -> FileResponse:
    """Send a copy of the whole SQLite database as it is at one moment: all campaigns, and the digests of tokens."""
    folder = Path(tempfile.mkdtemp())
    try:
        served.backup(folder / "copy.db")
    except BaseException:
        shutil.rmtree(folder)
        raise
    gone = BackgroundTask(shutil.rmtree, folder)
    return FileResponse(folder / "copy.db", media_type="application/vnd.sqlite3", filename="copy.db", background=gone)
