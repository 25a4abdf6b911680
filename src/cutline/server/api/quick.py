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
from pydantic import BaseModel, TypeAdapter, ValidationError

from cutline.errors import InvalidInputError
from cutline.server.access.guard import CampaignName, may_measure
from cutline.server.api.served import CampaignId, One

THREADS = 8
"""Requests that are worked on at once; the others wait in the order in which they came.

On SQLite one of them writes at a time, while others read and check what was sent.
"""

_QUERY: dict[str, TypeAdapter[Any]] = {"campaign": TypeAdapter(CampaignName), "id": TypeAdapter(CampaignId)}

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
            campaign = One(request.app.state.campaigns, _asked(request, "campaign"), _asked(request, "id"))
            answer = operation(campaign, _read(model, request, sent), access)
            return Response(None if answer is None else answer.model_dump_json(), status, media_type="application/json")

        async def handle(request: Request) -> Response:
            sent = await request.body()
            return await asyncio.get_running_loop().run_in_executor(_threads, work, request, sent)

        return handle


def _asked(request: Request, name: str) -> Any:
    """Return what the query has under a name; raise RequestValidationError if it cannot be that."""
    try:
        return _QUERY[name].validate_python(request.query_params.get(name))
    except ValidationError as error:
        raise _refused(error, "query", name) from None


def _read(model: type[BaseModel], request: Request, sent: bytes) -> BaseModel:
    """Return the body; raise RequestValidationError for one that does not fit, InvalidInputError if it is no JSON."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidInputError("body: it must be JSON, with the header Content-Type: application/json")
    try:
        return model.model_validate_json(sent)
    except ValidationError as error:
        raise _refused(error, "body") from None


def _refused(error: ValidationError, *where: str) -> RequestValidationError:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return RequestValidationError([{**each, "loc": (*where, *each["loc"])} for each in found])
