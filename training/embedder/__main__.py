"""`python -m training.embedder`: fine-tune the embedding model on a corpus's documents.

Flow: argv, settings -> `pairs.py` -> `negatives.py` -> `fit.py` -> `measure.py` -> a folder for `RAG_EMBED__MODEL`.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from errors import packages_for, run_command
from eval.argument_types import whole_number
from settings import load_settings
from training.arguments import share, training_options
from training.unfinished import refuse_existing


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, train, translate errors to exit codes."""
    parser = argparse.ArgumentParser(
        prog="python -m training.embedder",
        description="Fine-tune the embedding model (RAG_EMBED__MODEL) on the documents of a corpus, and measure it on "
        "held-out documents. A run that was interrupted goes on when the same command is given again.",
        parents=[training_options(rate=2e-5, batch=32, save_steps=20)],
    )
    parser.add_argument("--corpus", help="an ingested corpus (default: RAG_INDEX__CORPUS)")
    parser.add_argument(
        "--questions",
        type=Path,
        nargs="+",
        required=True,
        metavar="FILE",
        help="questions to learn from, in a format of `python -m eval`, or rows of question, doc and quotes",
    )
    parser.add_argument(
        "--held-out", type=share, default=0.2, metavar="SHARE", help="of the documents, to measure on (default: 0.2)"
    )
    parser.add_argument(
        "--negatives", type=whole_number, default=1, metavar="N", help="hard negatives a question (default: 1)"
    )
    parser.add_argument(
        "--search",
        type=whole_number,
        default=10_000,
        metavar="N",
        help="leaves to measure among: those of the documents asked about, and others up to N (default: 10000)",
    )
    arguments = parser.parse_args(argv)
    return run_command(lambda: _train(arguments))


def _train(arguments: argparse.Namespace) -> int:
    refuse_existing(arguments.out)
    settings = load_settings()
    with packages_for("Fine-tuning", "Run `pip install -e .[training] -c constraints.txt`."):
        from training.embedder.train import train  # noqa: PLC0415  # imports torch
    print(train(arguments, settings))
    print(json.dumps({"model": str(arguments.out)}), file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
