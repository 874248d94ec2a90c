"""`python -m training.lora`: fine-tune a language model by LoRA on questions, passages and answers.

Flow: argv, settings -> `rows.py` -> `train.py` -> a folder for `RAG_LLM__MODEL` with the provider huggingface.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
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
        prog="python -m training.lora",
        description="Fine-tune the language model that RAG_LLM__MODEL names (the packaged SmolLM2 if unset) by LoRA, "
        "in the form of prompt in which it is served. A run that was interrupted goes on when the same command is "
        "given again.",
        parents=[training_options(rate=2e-4, batch=4, save_steps=20)],
    )
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--rows", type=Path, metavar="FILE", help='lines of {"question", "passages": [{"title", "text"}], "answer"}'
    )
    source.add_argument(
        "--questions",
        type=Path,
        metavar="FILE",
        help="questions with answers, in a format of `python -m eval`, or rows of question, doc and quotes: our "
        "retrieval finds the passages in --corpus",
    )
    parser.add_argument("--corpus", help="for --questions (default: RAG_INDEX__CORPUS)")
    parser.add_argument("--adapter", action="store_true", help="save the adapter by itself instead of the merged model")
    parser.add_argument("--rank", type=whole_number, default=16, metavar="N", help="of the adapter (default: 16)")
    parser.add_argument(
        "--max-tokens", type=whole_number, default=2048, metavar="N", help="of prompt and answer (default: 2048)"
    )
    parser.add_argument(
        "--held-out", type=share, default=0.1, metavar="SHARE", help="of the rows, to measure on (default: 0.1)"
    )
    arguments = parser.parse_args(argv)
    return run_command(lambda: _train(arguments))


def _train(arguments: argparse.Namespace) -> int:
    refuse_existing(arguments.out)
    settings = load_settings()
    with packages_for("Fine-tuning", "Run `pip install -e .[training] -c constraints.txt`."):
        from training.lora.train import train  # noqa: PLC0415  # imports torch
    print(train(arguments, settings))
    return 0


if __name__ == "__main__":
    sys.exit(main())
