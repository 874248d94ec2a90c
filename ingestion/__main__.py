"""`python -m ingestion PATH`: bring documents into a corpus.

stderr is for people (a progress bar on a terminal, what failed and why), stdout holds one JSON summary. Exit codes:
0 done or nothing to do, 1 something failed (the rest is ingested), 2 usage, 130 stopped.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from errors import run_command
from ingestion.progress import ingest_watched
from settings import load_settings


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, call one library function, translate its errors."""
    parser = argparse.ArgumentParser(prog="python -m ingestion", description="Bring documents into a corpus.")
    parser.add_argument("path", type=Path, help="folder or file: .md, .txt, .html, .pdf, .jsonl")
    parser.add_argument("--corpus", help="name of the corpus (default: RAG_INDEX__CORPUS)")
    parser.add_argument("--root", default="", help="prefix of document ids, to keep equal paths of two folders apart")
    parser.add_argument("--rebuild", action="store_true", help="build the corpus anew from PATH, then replace it")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _ingest(arguments))


def _ingest(arguments: argparse.Namespace) -> int:
    settings = load_settings()
    summary = ingest_watched(
        arguments.path,
        settings,
        corpus=arguments.corpus or settings.index.corpus,
        root_name=arguments.root,
        rebuild=arguments.rebuild,
    )
    print(json.dumps(summary.to_dict()))
    return 1 if summary.failed else 0


if __name__ == "__main__":
    sys.exit(main())
