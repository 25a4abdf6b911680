"""Errors as RFC 9457 has them: what is wrong, in Cutline's own line, with the status that HTTP has for it."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeAlias, get_args

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from cutline.errors import ConflictError, CutlineError, InvalidInputError, NotFoundError, StoreError
from cutline.server.complaints import line_of
from cutline.text import shown

RETRY_AFTER = 2
"""Seconds after which a client may try again when the database is away."""

_STATUS: dict[type[CutlineError], int] = {
    ConflictError: 409,
    NotFoundError: 404,
    StoreError: 503,
    InvalidInputError: 422,
}
"""The status of each error; the first that fits counts."""


class ProblemDetails(BaseModel):
    """An error: RFC 9457, with the class of the error as a member of its own."""

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Conflict"])
    status: int = Field(examples=[409])
    detail: str = Field(examples=["pull 5f2c81aa-1-0 was told 1, not 0"], description="What is wrong, in one line.")
    error: str | None = Field(None, examples=["ConflictError"], description="The class of the error in Cutline.")


class ProblemError(Exception):
    """Ends a request with a status and a line."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def _details(status: int, detail: str, error: str | None) -> ProblemDetails:
    return ProblemDetails(
        type="about:blank", title=HTTPStatus(status).phrase, status=status, detail=detail, error=error
    )


def answer(status: int, detail: str, error: str | None = None) -> Response:
    """Return the response for a problem; after 413 the connection ends, since what is left of the body is not read."""
    headers = {
        401: {"WWW-Authenticate": "Bearer"},
        413: {"Connection": "close"},
        503: {"Retry-After": str(RETRY_AFTER)},
    }.get(status)
    body = _details(status, detail, error).model_dump()
    return JSONResponse(body, status, headers, media_type="application/problem+json")


Ending: TypeAlias = ProblemError | CutlineError | RequestValidationError
"""What ends a request with a problem."""


def problem_of(error: Ending) -> ProblemDetails:
    """Return what ends a request as a problem."""
    if isinstance(error, ProblemError):
        return _details(error.status, error.detail, None)
    if isinstance(error, RequestValidationError):
        return _details(422, line_of(error.errors()), InvalidInputError.__name__)
    kind = next((kind for kind in _STATUS if isinstance(error, kind)), type(error))
    return _details(_STATUS.get(kind, 500), str(error), kind.__name__)


def response_of(error: Ending) -> Response:
    """Return the response for what ends a request."""
    problem = problem_of(error)
    return answer(problem.status, problem.detail, problem.error)


def _line_of_path(request: Request, error: HTTPException) -> str:
    """Return what is wrong with the path or the method of a request, or what else the error says."""
    if error.status_code == HTTPStatus.NOT_FOUND:
        hint = "; /api/v1/openapi.json says what there is" if "/api/" in request.url.path else ""
        return f"there is nothing at {shown(request.url.path)}{hint}"
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = (error.headers or {}).get("Allow", "another method")
        return f"{shown(request.url.path)} takes no {request.method}; send {allowed}"
    return str(error.detail)


def install(app: FastAPI, as_page: Callable[[Request, int, str], Response | None]) -> None:
    """Have every error answered as a problem, or as what ``as_page`` makes of its status and line for a browser."""

    def on_ending(request: Request, error: Any) -> Response:
        problem = problem_of(error)
        return as_page(request, problem.status, problem.detail) or response_of(error)

    for kind in get_args(Ending):
        app.add_exception_handler(kind, on_ending)

    @app.exception_handler(HTTPException)
    def on_http(request: Request, error: HTTPException) -> Response:
        line = _line_of_path(request, error)
        made = as_page(request, error.status_code, line) or answer(error.status_code, line)
        made.headers.update(error.headers or {})
        return made


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the problems that an operation may answer with, as OpenAPI has them."""
    content = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/ProblemDetails"}}}
    return {status: {"description": HTTPStatus(status).phrase, "content": content} for status in statuses}
