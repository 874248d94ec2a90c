"""The packaged embedding model, converted and run for real."""

import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Encoding

from errors import ModelError, SettingsError
from index.build import Embedding
from index.embedding import openvino
from index.embedding.batch import embed_documents
from index.embedding.compiled_model import CompiledModel
from index.embedding.model import EmbeddingModel, TokenCounter, load_embedding_model, token_arrays
from index.embedding.model_cache import converted_model
from index.embedding.openvino import OpenVINOEmbedding
from settings import ChunkSettings, EmbedSettings, Settings

REPOSITORY = Path(__file__).parents[4]
TEXTS = ["Steam engines were built by Newcomen.", "Cats sleep.", "A turbine turns in the wind. " * 20, "Newcomen"]


@pytest.fixture(scope="module")
def model() -> EmbeddingModel:
    return load_embedding_model("minilm")


@pytest.fixture(scope="module")
def make(model: EmbeddingModel, model_cache: Path) -> Callable[..., OpenVINOEmbedding]:
    return lambda precision, **prefixes: OpenVINOEmbedding(
        model, precision=precision, cache_dir=model_cache, **prefixes
    )


@pytest.mark.promise("B05")
def test_vectors_are_those_of_sentence_transformers(
    make: Callable[..., OpenVINOEmbedding], model: EmbeddingModel
) -> None:
    sentence_transformers = pytest.importorskip("sentence_transformers")
    reference = sentence_transformers.SentenceTransformer(str(model.folder), device="cpu").encode(
        TEXTS, normalize_embeddings=True
    )

    assert np.allclose(make("fp32").encode(TEXTS), reference, atol=1e-4)
    assert (np.sum(make("bf16").encode(TEXTS) * reference, axis=1) > 0.999).all()
    assert (np.sum(make("int8").encode(TEXTS) * reference, axis=1) > 0.99).all()


def test_order_and_batching_do_not_change_a_vector(make: Callable[..., OpenVINOEmbedding]) -> None:
    embedder = make("fp32")
    alone = [embedder.encode([text])[0] for text in TEXTS]

    assert np.allclose(embedder.encode(TEXTS * 10), np.array(alone * 10), atol=1e-5)


def test_batches_have_few_widths_and_the_widest_comes_first(
    make: Callable[..., OpenVINOEmbedding], monkeypatch: pytest.MonkeyPatch
) -> None:
    widths: list[int] = []

    def noted(encodings: list[Encoding], names: list[str], width: int | None = None) -> dict[str, Any]:
        assert width is not None
        widths.append(width)
        return token_arrays(encodings, names, width)

    embedder = make("fp32")
    monkeypatch.setattr(openvino, "token_arrays", noted)
    monkeypatch.setattr(openvino, "ThreadPoolExecutor", lambda _: ThreadPoolExecutor(1))  # in order
    embedder.encode(["wind " * words for words in range(1, 241, 4)])

    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) <= 11


SHAPES_IN_A_CHILD = """
import sys
from pathlib import Path
import numpy, psutil
from index.embedding.model import load_embedding_model, token_arrays
from index.embedding.openvino import OpenVINOEmbedding

embedder = OpenVINOEmbedding(load_embedding_model("minilm"), precision="int8", cache_dir=Path(sys.argv[1]))

def meet(rows, width):
    tokens = numpy.ones((rows, width), numpy.int64)
    embedder._compiled.run(lambda one: one.create_infer_request().infer(dict.fromkeys(embedder._inputs, tokens)))

meet(16, 240)
before = psutil.Process().memory_info().rss
for width in range(24, 216, 24):
    for rows in range(1, 9):
        meet(rows, width)
print((psutil.Process().memory_info().rss - before) // 1_000_000)
"""


def test_shapes_that_are_met_once_do_not_stay_in_memory(model_cache: Path) -> None:
    command = [sys.executable, "-c", SHAPES_IN_A_CHILD, str(model_cache)]

    grown_mb = int(subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout)

    assert grown_mb < 150  # 64 shapes: 190 to 230 MB if all stay, 90 to 115 if not


def test_many_threads_share_one_model(make: Callable[..., OpenVINOEmbedding]) -> None:
    embedder = make("fp32")
    with ThreadPoolExecutor(8) as pool:
        vectors = list(pool.map(embedder.get_query_embedding, TEXTS * 8))

    assert np.allclose(np.array(vectors), np.array([embedder.get_query_embedding(text) for text in TEXTS] * 8))


@pytest.mark.promise("G30")
def test_prefixes_are_put_before_questions_and_passages(make: Callable[..., OpenVINOEmbedding]) -> None:
    prefixed, plain = make("fp32", query_prefix="query: ", document_prefix="passage: "), make("fp32")

    assert prefixed.get_query_embedding("wind") == plain.get_query_embedding("query: wind")
    assert prefixed.get_text_embedding("wind") == plain.get_text_embedding("passage: wind")
    assert np.array_equal(embed_documents(prefixed, ["wind"])[0], plain.get_text_embedding("passage: wind"))


