"""`python -m ingestion reembed`: embed a corpus again from its stored text, after a change of the embedding model.

Flow: `__main__.py` -> **here** -> `ingestion/maintenance/reembed.py`.
"""

import argparse
import json

from ingestion.commands.options import add_corpus, add_json_lines, corpus_of
from ingestion.console.watch import watch
from ingestion.maintenance.reembed import reembed
from settings import Settings


def parse(parser: argparse.ArgumentParser, argv: list[str]) -> argparse.Namespace:
    """Read the arguments."""
    add_corpus(parser)
    add_json_lines(parser)
    return parser.parse_args(argv)


def run(arguments: argparse.Namespace, settings: Settings) -> int:
    """Embed again, and print the summary."""
    summary, code = watch(
        lambda tell, stop: reembed(corpus_of(arguments, settings), settings, on_progress=tell, stop=stop),
        json_lines=arguments.json_lines,
    )
    print(json.dumps(summary.to_dict()))
    return code
