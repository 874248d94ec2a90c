"""Convert an embedding model from PyTorch to OpenVINO, once per model: `python -m index.convert FOLDER OUT.xml`.

Flow: `embedder.py` runs this in a process of its own, so that the service never imports torch. The result
yields token vectors; pooling happens in the embedder, in full precision.
"""

import sys
from pathlib import Path


def convert(folder: Path, target: Path) -> None:
    """Write the model in `folder` as OpenVINO IR to `target` (an .xml; the weights go beside it as .bin)."""
    import openvino  # noqa: PLC0415  # heavy, and needed in this process only
    import torch  # noqa: PLC0415
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    # Two texts of different length, so that neither batch nor length is taken for a constant.
    example = dict(tokenizer(["one short text", "two"], padding=True, return_tensors="pt"))
    names = [name for name in ("input_ids", "attention_mask", "token_type_ids") if name in example]

    class TokenVectors(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
            hidden: torch.Tensor = self.model(**dict(zip(names, inputs, strict=True))).last_hidden_state
            return hidden

    converted = openvino.convert_model(TokenVectors(), example_input=tuple(example[name] for name in names))
    for port, name in zip(converted.inputs, names, strict=True):
        port.get_tensor().set_names({name})
    target.parent.mkdir(parents=True, exist_ok=True)
    openvino.save_model(converted, target, compress_to_fp16=False)


if __name__ == "__main__":
    convert(Path(sys.argv[1]), Path(sys.argv[2]))
