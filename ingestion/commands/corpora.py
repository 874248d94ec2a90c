"""`python -m ingestion corpora`: what corpora there are; drop one, or give it another name.

Flow: `__main__.py` -> **here** -> `index/maintenance/corpora.py`; or the service that holds the corpus does it.
"""

import argparse
import json
from dataclasses import asdict

from errors import CorpusLockedError
from index.maintenance.corpora import CorpusFacts, drop, list_corpora, rename
from ingestion.commands.options import service_of
from ingestion.uploads import Uploads
from settings import Settings

NAMES = {"list": 0, "drop": 1, "rename": 2}


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments."""
    parser.usage = "%(prog)s [list | drop NAME | rename OLD NEW] [--json]"
    parser.add_argument("action", nargs="?", choices=tuple(NAMES), default="list", help="what to do (default: list)")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of the corpus to drop; old and new name to rename")
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    arguments = parser.parse_args(argv)
    if len(arguments.names) != NAMES[arguments.action]:
        parser.error(f"`{arguments.action}` takes {NAMES[arguments.action]} names")
    return arguments


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Do what was asked for."""
    match arguments.action:
        case "drop":
            name = arguments.names[0]
            try:
                drop(name, settings)
                Uploads(settings).drop(name)
            except CorpusLockedError as error:
                with service_of(error, settings) as service:
                    service.drop(name)
            print(f"dropped corpus {name!r}")
        case "rename":
            old, new = arguments.names
            try:
                rename(old, new, settings)
                Uploads(settings).rename(old, new)
            except CorpusLockedError as error:
                with service_of(error, settings) as service:
                    service.rename(old, new)
            print(f"renamed corpus {old!r} to {new!r}")
        case _:
            facts = list_corpora(settings)
            if arguments.json:
                print(json.dumps([asdict(corpus) for corpus in facts]))
            else:
                print("\n".join(map(_line, facts)) or f"no corpora in {settings.index.dir}")
    return 0


def _line(corpus: CorpusFacts) -> str:
    size = f"{corpus.bytes / 1e6:,.1f} MB"
    if corpus.problem:
        return f"{corpus.name}: {size}; {corpus.problem}"
    held = f"; in use by {corpus.held_by}" if corpus.held_by else ""
    return (
        f"{corpus.name}: {corpus.documents:,} documents, {corpus.leaves:,} leaves, {size}, {corpus.model} "
        f"({corpus.precision}), made {corpus.created_at}, last document {corpus.last_ingested_at or 'none'}{held}"
    )
