"""`python -m ingestion restore FILE`: bring a saved corpus back, under its old name or another.

Flow: `__main__.py` -> **here** -> `index/maintenance/backup.py`.
"""

import argparse
from pathlib import Path

from index.maintenance.backup import restore
from ingestion.commands.options import add_corpus, corpus_of
from settings import Settings


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments."""
    parser.add_argument("file", type=Path, metavar="FILE", help="what `backup` wrote")
    add_corpus(parser)
    parser.add_argument("--replace", action="store_true", help="put it in the place of a corpus that exists")
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Restore, and say what."""
    name = corpus_of(arguments, settings)
    facts = restore(arguments.file, settings, name, replace=arguments.replace)
    print(f"corpus {name!r}: {facts.documents:,} documents, {facts.leaves:,} leaves")
    return 0
