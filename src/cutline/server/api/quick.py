"""The way of a request that comes many times a second: one thread reads its body, does its work and writes its answer.

FastAPI goes to a thread for each dependency, for the work and for the check of the answer, which takes many times as
long as an ask. An operation that is routed here is declared and documented as any other; it takes ``campaign``,
``body`` and ``access``, and returns the model of its answer, or None.
"""

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError

from cutline.errors import InvalidInputError
from cutline.server.access.guard import CampaignName, may_measure
from cutline.server.api.served import CampaignId, One

THREADS = 8
"""Requests that are worked on at once; the others wait in the order in which they came.

On SQLite one of them writes at a time, while others read and check what was sent.
"""


class _Query(BaseModel):
    """What the query of a request says of the campaign."""

    campaign: CampaignName
    id: CampaignId = None


_threads = ThreadPoolExecutor(THREADS, thread_name_prefix="cutline")


class QuickRoute(APIRoute):
    """A route to an operation (campaign, body, access) that is called in one thread."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return what answers a request to this route."""
        operation: Callable[..., BaseModel | None] = self.endpoint
        model: type[BaseModel] = inspect.signature(operation).parameters["body"].annotation
        status = self.status_code or 200

        def work(request: Request, sent: bytes) -> Response:
            access = may_measure(request)
            campaign = One(request.app.state.campaigns, *_asked(request))
            answer = operation(campaign, _read(model, request, sent), access)
            return Response(None if answer is None else answer.model_dump_json(), status, media_type="application/json")

        async def handle(request: Request) -> Response:
            sent = await request.body()
            return await asyncio.get_running_loop().run_in_executor(_threads, work, request, sent)

        return handle


def _asked(request: Request) -> tuple[str, str | None]:
    """Return name and id of the campaign of the query; raise RequestValidationError if they cannot be that."""
    try:
        query = _Query.model_validate(dict(request.query_params))
    except ValidationError as error:
        raise _refused(error, "query") from None
    return query.campaign, query.id


def _read(model: type[BaseModel], request: Request, sent: bytes) -> BaseModel:
    """Return the body; raise RequestValidationError for one that does not fit, InvalidInputError if it is no JSON."""
    if not sent:
        raise RequestValidationError([{"type": "missing", "loc": ("body",)}])
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidInputError("body: it must be JSON, with the header Content-Type: application/json")
    try:
        return model.model_validate_json(sent)
    except ValidationError as error:
        raise _refused(error, "body") from None


def _refused(error: ValidationError, *where: str) -> RequestValidationError:
    found = error.errors(include_url=False)
    return RequestValidationError([{**each, "loc": (*where, *each["loc"])} for each in found])
