"""The application: the API, the pages, and what every answer carries."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from fastapi.staticfiles import StaticFiles

from cutline import __version__
from cutline.campaign.database.clock import Clock
from cutline.campaign.database.store import Store
from cutline.server import api, pages, problems
from cutline.server.access.tokens import Tokens
from cutline.server.api.events import Looks
from cutline.server.api.quick import QuickWay
from cutline.server.campaigns import Campaigns
from cutline.server.middleware import BehindProxy, BoundedBodies, SafeHeaders
from cutline.server.pages.errors import problem_page
from cutline.server.settings import ServerSettings

STATIC = Path(__file__).parent / "static"


def create_app(settings: ServerSettings) -> FastAPI:
    """Return the application that serves the campaigns of a database, for any ASGI server.

    The database is made where there is none. ``app.state.settings`` has the settings, ``app.state.campaigns`` the
    campaigns, ``app.state.tokens`` the tokens. Raises StoreError if the database fails.
    """
    store, clock = Store.connect(settings.db, create=True), Clock(settings.clock)
    store.write(lambda connection: None)  # makes the tables

    campaigns = Campaigns(store, clock)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        campaigns.close()

    app = FastAPI(
        title="Cutline",
        version=__version__,
        summary="Campaigns over HTTP: which arm to measure next, what came back, what is decided.",
        openapi_url=f"{api.PREFIX}/openapi.json",
        docs_url=None,  # they load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.settings = settings
    app.state.campaigns = campaigns
    app.state.tokens = Tokens(store, clock)
    app.state.looks = Looks()
    problems.install(app, problem_page)
    app.include_router(api.router)
    app.include_router(pages.router)
    app.mount("/static", StaticFiles(directory=STATIC), name="static")

    @app.get("/healthz", include_in_schema=False)
    async def healthz() -> dict[str, str]:
        return {"status": "ok"}

    app.add_middleware(QuickWay, router=api.frequent, prefix=api.PREFIX)
    app.add_middleware(BoundedBodies)
    app.add_middleware(SafeHeaders)
    app.add_middleware(BehindProxy, settings=settings)
    return app
