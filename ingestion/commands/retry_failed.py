"""`python -m ingestion retry-failed`: read again the files that could not be read, and no others.

Flow: `__main__.py` -> **here** -> `ingestion/build.py`, or the service that holds the corpus.
"""

import argparse
import json
import threading
from contextlib import closing

from errors import CorpusLockedError
from index.build import Embeddings, open_corpus
from ingestion.build import retry_failed
from ingestion.commands.options import add_corpus, add_json_lines, corpus_of, service_of
from ingestion.console.watch import watch
from ingestion.schema import Summary, Tell
from settings import Settings


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments."""
    add_corpus(parser)
    add_json_lines(parser)
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Try again, and print the summary."""

    def work(tell: Tell, stop: threading.Event) -> Summary:
        name = corpus_of(arguments, settings)
        embeddings = Embeddings(settings)
        try:
            with closing(open_corpus(name, settings, embeddings.of(name).opening_manifest())) as corpus:
                return retry_failed(corpus, settings, embeddings, on_progress=tell, stop=stop)
        except CorpusLockedError as error:
            with service_of(error, settings) as service:
                return service.retry_failed(name, on_progress=tell, stop=stop)

    summary, code = watch(work, json_lines=arguments.json_lines)
    print(json.dumps(summary.to_dict()))
    return code
