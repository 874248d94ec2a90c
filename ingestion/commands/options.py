"""Arguments that several commands share, and who does what they ask: this process, or the service with the corpus.

Flow: a command's `parse` adds **these** -> `argparse` -> the command's `run`.
"""

import argparse
from typing import TYPE_CHECKING

from errors import CorpusLockedError
from settings import Settings

if TYPE_CHECKING:
    from ingestion.service_client import ServiceClient


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add `--corpus NAME`."""
    parser.add_argument("--corpus", metavar="NAME", help="which corpus (default: RAG_INDEX__CORPUS)")


def corpus_of(arguments: argparse.Namespace, settings: Settings) -> str:
    """Return the corpus that is meant."""
    return str(arguments.corpus or settings.index.corpus)


def service_of(error: CorpusLockedError, settings: Settings) -> "ServiceClient":
    """Return a client of the service that holds a corpus, to be used as a context manager.

    Raises:
        CorpusLockedError: `error`, if it is not a service that holds it.
    """
    if error.url is None:
        raise error
    from ingestion.service_client import ServiceClient  # noqa: PLC0415  # httpx takes its time to import

    return ServiceClient(error.url, settings.serve.key_headers())


def add_json_lines(parser: argparse.ArgumentParser) -> None:
    """Add `--json` of the commands that ingest; it is known as `json_lines`."""
    parser.add_argument(
        "--json", dest="json_lines", action="store_true", help="tell progress and errors on stderr as JSON, one a line"
    )


def count(text: str) -> int:
    """Read a number of things, 1 or more.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 up")
    return int(text)
