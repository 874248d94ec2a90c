"""`python -m training.quantize`: a language model of transformers as an OpenVINO model with weights of 8 or 4 bits.

Flow: argv, settings -> `run.py` -> a folder for `RAG_LLM__MODEL` with the provider openvino.
"""

import missing_packages  # noqa: F401, I001  # first, to tell which package the imports below lack

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from errors import ModelError, packages_for, run_command
from eval.argument_types import whole_number
from settings import load_settings
from training.unfinished import refuse_existing

SAMPLE = Path(__file__).parents[2] / "data" / "corpus"


def main(argv: Sequence[str] | None = None) -> int:
    """Parse `argv`, convert, translate errors to exit codes."""
    parser = argparse.ArgumentParser(
        prog="python -m training.quantize",
        description="Convert the language model that RAG_LLM__MODEL names (the packaged SmolLM2 if unset) to OpenVINO, "
        "round its weights, and measure size and loss before and after. Takes a minute for a small model, so a "
        "run that was interrupted begins again.",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the model; must not exist")
    parser.add_argument("--weights", choices=("int8", "int4"), default="int8", help="default: int8")
    parser.add_argument(
        "--text", type=Path, default=SAMPLE, metavar="PATH", help="text or folder of .md and .txt to measure on"
    )
    parser.add_argument(
        "--tokens", type=whole_number, default=4096, metavar="N", help="of that text, at most (default: 4096)"
    )
    parser.add_argument("--threads", type=whole_number, metavar="N", help="CPU threads (default: one per core)")
    arguments = parser.parse_args(argv)
    return run_command(lambda: _quantize(arguments))


def _quantize(arguments: argparse.Namespace) -> int:
    refuse_existing(arguments.out)
    settings = load_settings()
    with packages_for("Converting a model", "Run `pip install torch -c constraints.txt`."):
        from training.quantize.run import quantize  # noqa: PLC0415  # imports torch
    text = _read(arguments.text)
    print(
        quantize(
            arguments.out,
            arguments.weights,
            text,
            tokens=arguments.tokens,
            settings=settings,
            threads=arguments.threads,
        )
    )
    return 0


def _read(path: Path) -> str:
    files = sorted(file for file in path.rglob("*") if file.suffix in {".md", ".txt"}) if path.is_dir() else [path]
    try:
        return "\n\n".join(file.read_text(encoding="utf-8") for file in files)
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path} cannot be read: {error}.", "Name a UTF-8 text or a folder by --text.") from error


if __name__ == "__main__":
    sys.exit(main())
