"""Converted models are made once, whole, by one process at a time; what goes wrong has a remedy."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from errors import ModelError
from index.embedding.model import EmbeddingModel, load_embedding_model
from index.embedding.model_cache import SCRATCH, converted_model
from index.embedding.openvino import OpenVINOEmbedding
from tests.fakes.encoders import make_encoder

pytestmark = pytest.mark.slow

HOME = Path(__file__).parents[4]
CONVERT = """
import sys
from pathlib import Path
from index.embedding.model import load_embedding_model
from index.embedding.model_cache import converted_model
print(converted_model(load_embedding_model(sys.argv[1]), "fp32", Path(sys.argv[2])))
"""


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingModel:
    pytest.importorskip("torch")
    folder = make_encoder(tmp_path_factory.mktemp("tiny"), load_embedding_model("minilm").folder, "cls")
    return load_embedding_model(str(folder))


def start(model: EmbeddingModel, cache: Path, prelude: str = "") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", prelude + CONVERT, str(model.folder), str(cache)]
    return subprocess.Popen(command, cwd=HOME, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_two_processes_at_once_make_one_model_and_what_a_killed_one_left_is_gone(
    tiny: EmbeddingModel, tmp_path: Path
) -> None:
    (tmp_path / SCRATCH / "torn").mkdir(parents=True)
    both = [start(tiny, tmp_path), start(tiny, tmp_path)]
    outputs = [process.communicate(timeout=120) for process in both]

    assert [process.returncode for process in both] == [0, 0], outputs
    assert outputs[0][0] == outputs[1][0]
    told = [line for _, errors in outputs for line in errors.splitlines() if "converting" in line]
    assert told == ["(converting the embedding model to fp32, once: about half a minute)"]
    assert not list((tmp_path / SCRATCH).iterdir())
    # Pooling by the first token is part of the model.
    vectors = OpenVINOEmbedding(tiny, precision="fp32", cache_dir=tmp_path).encode(["Cats sleep.", "A turbine turns."])
    assert np.allclose(vectors, reference(tiny, ["Cats sleep.", "A turbine turns."]), atol=1e-5)


def reference(model: EmbeddingModel, texts: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Return what PyTorch computes: the first token's vector, of unit length."""
    import torch  # noqa: PLC0415
    from transformers import AutoModel, AutoTokenizer  # noqa: PLC0415

    inputs = AutoTokenizer.from_pretrained(model.folder)(texts, padding=True, return_tensors="pt")
    with torch.no_grad():
        first = AutoModel.from_pretrained(model.folder).eval()(**inputs).last_hidden_state[:, 0]
    unit: np.ndarray[tuple[int, int], np.dtype[np.float32]] = torch.nn.functional.normalize(first, dim=1).numpy()
    return unit


def test_a_full_disk_leaves_no_half_model(tiny: EmbeddingModel, tmp_path: Path) -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
    process = start(tiny, tmp_path, limit)
    _, errors = process.communicate(timeout=120)

    assert process.returncode == 1
    assert "cannot be converted" in errors
    assert "the room on the disk" in errors
    assert not list(tmp_path.glob("*-fp32"))


def test_a_cache_that_cannot_be_written_is_named(tiny: EmbeddingModel, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in the way")

    with pytest.raises(ModelError, match=r"cannot be kept in .*cache.*RAG_EMBED__CACHE_DIR"):
        converted_model(tiny, "fp32", tmp_path / "cache")


@pytest.mark.fault("G2")
@pytest.mark.parametrize("file_name", ["model.xml", "model.bin"])
def test_a_damaged_model_is_named_with_its_remedy(tiny: EmbeddingModel, tmp_path: Path, file_name: str) -> None:
    folder = tmp_path / f"{tiny.weights_hash}-cls-int8"
    folder.mkdir()
    made = converted_model(load_embedding_model("minilm"), "int8", HOME / "var" / "models").parent
    for name in ("model.xml", "model.bin"):
        content = (made / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2] if name == file_name else content)

    with pytest.raises(ModelError, match=r"cannot be loaded: .*Delete .*-cls-int8; it is made again"):
        OpenVINOEmbedding(tiny, precision="int8", cache_dir=tmp_path)
