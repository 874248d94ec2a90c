"""Arguments that several commands share.

Flow: a command's `parse` adds **these** -> `argparse` -> the command's `run`.
"""

import argparse

from settings import Settings


def add_corpus(parser: argparse.ArgumentParser) -> None:
    """Add `--corpus NAME`."""
    parser.add_argument("--corpus", metavar="NAME", help="which corpus (default: RAG_INDEX__CORPUS)")


def corpus_of(arguments: argparse.Namespace, settings: Settings) -> str:
    """Return the corpus that is meant."""
    return str(arguments.corpus or settings.index.corpus)


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
