"""The pages: server-rendered HTML that works without JavaScript."""

from fastapi import APIRouter

from cutline.server.pages import dashboard_routes, label_routes, login_routes, weighing_routes

router = APIRouter(include_in_schema=False)
for _routes in (dashboard_routes, weighing_routes, label_routes, login_routes):
    router.include_router(_routes.router)
