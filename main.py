"""Start the service: `python main.py`.

Flow: settings -> logging -> socket -> engines -> `api.app.create_app` -> uvicorn. Everything that can fail has failed
before the first connection is accepted: a missing model or a refused index ends the program with one line.

One process with one worker: an embedded Chroma may be opened by one process only.
"""

import argparse
import signal
import sys
from types import FrameType
from typing import NoReturn

import uvicorn
from fastapi import FastAPI

from api.app import create_app
from api.door import bind, refuse_open_door, url_of
from api.logs import configure_logging
from errors import UnknownCorpusError, run_command
from query_engine.build import Engines
from settings import Settings, load_settings

# Longer than the grace that `/run` gives its streams after SIGTERM.
SHUTDOWN_S = 30
MAX_HEADER_BYTES = 64 * 1024
BACKLOG = 2048


def main() -> int:
    """Parse the command line and serve until a signal comes."""
    parser = argparse.ArgumentParser(
        prog="python main.py",
        description="Serve answers from the corpora in RAG_INDEX__DIR.",
        epilog="Settings come from RAG_* variables or a .env file; the README lists them.",
    )
    parser.parse_args()
    return run_command(lambda: serve(load_settings()))


def serve(settings: Settings) -> int:
    """Listen, answer, and return after a signal, once running answers are finished."""
    configure_logging(settings.serve.log_format)
    refuse_open_door(settings.serve)
    signal.signal(signal.SIGTERM, _terminated)
    with bind(settings.serve) as listener:
        url = url_of(listener)
        engines = Engines(settings, service_url=url)
        try:
            offer = describe(engines)
            # From here on connections wait until the server takes them, so the printed address can be used at once.
            listener.listen(BACKLOG)
            print(f"{offer} on {url}", file=sys.stderr, flush=True)
            uvicorn.Server(server_config(create_app(engines, settings))).run(sockets=[listener])
        finally:
            engines.close()
    return 0


def describe(engines: Engines) -> str:
    """Open the default corpus and say what it holds; a missing one is no reason not to start.

    Raises:
        CorpusError: it is locked, damaged, or was built with other settings.
    """
    try:
        corpus = engines.get().corpus
    except UnknownCorpusError as error:
        return f"Treeline serves no default corpus ({error})"
    return f"Treeline serves corpus {corpus.name!r} ({corpus.documents.count()} documents)"


def server_config(app: FastAPI) -> uvicorn.Config:
    """Return how the application is served."""
    return uvicorn.Config(
        app,
        # h11 bounds the size of headers, httptools does not.
        http="h11",
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        ws="none",
        lifespan="off",
        log_config=None,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_S,
    )


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(128 + signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main())
