"""The application: the API, the pages, and what every answer carries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from cutline import __version__
from cutline.server import api, pages, problems
from cutline.server.campaigns import Campaigns
from cutline.server.middleware import BoundedBodies, RootPath, SafeHeaders
from cutline.server.settings import ServerSettings

STATIC = Path(__file__).parent / "static"


def create_app(settings: ServerSettings) -> FastAPI:
    """Return the application that serves the campaigns of a database, for any ASGI server.

    ``app.state.settings`` has the settings, ``app.state.campaigns`` the campaigns.
    """
    campaigns = Campaigns(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        campaigns.close()

    app = FastAPI(
        title="Cutline",
        version=__version__,
        summary="Campaigns over HTTP: which arm to measure next, what came back, what is decided.",
        openapi_url="/api/v1/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.campaigns = campaigns
    problems.install(app)
    app.include_router(api.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    app.add_middleware(SafeHeaders)
    app.add_middleware(BoundedBodies)
    app.add_middleware(RootPath, root_path=settings.root_path)
    return app
