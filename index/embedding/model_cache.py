"""Converted embedding models, made once per machine and kept by weights hash, pooling and precision.

Flow: `openvino.py` asks **here** -> `convert.py` and `quantize.py`, each in a separate process: neither torch nor
NNCF is ever loaded into the service, and neither is needed once the model is here.
"""

import fcntl
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from errors import ModelError
from index.embedding.model import EmbeddingModel

SCRATCH = "unfinished"


def converted_model(model: EmbeddingModel, precision: str, cache_dir: Path) -> Path:
    """Return the model's OpenVINO file; makes it first, and says so on stderr, where the cache does not hold it.

    `fp32` and `bf16` share a file: the second is the first computed in bf16. Of two processes that want the same model,
    one makes it and the other waits.

    Raises:
        ModelError: it cannot be made.
    """
    # Resolved, because the conversions run in the project's folder.
    cache_dir, folder = cache_dir.resolve(), str(model.folder.resolve())
    key = f"{model.weights_hash}-{model.pooling}"
    exact, int8 = cache_dir / f"{key}-fp32" / "model.xml", cache_dir / f"{key}-int8" / "model.xml"
    wanted = int8 if precision == "int8" else exact
    if wanted.is_file():
        return wanted
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with (cache_dir / "lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not wanted.is_file():
                sys.stderr.write(f"(converting the embedding model to {precision}, once: about half a minute)\n")
            if not exact.is_file():
                _make(exact, "index.embedding.convert", folder, model.pooling)
            if not wanted.is_file():
                _make(wanted, "index.embedding.quantize", folder, str(exact))
    except OSError as error:
        raise ModelError(
            f"The converted embedding model cannot be kept in {cache_dir}: {error}.",
            "Make room there, or set RAG_EMBED__CACHE_DIR to another folder.",
        ) from error
    return wanted


def _make(target: Path, module: str, *arguments: str) -> None:
    """Have `module` write `target`; it appears whole or not at all. The caller holds the lock."""
    scratch = target.parent.parent / SCRATCH
    # Left by a process that was killed.
    shutil.rmtree(scratch, ignore_errors=True)
    shutil.rmtree(target.parent, ignore_errors=True)
    scratch.mkdir()
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        made = Path(folder) / "made" / target.name
        _run(module, *arguments, str(made))
        made.parent.rename(target.parent)


def _run(module: str, *arguments: str) -> None:
    home = Path(__file__).parents[2]
    command = [sys.executable, "-m", module, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=home)  # noqa: S603  # our own modules
    if run.returncode == 0:
        return
    last = run.stderr.strip().splitlines()[-1:] or [f"it ended with status {run.returncode}"]
    remedy = "Check the model's folder, the room on the disk, and that PyTorch is installed"
    if module == "index.embedding.quantize":
        remedy = "Set RAG_EMBED__PRECISION=bf16. Or check the room on the disk, and that PyTorch is installed"
    raise ModelError(f"The embedding model cannot be converted: {last[0]}.", f"{remedy} (it is needed this once).")
