"""Start the service: `python main.py`, or `gunicorn main:app` with gunicorn.conf.py.

Flow: settings -> logging -> socket -> `api.serve.application` -> server. Everything that can fail has failed before the
first connection is accepted: a missing model or a refused index ends the program with one line. The libraries take
seconds to load, so they are imported after what can be refused without them.

With RAG_SERVE__WORKERS the socket is handed to gunicorn, whose workers open the application each for itself.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

from api.logs import configure_logging
from api.security.listen import bind, require_auth_or_loopback, url_at, url_of
from api.server import BACKLOG, HostedApplication, Plan, exit_on_sigterm, run_server
from errors import run_command
from query_engine.loading import loading
from query_engine.runtime.open_files import raise_limit
from settings import Settings, load_settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from api.jobs.queue import Jobs
    from api.workers.group import WorkerGroup

# The sample goes here even if the settings name another corpus, so that it is never mixed with a user's documents.
SAMPLE_CORPUS = "default"


def main(argv: Sequence[str] | None = None, prog: str = "python main.py") -> int:
    """Parse `argv` and serve until a signal comes."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Serve answers from the corpora in RAG_INDEX__DIR.",
        epilog="Settings come from RAG_* variables or a .env file; reference/settings.md lists them.",
    )
    parser.add_argument(
        "--ingest",
        type=Path,
        metavar="PATH",
        help=f"first bring this folder into the corpus {SAMPLE_CORPUS!r}, if it changed; what cannot be read is named. "
        "Clients may have it ingested again",
    )
    parser.add_argument("--watch", action="store_true", help="keep that corpus in step with the folder")
    arguments = parser.parse_args(argv)
    if arguments.watch and arguments.ingest is None:
        parser.error("--watch needs --ingest PATH")

    def run() -> int:
        settings = load_settings()
        json_lines = settings.serve.log_format == "json"
        return run_command(lambda: serve(settings, arguments.ingest, watch=arguments.watch), json_lines=json_lines)

    return run_command(run)


def serve(settings: Settings, folder: Path | None = None, *, watch: bool = False) -> int:
    """Ingest `folder` if there is one; listen, answer, and return after a signal, once running answers are finished.

    Args:
        settings: all of them.
        folder: what to ingest first.
        watch: go on with what changes in it.
    """
    prepare(settings)
    exit_on_sigterm()
    with bind(settings.serve) as listener:
        from ingestion.folder_changes import watchable  # noqa: PLC0415

        workers = settings.serve.workers
        if folder is not None:
            folder = watchable(folder) if watch else folder
            # What cannot be read is named; the rest is served.
            code = _in_child(_ingest, folder, settings) if workers > 1 else _ingest(folder, settings)
            if code > 1:
                return code
        # Connections wait until the server takes them, so the printed address can be used at once.
        watched = SAMPLE_CORPUS if watch else None
        if workers > 1:
            from api.workers.program import run_workers  # noqa: PLC0415

            run_workers(app, listener, workers, folder, watched)
        with loading(settings.answer):
            from api.serve import application  # noqa: PLC0415

        with application(settings, url_of(listener), folder, lambda: listener.listen(BACKLOG), watched) as opened:
            run_server(opened, listener)
    return 0


def _ingest(folder: Path, settings: Settings) -> int:
    from ingestion.console.watch import ingest_watched  # noqa: PLC0415

    json_lines = settings.serve.log_format == "json"
    return ingest_watched(folder, settings, corpus=SAMPLE_CORPUS, json_lines=json_lines)


def _in_child(work: Callable[[Path, Settings], int], folder: Path, settings: Settings) -> int:
    """Return what `work` returns in a process of its own: workers are forked from one without models and threads."""
    child = ProcessPoolExecutor(1, get_context("spawn"))
    with child:
        return child.submit(work, folder, settings).result()


def prepare(settings: Settings) -> None:
    """Set up this process: its logs and its limits.

    Raises:
        SettingsError: the service would be open to other machines without keys, and nothing says that it may be.
    """
    configure_logging(settings.serve.log_format)
    require_auth_or_loopback(settings.serve)
    raise_limit()


def plan(group: "WorkerGroup | None") -> Plan:
    """Say what another program's server is to open, which listens where the settings say.

    Args:
        group: the workers that this process is one of, if there are several.
    """
    settings = load_settings()
    prepare(settings)
    # Before the libraries are loaded: the leader lock is not free for long.
    return Plan(settings, group, group.role() if group else None)


@contextmanager
def hosted_application(planned: Plan, jobs: "Jobs | None") -> "Iterator[FastAPI]":
    """Yield the application for another program's server.

    Args:
        planned: what it is.
        jobs: where ingestions run, if that is there already.
    """
    settings, group = planned.settings, planned.group
    with loading(settings.answer):
        from api.serve import application  # noqa: PLC0415

    if group is None:
        opening = application(settings, url_at(settings.serve.host, settings.serve.port))
    else:
        opening = application(settings, group.url, group.folder, watched=group.watched, role=planned.role, jobs=jobs)
    with opening as opened:
        yield opened


app = HostedApplication(plan, hosted_application)


if __name__ == "__main__":
    sys.exit(main())
