"""Progress as server-sent events."""

import asyncio
import time
from collections.abc import AsyncIterator

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool

from cutline.errors import CutlineError
from cutline.server.access.guard import May
from cutline.server.access.roles import Action
from cutline.server.api.models import Status
from cutline.server.api.served import One, OneCampaign

router = APIRouter(tags=["campaigns"])

EVERY = 1.0
"""Seconds between two looks at a campaign; all who listen share a look."""

SILENCE = 15.0
"""Seconds after which a word is sent, so that proxies keep the connection."""

LONGEST = 3600.0
"""Seconds after which a listener has to come again, with a token that is still good."""


@router.get(
    "/events",
    dependencies=[Depends(May(Action.FOLLOW))],
    response_class=StreamingResponse,
    responses={200: {"description": "Server-sent events called status.", "content": {"text/event-stream": {}}}},
)
async def events(campaign: OneCampaign) -> StreamingResponse:
    """Send where a campaign stands, now and whenever that changes, until it has finished or is gone."""
    first = await run_in_threadpool(_look, campaign)
    return StreamingResponse(
        _following(campaign, first),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _following(campaign: One, text: str) -> AsyncIterator[str]:
    began = said = time.monotonic()
    yield _event(text)
    while time.monotonic() - began < LONGEST:
        await asyncio.sleep(EVERY)
        try:
            now = await run_in_threadpool(_look, campaign)
        except CutlineError:
            return  # whoever listens comes again, and is told what is wrong
        if now != text:
            text, said = now, time.monotonic()
            yield _event(text)
        elif time.monotonic() - said > SILENCE:
            said = time.monotonic()
            yield ": still here\n\n"


def _look(campaign: One) -> str:
    """Return where a campaign stands, as it was at most ``EVERY`` seconds ago."""
    key = f"{campaign.name}\n{campaign.id}"
    return campaign.served.lately(key, EVERY / 2, lambda: campaign.use(Status.now).model_dump_json())


def _event(text: str) -> str:
    return f"event: status\ndata: {text}\n\n"
