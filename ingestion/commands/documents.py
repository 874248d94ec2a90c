"""`python -m ingestion documents`: list the documents of a corpus, or show one.

Flow: `__main__.py` -> **here** -> `index/documents/catalogue.py` and `index/documents/store.py`, or the service that
holds the corpus.
"""

import argparse
import json
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from errors import CorpusLockedError, RagError
from index.build import Embeddings, open_corpus
from index.corpus import Corpus
from index.documents.filters import filter_value
from ingestion.commands.options import add_corpus, corpus_of, count, service_of
from settings import Settings

if TYPE_CHECKING:
    from ingestion.service_client import ServiceClient

LIMIT = 100
SERVICE_LIMIT = 1000


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments."""
    parser.add_argument(
        "action", nargs="?", choices=("list", "show"), default="list", help="what to do (default: list)"
    )
    parser.add_argument("doc_id", nargs="?", metavar="DOC_ID", help="the document that `show` prints")
    add_corpus(parser)
    parser.add_argument("--limit", type=count, default=LIMIT, metavar="N", help=f"list at most N (default: {LIMIT})")
    parser.add_argument("--after", metavar="DOC_ID", help="go on with the list after this document")
    parser.add_argument(
        "--filter",
        type=filter_value,
        metavar="JSON",
        help="list only documents whose fields and metadata meet this filter",
    )
    parser.add_argument("--json", action="store_true", help="print JSON")
    arguments = parser.parse_args(argv)
    if (arguments.action == "show") != (arguments.doc_id is not None):
        parser.error("`show` needs a DOC_ID" if arguments.doc_id is None else "`list` takes no DOC_ID")
    return arguments


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Print what was asked for."""
    name = corpus_of(arguments, settings)
    try:
        with closing(open_corpus(name, settings, Embeddings(settings).of(name).manifest)) as corpus:
            found = _document(corpus, arguments) if arguments.action == "show" else _page(corpus, arguments)
    except CorpusLockedError as error:
        with service_of(error, settings) as service:
            found = _ask_service(service, name, arguments)
    if arguments.json:
        print(json.dumps(found, ensure_ascii=False))
    elif arguments.action == "show":
        _print_document(found)
    else:
        _print_page(found)
    return 0


def _page(corpus: Corpus, arguments: argparse.Namespace) -> dict[str, Any]:
    briefs = corpus.catalogue.briefs(arguments.after, arguments.limit + 1, filters=arguments.filter)
    shown = briefs[: arguments.limit]
    after = shown[-1].doc_id if len(briefs) > len(shown) else None
    unread = corpus.ledger.unread({brief.source for brief in shown})
    documents = [asdict(brief) | {"unread": unread.get(brief.source, [])} for brief in shown]
    return {"corpus": corpus.name, "documents": documents, "next": after}


def _document(corpus: Corpus, arguments: argparse.Namespace) -> dict[str, Any]:
    document = corpus.documents.get(arguments.doc_id)
    if document is None:
        raise RagError(
            f"Corpus {corpus.name!r} holds no document {arguments.doc_id!r}.",
            "`python -m ingestion documents` lists them.",
            "unknown_document",
        )
    names = ("doc_id", "title", "url", "source", "content_type", "pages", "metadata", "text")
    return {"corpus": corpus.name, **{name: getattr(document, name) for name in names}}


def _ask_service(service: "ServiceClient", name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    if arguments.action == "show":
        return service.document(name, arguments.doc_id)
    filters = json.dumps(arguments.filter) if arguments.filter is not None else None
    page: dict[str, Any] = {"documents": [], "next": arguments.after}
    while len(page["documents"]) < arguments.limit:
        left = min(arguments.limit - len(page["documents"]), SERVICE_LIMIT)
        more = service.documents(name, left, page["next"], filters)
        page = more | {"documents": page["documents"] + more["documents"]}
        if not page["next"]:
            break
    return page


def _print_page(page: dict[str, Any]) -> None:
    for brief in page["documents"]:
        print(f"{brief['leaves']:>6} leaves {brief['chars']:>9,} chars  {brief['doc_id']}  ({brief['title']})")
        if brief["duplicate_of"]:
            print(f"{'':>7}the same text as {brief['duplicate_of']}")
        for reason in brief["unread"]:
            print(f"{'':>7}{reason}")
    if page["next"]:
        print(f"there are more: --after '{page['next']}'")
    elif not page["documents"]:
        print("no documents")


def _print_document(document: dict[str, Any]) -> None:
    for name, value in document.items():
        if name != "text" and value:
            print(f"{name}: {value}")
    print(f"\n{document['text']}")
