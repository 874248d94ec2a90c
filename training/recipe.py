"""What both recipes share: their arguments, and how sentence-transformers' and transformers' `Trainer` is set.

Flow: `embedder.py`, `lora.py` -> **here**. Nothing is kept of a training that is stopped: it begins again.
"""

import argparse
from pathlib import Path
from typing import Any

from errors import SettingsError

PACKAGES = ("Fine-tuning", "Run `pip install -e .[training] -c constraints.txt`.")


def parser_of(prog: str, description: str, *, batch: int, rate: float) -> argparse.ArgumentParser:
    """Return a parser of what both take, with these defaults."""
    parser = argparse.ArgumentParser(prog=prog, description=description)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="of the model; must not exist")
    parser.add_argument("--epochs", type=float, default=1.0, help="how often each row is seen (default: 1)")
    parser.add_argument("--batch", type=int, default=batch, help=f"rows a step (default: {batch})")
    parser.add_argument("--rate", type=float, default=rate, help=f"highest learning rate (default: {rate:g})")
    return parser


def refuse_existing(out: Path) -> None:
    """Raise SettingsError where there is something already."""
    if out.exists():
        raise SettingsError(f"{out} exists, and is not overwritten.", "Name another --out, or move it away.")


def trainer_options(arguments: argparse.Namespace, scratch: str) -> dict[str, Any]:
    """Return arguments of `TrainingArguments`; `scratch` is a folder for nothing that stays."""
    return {
        "output_dir": scratch,
        "num_train_epochs": arguments.epochs,
        "per_device_train_batch_size": arguments.batch,
        "learning_rate": arguments.rate,
        "warmup_steps": 0.1,
        "save_strategy": "no",
        "report_to": "none",
        "dataloader_pin_memory": False,  # it warns where there is no GPU, and small rows gain nothing by it
    }
