"""Compose the HTTP application from engines and settings.

Flow: `main.py` (or a test, with fakes) -> **here** -> an ASGI application. Whoever built the engines closes
them.
"""

from fastapi import FastAPI

from api import errors
from api.limits import BodyLimit
from api.pages import Pages
from api.routes import documents, evaluate, health, retrieve, run
from api.service import Engines, Service
from settings import VERSION, Settings


def create_app(engines: Engines, settings: Settings) -> FastAPI:
    """Return the application with all its routes."""
    app = FastAPI(
        title="Treeline",
        version=VERSION,
        # The interactive pages load scripts from elsewhere; the description itself is at /openapi.json.
        docs_url=None,
        redoc_url=None,
        responses={422: {"model": errors.ErrorReply}},
    )
    pages = Pages()
    app.state.service = Service(engines, settings, pages)
    app.add_middleware(BodyLimit)
    errors.install(app, pages)
    for module in (run, evaluate, retrieve, documents, health):
        app.include_router(module.router)
    return app
