"""Settings that gunicorn reads from here by itself: `gunicorn main:app -w 4 -k uvicorn.workers.UvicornWorker`.

`main.app` is the application; what the command line says stands above these settings. `python main.py` with
RAG_SERVE__WORKERS runs gunicorn with this file, too. With several workers they share a `WorkerGroup`.
"""

import os
import sys
from typing import Any

from uvicorn.workers import UvicornWorker

from api.logs import gunicorn_logging
from api.security.listen import require_auth_or_loopback, url_at
from api.server import SHUTDOWN_S, uvicorn_options
from api.telemetry.workers import begin_sharing, worker_ended
from api.workers.group import WorkerGroup
from errors import RagError, SettingsError, error_line
from settings import ServeSettings, load_settings

# The worker is silent while it loads its models.
LOADING_S = 600
# Of gunicorn's own workers those that a Flask line names; each request would end in a failure.
WSGI = frozenset(f"gunicorn.workers.{name}" for name in ("sync", "gthread", "ggevent", "geventlet", "gtornado"))


def serve_settings() -> ServeSettings:
    """Return the service's settings; end the program if they are wrong."""
    try:
        return load_settings().serve
    except RagError as error:
        sys.exit(error_line(error, as_json=False).rstrip())


serve = serve_settings()
bind = f"[{serve.host}]:{serve.port}" if ":" in serve.host else f"{serve.host}:{serve.port}"
workers = serve.workers
timeout = LOADING_S
graceful_timeout = SHUTDOWN_S
if serve.log_format == "json":
    logconfig_dict = gunicorn_logging()
UvicornWorker.CONFIG_KWARGS = {**UvicornWorker.CONFIG_KWARGS, **uvicorn_options(serve)}


def on_starting(server: Any) -> None:
    """End with one line if the command line asks for what Treeline cannot do."""
    try:
        if server.cfg.worker_class.__module__ in WSGI:
            raise SettingsError(
                f"The worker class {server.cfg.worker_class_str} serves WSGI, and main:app is an ASGI application.",
                "Start it with: gunicorn main:app -k uvicorn.workers.UvicornWorker",
            )
        for address in server.cfg.address:
            if isinstance(address, tuple):  # else a Unix socket: a file of this machine
                require_auth_or_loopback(serve.model_copy(update={"host": address[0]}))
    except RagError as error:
        sys.exit(error_line(error, as_json=False).rstrip())
    begin_sharing(server.cfg.workers)


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001  # gunicorn passes both
    """Take the levels of a worker that has ended out of the metrics."""
    worker_ended(worker.pid)


def when_ready(server: Any) -> None:
    """Tell the workers, in their settings, the address that gunicorn listens on; make what several of them share."""
    name = server.LISTENERS[0].sock.getsockname()
    if isinstance(name, tuple):
        os.environ["RAG_SERVE__HOST"], os.environ["RAG_SERVE__PORT"] = name[0], str(name[1])
    server.group = None  # there: this file is read again when gunicorn reloads
    if server.cfg.workers > 1:
        own = load_settings().serve
        folder, watched = getattr(server.app, "folder", None), getattr(server.app, "watched", None)
        try:
            server.group = WorkerGroup(own, url_at(own.host, own.port), server.cfg.workers, folder, watched)
        except RagError as error:
            sys.exit(error_line(error, as_json=False).rstrip())


def pre_fork(server: Any, worker: Any) -> None:
    """Give a worker what it shares with others."""
    worker.group = server.group


def post_worker_init(worker: Any) -> None:
    """Tell the application which group its process belongs to."""
    worker.wsgi.group = worker.group


def on_exit(server: Any) -> None:
    """Let go of what the workers shared."""
    if getattr(server, "group", None):
        server.group.close()
