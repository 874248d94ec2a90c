"""One run: convert, compare with PyTorch, compress, measure both forms, keep the compressed one.

Flow: `__main__.py` -> **here** -> a table on stdout; the figures lie in `training.json` beside the model.
"""

import json
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np

from errors import ModelError
from eval.progress_bar import tell
from eval.tables import aligned, figure
from settings import Settings
from training.base_model import BaseModel, load_base
from training.checkpoints import use_threads
from training.quantize.convert import Bits, compress, convert, save
from training.quantize.measure import Measured, Runner, losses, measure, torch_logits, windows
from training.unfinished import refuse_existing

# Root mean square of the difference, as a share of the logits' scatter. Rounding weights to 16 bits costs a few
# thousandths; a cache or positions that are wrong cost tenths.
MAX_DEVIATION = 0.05


def quantize(out: Path, bits: Bits, text: str, *, tokens: int, settings: Settings, threads: int | None) -> str:
    """Write the compressed model to `out`; return a table of size and loss before and after.

    Args:
        out: a folder that does not exist.
        bits: of the weights.
        text: to measure on.
        tokens: of it, at most.
        settings: name the model.
        threads: of the CPU for reading the text; one per core if None.

    Raises:
        TrainingError: `out` exists.
        ModelError: the model cannot be loaded or converted, or the converted one computes something else.
    """
    refuse_existing(out)
    use_threads(threads)
    base = load_base(settings.llm)
    pieces = windows(base.tokenizer.encode(text, add_special_tokens=False), tokens)
    if not pieces:
        raise ModelError("The text to measure on holds no two tokens.", "Name another by --text.")
    tell(f"reading {sum(map(len, pieces))} tokens with PyTorch")
    wanted = [torch_logits(base.model, piece) for piece in pieces]
    own = float(np.concatenate([losses(logits, piece) for logits, piece in zip(wanted, pieces, strict=True)]).mean())
    out.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that it can be moved there.
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}-") as scratch:
        exact, made = Path(scratch) / "fp16", Path(scratch) / bits
        tell("converting")
        model = convert(base)
        save(model, base, exact)
        _compare(base, exact, pieces[0], wanted[0], threads)
        tell(f"rounding weights to {bits}")
        save(compress(model, bits), base, made)
        del model
        tell("measuring both")
        forms = [measure(name, folder, pieces, wanted, threads) for name, folder in (("fp16", exact), (bits, made))]
        record = {"model": base.name, "torch_loss": own, "tokens": sum(map(len, pieces))}
        forms_json = [asdict(form) for form in forms]
        (made / "training.json").write_text(json.dumps(record | {"forms": forms_json}, indent=1), encoding="utf-8")
        made.rename(out)
    return table(own, forms)


def table(torch_loss: float, forms: list[Measured]) -> str:
    """Return a Markdown table."""
    lines = [("PyTorch, fp32", "", figure(torch_loss), figure(float(np.exp(torch_loss)), 2), figure(1.0))]
    lines += [
        (
            *(f"OpenVINO, {form.name}", f"{form.size_mb:.0f} MB", figure(form.loss)),
            *(figure(float(np.exp(form.loss)), 2), figure(form.agreement)),
        )
        for form in forms
    ]
    return aligned(["form", "weights", "loss a token", "perplexity", "same next token as PyTorch"], lines)


def _compare(
    base: BaseModel, folder: Path, ids: list[int], wanted: "np.typing.NDArray[np.float32]", threads: int | None
) -> None:
    """Read a text in three parts, which takes the cache, and compare the logits with PyTorch's."""
    found = Runner(folder, threads).logits(ids, parts=min(3, len(ids)))
    deviation = float(np.sqrt(np.mean((found - wanted) ** 2)) / wanted.std())
    # Also true of NaN.
    if not deviation <= MAX_DEVIATION:
        raise ModelError(
            f"The converted {base.name} differs: its logits deviate by {deviation:.2f} of their scatter.",
            "Convert it with `optimum-cli export openvino` in an environment that has optimum-intel.",
        )
