"""The network of an unpacked multilingual model, for the conversion.

Flow: a folder of `e5_package.py` -> **here** -> `convert.py`. The vocabulary's table, four fifths of the model, stays
packed in the converted model too, and a text's rows are decoded as they are looked up: 54 MB in memory instead of 384.
"""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, BertModel

from index.embedding.e5_package import BLOCK, WEIGHTS_FILE, E5File, read_file

# Names of the package's tensors, for each of the network's.
_EMBEDDINGS = {
    "position_embeddings.weight": "pos",
    "token_type_embeddings.weight": "type",
    "LayerNorm.weight": "ln.w",
    "LayerNorm.bias": "ln.b",
}
_LAYER = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "attention.output.LayerNorm": "aln",
    "intermediate.dense": "fi",
    "output.dense": "fo",
    "output.LayerNorm": "oln",
}


class PackedTable(torch.nn.Module):
    """The vocabulary's table; takes ids, gives their rows.

    Args:
        file: of the package.
        rows: of the table.
    """

    packed: torch.Tensor
    scales: torch.Tensor

    def __init__(self, file: E5File, rows: int) -> None:
        super().__init__()
        scales, packed = file.packed("emb.word")
        self.register_buffer("packed", torch.from_numpy(packed.reshape(rows, -1).copy()))
        self.register_buffer("scales", torch.from_numpy(scales.reshape(rows, -1)).half())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Return the rows, shape (*ids, hidden)."""
        found: Any = torch.nn.functional.embedding(ids, self.packed).float()
        found = found.unflatten(-1, (-1, BLOCK // 2))
        high = torch.floor(found / 16)
        weights = torch.cat([found - 16 * high, high], dim=-1) - 8
        scales = torch.nn.functional.embedding(ids, self.scales).float()
        rows: torch.Tensor = (weights * scales.unsqueeze(-1)).flatten(-2)
        return rows


def e5_network(folder: Path) -> Any:
    """Return the network of an unpacked folder, a `BertModel` whose vocabulary's table is packed."""
    file = read_file(folder / WEIGHTS_FILE)
    config = AutoConfig.from_pretrained(folder, local_files_only=True)
    rows, config.vocab_size = config.vocab_size, config.pad_token_id + 1  # the whole table is packed
    model: Any = BertModel(config, add_pooling_layer=False)
    model.embeddings.word_embeddings = PackedTable(file, rows)
    names = {f"embeddings.{ours}": f"emb.{theirs}" for ours, theirs in _EMBEDDINGS.items()}
    for layer in range(config.num_hidden_layers):
        for ours, theirs in _LAYER.items():
            for long, short in (("weight", "w"), ("bias", "b")):
                names[f"encoder.layer.{layer}.{ours}.{long}"] = f"l{layer}.{theirs}.{short}"
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(file.exact(names[name]).copy()).reshape(parameter.shape))
    return model
