"""`python -m ingestion delete`: take documents out of a corpus, by id, by filter or by source file.

Flow: `__main__.py` -> **here** -> `index/documents/catalogue.py` finds them, `index/corpus.py` removes them; or the
service that holds the corpus does both.
"""

import argparse
import json
from contextlib import closing
from typing import Any

from errors import CorpusLockedError
from index.build import Embeddings, open_corpus
from index.corpus import Corpus
from index.documents.filters import filter_value
from ingestion.commands.options import add_corpus, corpus_of, service_of
from ingestion.uploads import Uploads
from settings import Settings

SHOWN = 100


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments; `filter` says which documents are meant, whichever way they were named."""
    parser.add_argument("doc_ids", nargs="*", metavar="DOC_ID", help="documents to delete")
    parser.add_argument(
        "--filter", type=filter_value, metavar="JSON", help="delete all documents that meet this filter"
    )
    parser.add_argument("--source", metavar="FILE", help="delete all documents from this source file")
    add_corpus(parser)
    parser.add_argument("--dry-run", action="store_true", help="count them, and delete nothing")
    arguments = parser.parse_args(argv)
    ways = [arguments.doc_ids or None, arguments.filter, arguments.source]
    if sum(way is not None for way in ways) != 1:
        parser.error("name documents in one way: by DOC_ID, by --filter or by --source")
    if arguments.doc_ids:
        arguments.filter = _condition("doc_id", "in", arguments.doc_ids)
    elif arguments.source is not None:
        arguments.filter = _condition("source", "==", arguments.source)
    return arguments


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Delete, and print how many; 1 when a document that was named is not there."""
    name = corpus_of(arguments, settings)
    try:
        with closing(open_corpus(name, settings, Embeddings(settings).of(name).manifest)) as corpus:
            done = _delete(corpus, arguments.filter, Uploads(settings), dry_run=arguments.dry_run)
    except CorpusLockedError as error:
        with service_of(error, settings) as service:
            done = service.delete(name, arguments.filter, dry_run=arguments.dry_run)
    print(json.dumps(done))
    return 1 if done["matched"] < len(set(arguments.doc_ids)) else 0


def _delete(corpus: Corpus, filters: object, uploads: Uploads, *, dry_run: bool) -> dict[str, Any]:
    doc_ids = uploads.find(corpus, filters)
    deleted = 0 if dry_run else uploads.delete(corpus, doc_ids)
    shown = {"doc_ids": doc_ids[:SHOWN], "dry_run": dry_run}
    return {"corpus": corpus.name, "matched": len(doc_ids), "deleted": deleted, **shown}


def _condition(key: str, operator: str, value: object) -> dict[str, Any]:
    return {"filters": [{"key": key, "operator": operator, "value": value}]}
