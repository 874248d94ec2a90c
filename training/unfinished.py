"""The folder of an unfinished training: the next run with the same arguments continues what a killed one left.

Flow: `embedder/__main__.py`, `lora/__main__.py` -> **here** -> rows and checkpoints in `OUT.unfinished`, then `OUT`.
What is written there, and how it is read again, is the callers' business.
"""

import fcntl
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from errors import RagError
from eval.run_folder import replace_file

ARGUMENTS = "arguments.json"


class TrainingError(RagError):
    """A training cannot begin or go on as it was asked for."""

    code = "training_error"


@contextmanager
def unfinished(target: Path, arguments: Mapping[str, Any]) -> Iterator[Path]:
    """Give the folder of a run that shall make `target`; a new one, or that of a run that was interrupted.

    Args:
        target: must not exist; `finish` makes it.
        arguments: everything that decides the result, as JSON values.

    Raises:
        TrainingError: `target` exists, another process is at it, or it was begun with other arguments.
    """
    refuse_existing(target)
    folder = target.with_name(f"{target.name}.unfinished")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise TrainingError(
                f"Another process is training {target}.", "Wait for it, or name another --out."
            ) from error
        wanted = json.loads(json.dumps(dict(arguments)))
        if (folder / ARGUMENTS).is_file():
            _compare(json.loads((folder / ARGUMENTS).read_text()), wanted, folder)
        else:
            replace_file(folder / ARGUMENTS, json.dumps(wanted, indent=1))
        yield folder


def refuse_existing(target: Path) -> None:
    """Raise TrainingError if there is something at `target`."""
    if target.exists():
        raise TrainingError(f"{target} exists, and is not overwritten.", "Name another --out, or move it away.")


def finish(folder: Path, made: Path, target: Path) -> None:
    """Give `made`, which lies in the run's folder, its place, and delete the rest of the folder."""
    made.rename(target)
    shutil.rmtree(folder)


def _compare(begun: Mapping[str, Any], wanted: Mapping[str, Any], folder: Path) -> None:
    for name in [*begun, *(name for name in wanted if name not in begun)]:
        if begun.get(name) != wanted.get(name):
            raise TrainingError(
                f"{folder} holds a run that was begun with {name}={begun.get(name)!r}; now it is {wanted.get(name)!r}.",
                "Give the same arguments to go on with it, delete the folder, or name another --out.",
            )