TWO_MODELS = """
import gc, signal, sys
from pathlib import Path
from index.embedding.openvino import OpenVINOEmbedding
from index.embedding.model import load_embedding_model

model = load_embedding_model("minilm")
first, second = (OpenVINOEmbedding(model, precision="int8", cache_dir=Path(sys.argv[1])) for _ in range(2))
del first
gc.collect()
del second
gc.collect()
signal.signal(signal.SIGTERM, lambda *_: print("stopped in order", flush=True))
signal.raise_signal(signal.SIGTERM)
"""


def test_a_process_that_has_let_go_of_two_models_still_stops_in_order_at_a_signal(model_cache: Path) -> None:
    command = [sys.executable, "-c", TWO_MODELS, str(model_cache)]
    done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=False, timeout=60)

    assert (done.returncode, done.stdout) == (0, "stopped in order\n"), done.stderr


def test_no_texts_give_no_vectors(make: Callable[..., OpenVINOEmbedding]) -> None:
    assert make("fp32").encode([]).shape == (0, 384)


def test_an_unknown_model_is_named() -> None:
    with pytest.raises(ModelError, match=r"no embedding model 'nobody/nothing'.*RAG_EMBED__MODEL"):
        load_embedding_model("nobody/nothing")


def test_a_folder_without_weights_is_refused(tmp_path: Path, model: EmbeddingModel) -> None:
    (tmp_path / "config.json").write_text((model.folder / "config.json").read_text())

    with pytest.raises(ModelError, match="holds no weights"):
        load_embedding_model(str(tmp_path))


@pytest.mark.fault("G2")
@pytest.mark.slow
def test_damaged_weights_are_refused_in_one_line(tmp_path: Path, model: EmbeddingModel) -> None:
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_text((model.folder / name).read_text())
    (tmp_path / "model.safetensors").write_bytes(b"torn")

    with pytest.raises(ModelError, match="cannot be converted") as caught:
        converted_model(load_embedding_model(str(tmp_path)), "fp32", tmp_path / "cache")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("prefix", "sizes", "message"),
    [
        ("", {"leaf_tokens": 300}, r"300 tokens would be cut.*254"),
        ("passage: ", {"leaf_tokens": 253}, r"253 tokens would be cut.*252 or less"),
        ("", {"middle_tokens": 100}, "must fall from root to leaf"),
    ],
)
def test_leaves_that_the_model_would_cut_and_sizes_that_do_not_fall_are_refused(
    prefix: str, sizes: dict[str, int], message: str
) -> None:
    with pytest.raises(SettingsError, match=message):
        Embedding(Settings(embed=EmbedSettings(document_prefix=prefix), chunk=ChunkSettings(**sizes)))


def test_the_document_prefix_counts_in_the_window() -> None:
    prefixed = EmbedSettings(document_prefix="passage: ")

    assert Embedding(Settings(embed=prefixed, chunk=ChunkSettings(leaf_tokens=252))).passage_tokens == 252


def test_a_missing_gpu_is_named(model_cache: Path) -> None:
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")

    with pytest.raises(ModelError, match=r"cannot be loaded on cuda.*RAG_EMBED__DEVICE=cpu"):
        _ = Embedding(Settings(embed=EmbedSettings(device="cuda", cache_dir=model_cache))).embedder


def test_tokens_are_counted_as_the_model_counts_them(model: EmbeddingModel) -> None:
    for text in (
        *TEXTS,
        "wind " * 500,
        "x" * 300 + " wind",
        "Newcomen's  engine,\tbuilt in 1712: 3.5 kW!\n\n世界 naïve café",
        "",
        " ",
    ):
        assert model.count_tokens(text) == len(model.tokenizer.encode(text, add_special_tokens=False).ids)


def test_the_memory_of_counts_is_bounded(model: EmbeddingModel) -> None:
    count = TokenCounter(model.tokenizer, remembered_words=10)
    words = [f"word{i}" for i in range(50)]

    assert [count(word) for word in words * 2] == [len(model.tokenizer.encode(word).ids) - 2 for word in words * 2]


def test_a_model_that_broke_for_want_of_memory_is_compiled_again() -> None:
    made: list[list[str]] = []

    def make() -> list[str]:
        made.append([])
        return made[-1]

    def work(compiled: list[str]) -> int:
        if compiled is made[0]:
            raise RuntimeError("Failed to broadcast-merge input shapes")
        return len(made)

    model = CompiledModel(make)

    assert [model.run(work) for _ in range(3)] == [2, 2, 2]


def test_what_fails_with_a_new_model_too_is_raised_each_time_anew() -> None:
    def work(_: object) -> None:
        raise MemoryError

    model = CompiledModel(object)

    for _ in range(2):
        with pytest.raises(MemoryError):
            model.run(work)
