"""`python -m ingestion backup FILE`: save a corpus as one file.

Flow: `__main__.py` -> **here** -> `index/maintenance/backup.py`.
"""

import argparse
from pathlib import Path

from index.maintenance.backup import backup
from ingestion.commands.options import add_corpus, corpus_of
from settings import Settings


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments."""
    parser.add_argument("file", type=Path, metavar="FILE", help="what to write, a .tar.gz; must not exist")
    add_corpus(parser)
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Save, and say what."""
    facts = backup(corpus_of(arguments, settings), settings, arguments.file)
    print(f"{facts.path}: {facts.documents:,} documents, {facts.leaves:,} leaves, {facts.bytes / 1e6:,.1f} MB")
    return 0
