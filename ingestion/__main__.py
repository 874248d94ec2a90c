"""`python -m ingestion PATH`: bring documents into a corpus.

stderr is for people (a progress bar on a terminal, what failed and why), stdout holds one JSON summary. Exit codes:
0 done or nothing to do, 1 something failed (the rest is ingested), 2 usage, 130 stopped.
"""

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tqdm import tqdm

from errors import run_command
from ingestion.build import ingest
from ingestion.pipeline import Summary
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
    with tqdm(unit=" leaves", desc="ingesting", disable=None, leave=False) as bar:
        summary = ingest(
            arguments.path,
            settings,
            corpus=arguments.corpus or settings.index.corpus,
            root_name=arguments.root,
            rebuild=arguments.rebuild,
            on_progress=_show_on(bar),
        )
    _report(summary)
    print(json.dumps(summary.to_dict()))
    return 1 if summary.failed else 0


def _show_on(bar: "tqdm[Any]") -> Callable[[str, int], None]:
    def show(source: str, leaves: int) -> None:
        bar.set_postfix_str(source[-40:], refresh=False)
        bar.update(leaves - bar.n)

    return show


def _report(summary: Summary) -> None:
    for kind, entries in (("skipped", summary.skipped), ("failed", summary.failed)):
        for entry in entries:
            print(f"{kind}: {entry['source']}: {entry['reason']}", file=sys.stderr)
    print(
        f"corpus {summary.corpus!r}: {summary.new} new, {summary.changed} changed, {summary.unchanged} unchanged, "
        f"{summary.removed} removed, {len(summary.failed)} failed; {summary.leaves} leaves embedded in "
        f"{summary.duration_s:.1f} s",
        file=sys.stderr,
    )


if __name__ == "__main__":
    sys.exit(main())
