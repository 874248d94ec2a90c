"""Start the service: `python main.py`.

Flow: settings -> logging -> socket -> engines -> `api.app.create_app` -> server. Everything that can fail has failed
before the first connection is accepted: a missing model or a refused index ends the program with one line.

One process with one worker: an embedded Chroma may be opened by one process only.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from api.app import create_app
from api.jobs.ingester import Ingester
from api.jobs.queue import Jobs
from api.logs import configure_logging
from api.security.listen import bind, require_auth_or_loopback, url_of
from api.server import BACKLOG, exit_on_sigterm, run_server
from errors import UnknownCorpusError, run_command
from ingestion.console.watch import ingest_watched
from pipelines.build import open_pipelines
from query_engine.build import Engines
from query_engine.runtime.open_files import raise_limit
from settings import Settings, load_settings
from sources.build import build_source_engine
from sources.engine import SourceEngine
from sources.given_pages import PageAnswers, PageReaders

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
    arguments = parser.parse_args(argv)
    return run_command(lambda: serve(load_settings(), arguments.ingest))


def serve(settings: Settings, folder: Path | None = None) -> int:
    """Ingest `folder` if there is one; listen, answer, and return after a signal, once running answers are finished."""
    configure_logging(settings.serve.log_format)
    require_auth_or_loopback(settings.serve)
    exit_on_sigterm()
    raise_limit()
    if folder is not None:
        # Here and not in a separate process, which would spend two seconds on importing the same libraries.
        # What cannot be read is named, and is no reason not to serve the rest.
        code = ingest_watched(folder, settings, corpus=SAMPLE_CORPUS)
        if code > 1:
            return code
    with bind(settings.serve) as listener:
        url = url_of(listener)
        engines, jobs, readers, app = Engines(settings, service_url=url), Jobs(), PageReaders(settings), None
        pipelines = open_pipelines(engines, settings)
        try:
            web = build_source_engine(engines, settings)
            offer = describe(engines, web)
            pipelines.resume()
            # From here on connections wait until the server takes them, so the printed address can be used at once.
            listener.listen(BACKLOG)
            print(f"{offer} on {url}", file=sys.stderr, flush=True)
            given = PageAnswers(engines, readers, settings)
            app = create_app(
                engines,
                settings,
                Ingester(engines, settings),
                jobs,
                folder,
                web=web,
                given=given,
                pipelines_of_steps=pipelines,
            )
            run_server(app, listener)
        finally:
            jobs.close()
            readers.close()
            pipelines.close()
            if app is not None:
                app.state.service.page_renderer.close()
                app.state.service.recorder.close()
                app.state.service.study.close()
            engines.close()
    return 0


def describe(engines: Engines, web: SourceEngine | None = None) -> str:
    """Open the default corpus and say what there is to answer from; a missing one is no reason not to start.

    Raises:
        CorpusError: it is locked, damaged, or was built with other settings.
    """
    try:
        with engines.lease() as engine:
            offer = f"Treeline serves corpus {engine.corpus.name!r} ({engine.corpus.documents.count()} documents)"
    except UnknownCorpusError as error:
        offer = f"Treeline serves no default corpus ({error})"
    return offer if web is None else f"Treeline answers from {', '.join(web.sources)}. {offer}"


if __name__ == "__main__":
    sys.exit(main())
