"""Problems as pages."""

from http import HTTPStatus

from fastapi import Request
from fastapi.responses import Response

from cutline.server.pages.rendering import path_of, plain_page, redirect


def problem_page(request: Request, status: int, detail: str) -> Response | None:
    """Return the page that says what is wrong, or None for a request that is not a browser's.

    Whoever has to log in first is sent there.
    """
    path = path_of(request)
    if path.startswith("/api/") or "text/html" not in request.headers.get("accept", ""):
        return None
    if status == HTTPStatus.UNAUTHORIZED and request.method == "GET":
        return redirect(request, "/login", then=f"{path}?{request.url.query}")
    return plain_page(request, "problem.html", status, title=HTTPStatus(status).phrase, detail=detail)
