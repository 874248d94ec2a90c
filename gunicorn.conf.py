"""Settings that gunicorn reads from here by itself: `gunicorn main:app -w 1 -k uvicorn.workers.UvicornWorker`.

`main.app` is the application; what the command line says stands above these settings.
"""

import os
import sys
from typing import Any

from uvicorn.workers import UvicornWorker

from api.security.listen import require_auth_or_loopback
from api.server import PROTOCOL, SHUTDOWN_S
from errors import RagError, SettingsError, error_line
from settings import ServeSettings, load_settings

# The worker is silent while it loads its models.
LOADING_S = 600


def require_one_worker(workers: int) -> None:
    """Refuse further processes.

    Raises:
        SettingsError: more or less than one worker is asked for.
    """
    if workers != 1:
        raise SettingsError(
            f"gunicorn was asked for {workers} workers, but only one process can read a corpus.",
            "Start it with -w 1; the worker answers RAG_SERVE__SLOTS questions in parallel.",
        )


def serve_settings() -> ServeSettings:
    """Return the service's settings; end the program if they are wrong."""
    try:
        return load_settings().serve
    except RagError as error:
        sys.exit(error_line(error, as_json=False).rstrip())


serve = serve_settings()
bind = f"[{serve.host}]:{serve.port}" if ":" in serve.host else f"{serve.host}:{serve.port}"
timeout = LOADING_S
graceful_timeout = SHUTDOWN_S
UvicornWorker.CONFIG_KWARGS = {**UvicornWorker.CONFIG_KWARGS, **PROTOCOL}


def on_starting(server: Any) -> None:
    """End with one line if the command line asks for what Treeline cannot do."""
    try:
        require_one_worker(server.cfg.workers)
        for address in server.cfg.address:
            if isinstance(address, tuple):  # else a Unix socket: a file of this machine
                require_auth_or_loopback(serve.model_copy(update={"host": address[0]}))
    except RagError as error:
        sys.exit(error_line(error, as_json=False).rstrip())


def when_ready(server: Any) -> None:
    """Tell the worker, in its settings, the address that gunicorn listens on."""
    name = server.LISTENERS[0].sock.getsockname()
    if isinstance(name, tuple):
        os.environ["RAG_SERVE__HOST"], os.environ["RAG_SERVE__PORT"] = name[0], str(name[1])
