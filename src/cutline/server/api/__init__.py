"""The API under /api/v1: what Campaign does, as JSON."""

from fastapi import APIRouter

from cutline.server.api import campaigns, pulls
from cutline.server.problems import documented

router = APIRouter(prefix="/api/v1", responses=documented(401, 403, 404, 409, 413, 422, 503))
router.include_router(campaigns.router)
router.include_router(pulls.router)
