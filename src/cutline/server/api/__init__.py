"""The API under /api/v1: what Campaign does, as JSON.

The name of a campaign stands in the query and the ids of arms and pulls in bodies, since they are any text: a path
cannot hold a slash or two dots, and a URL not ten thousand characters.
"""

from fastapi import APIRouter

from cutline.server.api import campaigns, changes, events, imports, pulls, results
from cutline.server.problems import documented

PREFIX = "/api/v1"

frequent = pulls.router
"""The operations that come many times a second."""

router = APIRouter(prefix=PREFIX, responses=documented(400, 401, 403, 404, 409, 413, 422, 503))
for _part in (pulls, campaigns, changes, results, imports, events):
    router.include_router(_part.router)
