"""Bring a folder of papers into the corpus, by the arguments of ASK-xDD's `ingest_docs.py`.

    python scripts/ingest_docs.py --input-dir papers --topic covid-19 --doc-type paragraph

Flow: these arguments -> **here** -> `python -m ingestion`, whose further options are passed on. The same command again
goes on where it was stopped, and ingests only what changed.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))


def main() -> int:
    """Translate the arguments and ingest."""
    parser = argparse.ArgumentParser(
        description="Bring a folder of papers into the corpus.",
        epilog="Further options are those of python -m ingestion, such as --corpus and --prune.",
        allow_abbrev=False,
    )
    parser.add_argument("--input-dir", required=True, metavar="FOLDER", help="holds <paper-id>.txt files")
    parser.add_argument("--topic", required=True, metavar="T", help="what clients filter by")
    parser.add_argument("--doc-type", default="paragraph", metavar="D", help="paragraph (default), figure, table, …")
    parser.add_argument("--weaviate-url", metavar="URL", help="not used: RAG_INDEX__* say where the index is")
    given, more = parser.parse_known_args()
    if given.weaviate_url:
        sys.stderr.write("warning: --weaviate-url is not used; RAG_INDEX__* say where the index is.\n")
    options = ["--topic", given.topic, "--doc-type", given.doc_type, *more]
    return int(import_module("ingestion.__main__").main([given.input_dir, *options]))


if __name__ == "__main__":
    sys.exit(main())
