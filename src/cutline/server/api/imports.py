"""Rows of a file join a campaign, or make one: what ``cutline import`` sends to the address of a server.

While it takes long, blanks are sent before the answer, since proxies end a connection on which nothing comes.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import asdict
from typing import IO, Any

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import ValidationError
from starlette.concurrency import run_in_threadpool

from cutline.campaign.files.importing import MOST, join
from cutline.campaign.files.sending import received
from cutline.campaign.files.staging import Staging
from cutline.errors import CutlineError, InvalidInputError
from cutline.server.access.guard import May
from cutline.server.access.roles import Action
from cutline.server.api.models import Imported, NewSettings
from cutline.server.api.served import One, OneCampaign
from cutline.server.complaints import line_of
from cutline.server.problems import problem_of

router = APIRouter(tags=["results"])

EVERY = 10.0
"""Seconds after which a blank is sent."""

_BODY = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        "description": "Gzipped JSON Lines, as cutline import writes them: what rows have in common, then each row.",
    }
}


@router.post("/import", dependencies=[Depends(May(Action.MANAGE))], response_model=Imported, openapi_extra=_BODY)
async def import_rows(request: Request, campaign: OneCampaign) -> Response:
    """Record the rows of a file, all or none; with settings in its first line a campaign is made of them."""
    with ExitStack() as opened:
        file = opened.enter_context(tempfile.TemporaryFile())
        async for chunk in request.stream():
            file.write(chunk)
        opened.pop_all()  # it is for the work to close
    work = asyncio.create_task(run_in_threadpool(_imported, campaign, file))
    work.add_done_callback(lambda done: done.cancelled() or done.exception())  # else asyncio logs what nobody waits for
    done, _ = await asyncio.wait([work], timeout=EVERY)
    if done:
        return JSONResponse(work.result())
    return StreamingResponse(_blanks_and(work), media_type="application/json")


async def _blanks_and(work: "asyncio.Task[dict[str, Any]]") -> AsyncIterator[bytes | memoryview]:
    """Yield blanks until the work is done, and then what came of it, or under ``problem`` what was wrong."""
    while not work.done():
        yield b" "
        await asyncio.wait([work], timeout=EVERY)
    try:
        yield JSONResponse(work.result()).body
    except CutlineError as error:
        yield JSONResponse({"problem": problem_of(error).model_dump()}).body


def _imported(campaign: One, file: IO[bytes]) -> dict[str, Any]:
    with file, Staging("the rows") as staging:
        file.seek(0)
        sent = received(file, staging)
        if staging.results > MOST:
            raise InvalidInputError(f"{staging.results:,} labels, more than {MOST:,}; are its totals right?")
        if sent.settings is not None:
            return asdict(campaign.served.make_of(campaign.name, staging, sent, _settings(sent.settings)))
        options: Any = {"replace": sent.replace, "add_arms": sent.add_arms}
        return asdict(campaign.use(lambda it: join(it, staging, sent, options)))


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    try:
        return NewSettings.model_validate(given).model_dump()
    except ValidationError as error:
        raise InvalidInputError(f"settings: {line_of(error.errors(include_url=False))}") from None
