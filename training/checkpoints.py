"""What both trainings need of transformers' `Trainer`: checkpoints to resume from, and progress with the time left.

Flow: `embedder/fit.py`, `lora/fit.py` -> **here** -> `Trainer`. A checkpoint counts once its last file is written:
partly written ones are deleted.
"""

import shutil
import sys
from pathlib import Path
from typing import Any, TextIO

import torch
from transformers import PrinterCallback, Trainer, TrainerCallback, TrainerControl, TrainerState, TrainingArguments
from transformers.utils import logging

from eval.progress_bar import ProgressBar

COMPLETE = "complete"
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
        "disable_tqdm": True,
        "dataloader_pin_memory": on_gpu,
        "bf16": on_gpu and torch.cuda.is_bf16_supported(),
    }


def run_trainer(trainer: Trainer, work: Path) -> None:
    """Train, from the newest whole checkpoint in `work` if there is one; shows progress on stderr and nothing else."""
    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    trainer.remove_callback(PrinterCallback)  # it prints to stdout
    trainer.add_callback(Watcher())
    trainer.train(resume_from_checkpoint=last_checkpoint(work))


def last_checkpoint(work: Path) -> str | None:
    """Return the newest whole checkpoint, None if there is none; others are deleted."""
    whole = []
    for folder in (work / FOLDER).glob("checkpoint-*"):
        if (folder / COMPLETE).is_file():
            whole.append(folder)
        else:
            shutil.rmtree(folder)
    newest = max(whole, key=lambda folder: int(folder.name.rpartition("-")[2]), default=None)
    return None if newest is None else str(newest)


class Watcher(TrainerCallback):
    """Marks whole checkpoints, and shows progress.

    Args:
        stream: takes the progress.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stderr
        self._bar: ProgressBar | None = None

    def on_train_begin(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Count what is left to do."""
        del args, control
        self._bar = ProgressBar(self._stream, "steps trained")
        if state.global_step:
            self._bar.note(f"going on after {state.global_step} of {state.max_steps} steps")
        self._bar.begin(state.max_steps - state.global_step)

    def on_step_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Count a step."""
        del args, control
        losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
        if self._bar:
            self._bar.step(f", loss {float(losses[-1]):.3f}" if losses else "")

    def on_save(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Mark the checkpoint that has just been written."""
        del control
        (Path(str(args.output_dir)) / f"checkpoint-{state.global_step}" / COMPLETE).touch()

    def on_train_end(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: Any) -> None:
        """Leave the terminal as it is."""
        del args, state, control
        if self._bar:
            self._bar.close()
