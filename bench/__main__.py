"""`python -m bench MEASUREMENT`: measurements on data sets, beside the stock LlamaIndex recipe.

stdout holds Markdown tables, stderr the progress; the figures behind the tables go to a JSON file below
`RAG_BENCH__DIR`. Exit codes: 0 done, 1 a foreseen failure, 2 usage, 130 stopped.

Each measurement is a module with `add_arguments` and `run`, imported only when it is chosen: `ingest` measures
programs from outside, and a library that this process held as well would count less in theirs.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Sequence
from importlib import import_module

from errors import run_command
from settings import load_settings

MEASUREMENTS = {
    "retrieval": ("quality.retrieval", "our passages beside the stock recipe's, by every metric the questions allow"),
    "helpful": ("quality.helpful.command", "what natural questions get: facts, topic, length, declined near misses"),
    "writer": ("writer.command", "what becomes of a good language model's words on their way to the reader"),
    "ablate": ("quality.ablate", "what each part of the answer path adds"),
    "pdf-tables": ("quality.pdf_tables.measure", "cells of tables in PDFs that get the right names of their columns"),
    "trace": ("trace", "how many files, functions and async generators one question enters"),
    "ingest": ("speed.ingest", "time, memory and disk of ingestion"),
    "growth": ("speed.growth", "what a question costs as the corpus grows: time, CPU, memory, disk, opening"),
    "load": ("speed.load", "time of whole answers by /run, for several numbers of clients and workers"),
}


def main(argv: Sequence[str] | None = None, prog: str = "python -m bench") -> int:
    """Parse `argv`, run one measurement, translate its errors."""
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] in MEASUREMENTS:
        place, about = MEASUREMENTS[words[0]]
        measurement = import_module(f"bench.{place}")
        own = argparse.ArgumentParser(prog=f"{prog} {words[0]}", description=f"Measure {about}.")
        measurement.add_arguments(own)
        arguments = own.parse_args(words[1:])
        return run_command(lambda: measurement.run(arguments, load_settings()))
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Measure retrieval, answers and ingestion on data sets, beside the stock LlamaIndex recipe.",
        epilog="A data set is a folder with questions.jsonl and corpus/ or corpus.jsonl. Figures go to RAG_BENCH__DIR. "
        f"Each measurement explains itself: {prog} MEASUREMENT --help.",
    )
    commands = parser.add_subparsers(required=True, metavar="MEASUREMENT")
    for name, (_, about) in MEASUREMENTS.items():
        commands.add_parser(name, help=about)
    parser.parse_args(words)
    raise AssertionError("argparse ends the program where no measurement stands first")


if __name__ == "__main__":
    sys.exit(main())
