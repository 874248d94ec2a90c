"""`treeline mcp`: Treeline as an MCP server for one program that starts it, over stdin and stdout.

Flow: settings -> the corpus -> `api/mcp/`, until the input ends or a signal comes. The protocol goes to stdout,
everything else to stderr. Exit codes: 0 the input ended, 1 a foreseen error, 2 usage, 130 and 143 stopped by a signal.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Sequence
from contextlib import closing

import anyio

from api.logs import configure_logging
from api.mcp.stdio import StdioEnd, input_that_signals_end, stdout_to_stderr
from errors import CorpusLockedError, UnknownCorpusError, run_command
from index.layout.lock import check_free
from settings import Settings, load_settings


def main(argv: Sequence[str] | None = None, prog: str = "python -m treeline mcp") -> int:
    """Parse `argv` and serve; translate errors."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Serve MCP over stdin and stdout, from the corpora in RAG_INDEX__DIR.",
        epilog="A service that holds the default corpus offers the same at its /mcp. docs/http.md has the rest.",
    )
    parser.parse_args(argv)
    with input_that_signals_end() as end:
        return run_command(lambda: _serve(load_settings(), end))


def _serve(settings: Settings, end: StdioEnd) -> int:
    configure_logging(settings.serve.log_format)
    try:
        check_free(settings.index.dir / settings.index.corpus)  # before models are loaded
    except CorpusLockedError as error:
        if error.url is None:
            raise
        raise CorpusLockedError(
            error.fact, f"Let your program connect to {error.url}/mcp over HTTP, see docs/http.md.", error.url
        ) from error
    with stdout_to_stderr():  # seconds to import
        from api.app import create_app  # noqa: PLC0415
        from api.dependencies import STOP_WITHIN_S  # noqa: PLC0415
        from api.jobs.ingester import Ingester  # noqa: PLC0415
        from api.jobs.queue import Jobs  # noqa: PLC0415
        from api.mcp.server import build_server  # noqa: PLC0415
        from query_engine.build import Engines  # noqa: PLC0415

        engines, jobs = Engines(settings), Jobs()
    with closing(engines), closing(jobs):
        with stdout_to_stderr():
            try:
                engines.lease().release()  # now, and held from now on: a client waits for its first call less patiently
            except UnknownCorpusError as error:
                print(f"Treeline serves no default corpus ({error})", file=sys.stderr)
            service = create_app(engines, settings, Ingester(engines, settings), jobs).state.service
            server = build_server(service)

        async def serve() -> None:
            await server.run_stdio_async()
            # The threads of calls that were cut off use models and stores that are closed now.
            await service.slots.wait_closed(STOP_WITHIN_S)

        with closing(service.recorder):
            anyio.run(serve)
    return end.exit_code


if __name__ == "__main__":
    sys.exit(main())
