"""What both trainings need of transformers' `Trainer`: its arguments, and checkpoints to go on from.

Flow: `embedder/fit.py`, `lora/fit.py` -> **here** -> `Trainer`. A checkpoint counts once its last file is written:
partly written ones are deleted.
"""

import shutil
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import torch
from transformers import Trainer, TrainerState
from transformers.trainer_utils import get_last_checkpoint
from transformers.utils import logging

# The last file of a checkpoint.
STATE = "trainer_state.json"
FOLDER = "checkpoints"


def use_threads(threads: int | None) -> None:
    """Limit PyTorch's threads; None leaves one per core."""
    if threads:
        torch.set_num_threads(threads)


def common_arguments(
    work: Path, *, epochs: float, batch: int, rate: float, seed: int, save_steps: int
) -> dict[str, Any]:
    """Return arguments of `TrainingArguments`: a GPU is used if there is one, and nothing is reported elsewhere."""
    on_gpu = torch.cuda.is_available()
    return {
        "output_dir": str(work / FOLDER),
        "num_train_epochs": epochs,
        "per_device_train_batch_size": batch,
        "learning_rate": rate,
        "warmup_steps": 0.1,
        "seed": seed,
        "data_seed": seed,
        "save_strategy": "steps",
        "save_steps": save_steps,
        "save_total_limit": 2,
        "logging_steps": 10,
        "report_to": "none",
        "disable_tqdm": False,
        "dataloader_pin_memory": on_gpu,
        "bf16": on_gpu and torch.cuda.is_bf16_supported(),
    }


def run_trainer(trainer: Trainer, work: Path) -> None:
    """Train, from the newest whole checkpoint in `work` if there is one; shows progress and loss on stderr."""
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    with redirect_stdout(sys.stderr):  # the losses are printed to stdout
        trainer.train(resume_from_checkpoint=_last_checkpoint(work / FOLDER))


def _last_checkpoint(folder: Path) -> str | None:
    """Return the newest whole checkpoint, None if there is none; others are deleted."""
    for checkpoint in folder.glob("checkpoint-*"):
        try:
            TrainerState.load_from_json(str(checkpoint / STATE))
        except (OSError, ValueError):
            shutil.rmtree(checkpoint)
    return get_last_checkpoint(str(folder)) if folder.is_dir() else None  # type: ignore[no-untyped-call]
