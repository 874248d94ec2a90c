from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter
from gguf.quants import dequantize, quantize

from errors import ModelError
from query_engine.llms.gguf import exact_gguf, packaged_gguf, read_header

Q4_1, Q8_0 = GGMLQuantizationType.Q4_1, GGMLQuantizationType.Q8_0


@pytest.fixture
def weights() -> npt.NDArray[np.float32]:
    return np.random.default_rng(7).normal(size=(8, 64)).astype(np.float32)


@pytest.fixture
def model(tmp_path: Path, weights: npt.NDArray[np.float32]) -> Path:
    """A tiny model file with one asymmetric 4-bit tensor and one exact one."""
    path = tmp_path / "tiny.gguf"
    writer = GGUFWriter(path, "llama")
    writer.add_context_length(8192)
    writer.add_name("tiny")
    writer.add_token_list(["<a>", "b", "ü"])
    writer.add_token_scores([0.0, 1.0, 2.0])
    writer.add_tensor("rough", quantize(weights, Q4_1), raw_dtype=Q4_1)
    writer.add_tensor("exact", weights)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_header_tells_context_and_formats(model: Path) -> None:
    header = read_header(model)

    assert header.context_tokens == 8192
    assert header.formats == {Q4_1, GGMLQuantizationType.F32}


def test_a_truncated_file_is_refused_wherever_it_ends(model: Path, tmp_path: Path) -> None:
    whole = model.read_bytes()
    cut = tmp_path / "cut.gguf"
    for size in range(0, len(whole), 41):
        cut.write_bytes(whole[:size])
        with pytest.raises(ModelError, match=r"cut\.gguf (is damaged|cannot be read).* Download it again"):
            read_header(cut)


@pytest.mark.parametrize("content", [b"", b"hello", b"GGUF" + b"\xff" * 100, b"<html>not found</html>" * 100])
def test_other_content_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.gguf"
    path.write_bytes(content)

    with pytest.raises(ModelError, match="not a complete GGUF file"):
        read_header(path)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent\.gguf cannot be read: No such file"):
        read_header(tmp_path / "absent.gguf")


def test_an_inexact_file_is_rewritten_once_with_the_same_weights(model: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache" / "models"
    rewritten = exact_gguf(model, read_header(model), cache)
    written = rewritten.stat().st_mtime_ns

    assert exact_gguf(model, read_header(model), cache) == rewritten
    assert rewritten.stat().st_mtime_ns == written
    assert list(cache.iterdir()) == [rewritten]
    header = read_header(rewritten)
    assert header.formats == {Q8_0, GGMLQuantizationType.F32}
    assert header.metadata == read_header(model).metadata
    before, after = ({each.name: each for each in GGUFReader(path).tensors} for path in (model, rewritten))
    rough = dequantize(before["rough"].data, Q4_1)
    assert np.abs(dequantize(after["rough"].data, Q8_0) - rough).max() < 0.02 * np.abs(rough).max()
    assert np.array_equal(after["exact"].data, before["exact"].data)


def test_an_exact_file_is_used_as_it_is(model: Path, tmp_path: Path) -> None:
    rewritten = exact_gguf(model, read_header(model), tmp_path / "cache")

    assert exact_gguf(rewritten, read_header(rewritten), tmp_path / "other") == rewritten
    assert not (tmp_path / "other").exists()


def test_a_cache_that_cannot_be_written_is_named(model: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(ModelError, match=r"cannot be converted into .*file.* RAG_EMBED__CACHE_DIR"):
        exact_gguf(model, read_header(model), tmp_path / "file")


def test_the_packaged_model_is_found_without_importing_its_package() -> None:
    assert packaged_gguf().is_file()
