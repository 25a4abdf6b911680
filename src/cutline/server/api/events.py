"""Progress as server-sent events."""

import asyncio
import math
import time
from collections.abc import AsyncIterator

from fastapi import APIRouter, Depends, Request
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


class Looks:
    """Where campaigns stand, for any number of listeners of one event loop: one look serves all who come meanwhile."""

    def __init__(self) -> None:
        self._latest: dict[tuple[str, str | None], tuple[float, asyncio.Task[str]]] = {}

    async def at(self, campaign: One) -> str:
        """Return where a campaign stands, as JSON, as it was at most half of ``EVERY`` seconds ago."""
        key = (campaign.name, campaign.id)
        began, look = self._latest.get(key, (-math.inf, None))
        if look is None or time.monotonic() - began >= EVERY / 2:
            look = asyncio.create_task(run_in_threadpool(_look, campaign))
            look.add_done_callback(lambda done: done.cancelled() or done.exception())  # else asyncio logs it
            self._latest[key] = (time.monotonic(), look)
        try:
            return await asyncio.shield(look)
        except CutlineError:
            self._latest.pop(key, None)
            raise


@router.get(
    "/events",
    dependencies=[Depends(May(Action.FOLLOW))],
    response_class=StreamingResponse,
    responses={200: {"description": "Server-sent events called status.", "content": {"text/event-stream": {}}}},
)
async def events(request: Request, campaign: OneCampaign) -> StreamingResponse:
    """Send where a campaign stands, now and whenever that changes, until it is gone."""
    looks: Looks = request.app.state.looks
    first = await looks.at(campaign)
    return StreamingResponse(
        _following(looks, campaign, first),
        media_type="text/event-stream",
        headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
    )


async def _following(looks: Looks, campaign: One, text: str) -> AsyncIterator[str]:
    began = said = time.monotonic()
    yield _event(text)
    while time.monotonic() - began < LONGEST:
        await asyncio.sleep(EVERY)
        try:
            now = await looks.at(campaign)
        except CutlineError:
            return  # whoever listens comes again, and is told what is wrong
        if now != text:
            text, said = now, time.monotonic()
            yield _event(text)
        elif time.monotonic() - said > SILENCE:
            said = time.monotonic()
            yield ": still here\n\n"


def _look(campaign: One) -> str:
    return campaign.use(Status.now).model_dump_json()


def _event(text: str) -> str:
    return f"event: status\ndata: {text}\n\n"
