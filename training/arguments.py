"""The arguments that both trainings have, `embedder/__main__.py` and `lora/__main__.py`."""

import argparse
from pathlib import Path

from eval.argument_types import whole_number


def training_options(*, rate: float, batch: int, save_steps: int) -> argparse.ArgumentParser:
    """Return a parent parser with these defaults."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="FOLDER", help="of the trained model; must not exist"
    )
    parser.add_argument(
        "--epochs", type=positive, default=1.0, metavar="E", help="how often each row is seen (default: 1)"
    )
    parser.add_argument("--limit", type=whole_number, metavar="N", help="learn from N rows at most")
    parser.add_argument(
        "--batch", type=whole_number, default=batch, metavar="N", help=f"rows a step (default: {batch})"
    )
    parser.add_argument("--rate", type=positive, default=rate, help=f"highest learning rate (default: {rate:g})")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of every random choice (default: 0)")
    parser.add_argument("--threads", type=whole_number, metavar="N", help="CPU threads (default: one per core)")
    parser.add_argument(
        "--save-steps",
        type=whole_number,
        default=save_steps,
        metavar="N",
        help=f"steps between two checkpoints (default: {save_steps})",
    )
    return parser


def positive(text: str) -> float:
    """Read a finite number above 0."""
    return _between(text, float("inf"))


def share(text: str) -> float:
    """Read a share above 0 and below 1."""
    return _between(text, 1.0)


def _between(text: str, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < high:
        limit = "" if high == float("inf") else f" and below {high:g}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0{limit}")
    return value
