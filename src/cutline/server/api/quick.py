"""The way of a request that comes many times a second: past the routing and the dependencies of FastAPI.

These take several times as long as an ask. An operation that is called here is declared and documented as any other; it
takes ``campaign``, ``body`` and ``access``, and returns the model of its answer, or None.
"""

import inspect
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, get_args

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from cutline.errors import InvalidInputError
from cutline.server.access.guard import CampaignName, may_measure
from cutline.server.api.served import CampaignId, One
from cutline.server.campaigns import Campaigns
from cutline.server.problems import Ending, response_of


class _Query(BaseModel):
    """What the query of a request says of the campaign."""

    campaign: CampaignName
    id: CampaignId = None


class _Operation(NamedTuple):
    """What a path stands for: a function (campaign, body, access), the model of its body, the status of its answer."""

    work: Callable[[One, BaseModel, object], BaseModel | None]
    model: type[BaseModel]
    status: int

    @classmethod
    def of(cls, route: APIRoute) -> "_Operation":
        """Return the operation of a route."""
        model = inspect.signature(route.endpoint).parameters["body"].annotation
        return cls(route.endpoint, model, route.status_code or 200)


class QuickWay:
    """Answers the requests to the operations of a router, under a prefix, and leaves all others to the application."""

    def __init__(self, app: ASGIApp, router: APIRouter, prefix: str) -> None:
        self._app = app
        routes = (route for route in router.routes if isinstance(route, APIRoute))
        self._operations = {f"{prefix}{route.path}": _Operation.of(route) for route in routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"].removeprefix(scope.get("root_path", "")) if scope["type"] == "http" else None
        operation = self._operations.get(path) if path is not None and scope["method"] == "POST" else None
        if operation is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await _answer(request, operation)
        except get_args(Ending) as error:
            response = response_of(error)
        await response(scope, receive, send)


async def _answer(request: Request, operation: _Operation) -> Response:
    sent = await request.body()
    campaigns: Campaigns = request.app.state.campaigns
    return await campaigns.turns.do(partial(_work, campaigns, request, operation, sent))


def _work(campaigns: Campaigns, request: Request, operation: _Operation, sent: bytes) -> Response:
    access = may_measure(request)
    campaign = One(campaigns, *_asked(request))
    answer = operation.work(campaign, _read(operation.model, request, sent), access)
    body = None if answer is None else answer.model_dump_json()
    return Response(body, operation.status, media_type="application/json")


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
