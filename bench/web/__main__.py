"""`python -m bench.web FOLDER`: run the stand-in of the search services over the documents of a folder.

Prints its address on stdout; ends with SIGINT or SIGTERM. Point RAG_SOURCES__CLUEWEB_URL and RAG_SOURCES__FINEWEB_URL
at it.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench.web.documents import read_documents
from bench.web.search_service import SearchService
from errors import run_command
from settings import load_settings


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv` and serve until the process is stopped."""
    parser = argparse.ArgumentParser(prog="python -m bench.web", description="A stand-in of ClueWeb22 and FineWeb.")
    parser.add_argument("folder", type=Path, help="documents, in any format that ingestion reads")
    parser.add_argument("--port", type=int, default=8010, help="to listen on (default: 8010; 0 picks a free one)")
    parser.add_argument("--key", help="that `/search` asks for (default: it asks for none)")
    arguments = parser.parse_args(argv)
    return run_command(lambda: serve(arguments.folder, arguments.key, arguments.port))


def serve(folder: Path, key: str | None, port: int) -> int:
    """Read the documents and answer."""
    documents = read_documents(folder, load_settings())
    service = SearchService(documents, key, port)
    print(f"{len(documents)} documents on {service.url}", flush=True)
    service.serve()
    return 0


if __name__ == "__main__":
    sys.exit(main())
