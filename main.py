"""Start the service: `python main.py`, or `gunicorn main:app` with gunicorn.conf.py.

Flow: settings -> logging -> socket -> `api.serve.application` -> server. Everything that can fail has failed before the
first connection is accepted: a missing model or a refused index ends the program with one line. The libraries take
seconds to load, so they are imported after what can be refused without them.

One process with one worker: an embedded Chroma may be opened by one process only.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from api.logs import configure_logging
from api.security.listen import bind, require_auth_or_loopback, url_at, url_of
from api.server import BACKLOG, HostedApplication, exit_on_sigterm, run_server
from errors import SettingsError, run_command
from query_engine.runtime.open_files import raise_limit
from settings import Settings, load_settings

if TYPE_CHECKING:
    from fastapi import FastAPI

# The sample goes here even if the settings name another corpus, so that it is never mixed with a user's documents.
SAMPLE_CORPUS = "default"


def main(argv: Sequence[str] | None = None, prog: str = "python main.py") -> int:
    """Parse `argv` and serve until a signal comes."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Serve answers from the corpora in RAG_INDEX__DIR.",
        epilog="Settings come from RAG_* variables or a .env file; docs/settings.md lists them.",
    )
    parser.add_argument(
        "--ingest",
        type=Path,
        metavar="PATH",
        help=f"first bring this folder into the corpus {SAMPLE_CORPUS!r}, if it changed; what cannot be read is named. "
        "Clients may have it ingested again",
    )
    parser.add_argument(
        "--watch", action="store_true", help="keep that corpus in step with the folder, as RAG_SERVE__WATCH=true does"
    )
    arguments = parser.parse_args(argv)
    if arguments.watch and arguments.ingest is None:
        parser.error("--watch needs --ingest PATH")
    return run_command(lambda: serve(load_settings(), arguments.ingest, watch=arguments.watch))


def serve(settings: Settings, folder: Path | None = None, *, watch: bool = False) -> int:
    """Ingest `folder` if there is one; listen, answer, and return after a signal, once running answers are finished.

    Args:
        settings: all of them.
        folder: what to ingest first.
        watch: go on with what changes in it, also if the settings do not say so.
    """
    prepare(settings, folder)
    watch = watch or settings.serve.watch
    exit_on_sigterm()
    with bind(settings.serve) as listener:
        from api.serve import application  # noqa: PLC0415
        from ingestion.console.watch import ingest_watched  # noqa: PLC0415
        from ingestion.folder_changes import watchable  # noqa: PLC0415

        if folder is not None:
            folder = watchable(folder) if watch else folder
            # What cannot be read is named; the rest is served.
            code = ingest_watched(folder, settings, corpus=SAMPLE_CORPUS)
            if code > 1:
                return code
        # Connections wait until the server takes them, so the printed address can be used at once.
        watched = SAMPLE_CORPUS if watch else None
        with application(settings, url_of(listener), folder, lambda: listener.listen(BACKLOG), watched) as opened:
            run_server(opened, listener)
    return 0


def prepare(settings: Settings, folder: Path | None = None) -> None:
    """Set up this process: its logs and its limits.

    Raises:
        SettingsError: the service would be open to other machines without keys, and nothing says that it may be; or a
            folder shall be watched, and none is ingested.
    """
    if settings.serve.watch and folder is None:
        raise SettingsError(
            "RAG_SERVE__WATCH is set, and no folder is ingested.",
            "Name one by `--ingest FOLDER`, or unset it.",
        )
    configure_logging(settings.serve.log_format)
    require_auth_or_loopback(settings.serve)
    raise_limit()


@contextmanager
def hosted_application() -> "Iterator[FastAPI]":
    """Yield the application for another program's server, which listens where the settings say."""
    from api.serve import application  # noqa: PLC0415

    settings = load_settings()
    prepare(settings)
    with application(settings, url_at(settings.serve.host, settings.serve.port)) as opened:
        yield opened


app = HostedApplication(hosted_application)


if __name__ == "__main__":
    sys.exit(main())
