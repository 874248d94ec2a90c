"""Convert an embedding model from PyTorch to OpenVINO: `python -m index.embedding.convert FOLDER POOLING OUT.xml`.

Flow: `model_cache.py` runs this in a separate process, so that the service never imports torch -> **here** ->
`quantize.py` -> `openvino.py`. The graph yields unit vectors: with pooling inside it, no token vector is copied out.

All vectors of an E5 model point nearly the same way: those of unrelated texts have a cosine of 0.8. "Centred" takes
away what all share, so that cosines mean what they mean of other models, to the search as to the gate.
"""

import sys
from pathlib import Path
from typing import Any

from index.embedding import e5_package
from index.embedding.model import CALIBRATION

CENTRE_BATCH = 8


def convert(folder: Path, pooling: str, target: Path) -> None:
    """Write the model in `folder` as OpenVINO IR to `target` (an .xml; the weights go beside it as .bin)."""
    import openvino  # noqa: PLC0415  # heavy, and needed in this process only
    import torch  # noqa: PLC0415
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    if (folder / e5_package.WEIGHTS_FILE).is_file():
        from index.embedding.e5_network import e5_network  # noqa: PLC0415

        model = e5_network(folder)
    else:
        model = AutoModel.from_pretrained(folder, local_files_only=True)
    model = model.eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    # Two texts of different length, so that neither batch nor length is taken for a constant.
    example = dict(tokenizer(["one short text", "two"], padding=True, return_tensors="pt"))
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in example]

    class Pooling(torch.nn.Module):
        """A separate module, so that its operations bear its name: `quantize.py` leaves them exact."""

        centre: torch.Tensor | None = None

        def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            # A sum serves as well as a mean: the length is taken away next.
            pooled = hidden[:, 0] if pooling == "cls" else torch.bmm(mask.unsqueeze(1).to(hidden), hidden).squeeze(1)
            vectors = torch.nn.functional.normalize(pooled, dim=1)
            return vectors if self.centre is None else torch.nn.functional.normalize(vectors - self.centre, dim=1)

    class TextVectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model
            self.pooling = Pooling()

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            named = dict(zip(names, inputs, strict=True))
            vectors: torch.Tensor = self.pooling(self.model(**named).last_hidden_state, named["attention_mask"])
            return vectors

    whole = TextVectors()
    if pooling == "centred":
        whole.pooling.centre = _centre(whole, tokenizer, names)
    converted = openvino.convert_model(whole, example_input=tuple(example[name] for name in names))
    for port, name in zip(converted.inputs, names, strict=True):
        port.get_tensor().set_names({name})
    target.parent.mkdir(parents=True, exist_ok=True)
    openvino.save_model(converted, target, compress_to_fp16=False)


def _centre(encoder: Any, tokenizer: Any, names: list[str]) -> Any:
    """Return the mean of vectors of texts about all sorts of things, as questions and as passages; (1, dimension)."""
    import torch  # noqa: PLC0415

    prefixes = (e5_package.QUERY_PREFIX, e5_package.DOCUMENT_PREFIX)
    about = CALIBRATION.read_text(encoding="utf-8").strip().split("\n\n")
    # By length, so that little is computed on padding.
    texts = sorted((prefix + text for prefix in prefixes for text in about), key=len)
    found = []
    for first in range(0, len(texts), CENTRE_BATCH):
        inputs = tokenizer(texts[first : first + CENTRE_BATCH], padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            found.append(encoder(*(inputs[name] for name in names)))
    return torch.cat(found).mean(dim=0, keepdim=True)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
