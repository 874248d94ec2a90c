"""Ingestion and questions with an embedding model on a server: real stores, a scripted server."""

from argparse import Namespace
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import ingestion.pipeline.chunk_embed
from errors import IndexMismatchError, ModelError, ModelServerError
from index.build import Embedding, open_corpus
from ingestion.build import ingest
from ingestion.commands import doctor
from ingestion.maintenance.reembed import reembed
from query_engine.build import Engines
from settings import EmbedSettings, IndexSettings, Settings
from tests.servers.scripted_models import Script, ScriptedModels, by_another_model, by_words

NAME = "lakes"


@pytest.fixture
def server() -> Iterator[ScriptedModels]:
    with ScriptedModels() as server:
        yield server


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number:02}.txt").write_text(f"Lake {number} is {number + 10} metres deep.")
    return folder


@pytest.fixture
def settings(tmp_path: Path, server: ScriptedModels, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setattr("index.embedding.openai_server.RETRIES", 0)
    embed = EmbedSettings(base_url=server.base_url, model="scripted", batch_texts=1, concurrency=1)
    return Settings(embed=embed, index=IndexSettings(dir=tmp_path / "index", corpus=NAME))


def documents(settings: Settings) -> int:
    with closing(open_corpus(NAME, settings, Embedding(settings).manifest)) as corpus:
        return corpus.documents.count()


def test_a_server_that_fails_half_way_costs_nothing_that_was_committed(
    files: Path, settings: Settings, server: ScriptedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingestion.pipeline.chunk_embed, "BATCH_LEAVES", 3)
    # The three fixed texts; then the first 6 leaves, which are embedded together, and a fixed text.
    server.play(*[Script()] * (3 + 7), Script(fault="nan"))
    with pytest.raises(ModelError, match="no finite numbers"):
        ingest(files, settings, corpus=NAME)
    assert documents(settings) == 6

    server.play(Script())
    before = len(server.requests)
    summary = ingest(files, settings, corpus=NAME)

    assert (summary.new, summary.unchanged) == (6, 6)
    sent = [text for request in server.requests[before:] for text in request.body["input"]]
    assert sum("metres deep" in text for text in sent) == 6


def test_the_doctor_asks_the_server(
    files: Path, settings: Settings, server: ScriptedModels, capsys: pytest.CaptureFixture[str]
) -> None:
    ingest(files, settings, corpus=NAME)
    arguments = Namespace(corpus=NAME, full=False, repair=False, json=False)
    assert doctor.run(arguments, settings) == 0
    assert f"ok     model: The server {server.base_url} runs the model that made the corpus." in capsys.readouterr().out

    server.play(Script(status=401))
    assert doctor.run(arguments, settings) == 1
    said = capsys.readouterr().out
    assert "WRONG  model" in said
    assert "refused the key (HTTP 401). Set RAG_EMBED__API_KEY." in said


def test_another_model_behind_the_url_is_refused_until_the_corpus_is_embedded_with_it(
    files: Path, settings: Settings, server: ScriptedModels
) -> None:
    ingest(files, settings, corpus=NAME)
    server.vectors = by_another_model
    with pytest.raises(IndexMismatchError, match="now runs another model"):
        ingest(files, settings, corpus=NAME)
    with closing(Engines(settings)) as engines:
        with pytest.raises(IndexMismatchError, match="now runs another model"):
            engines.lease()
        assert engines.status()["refused"][NAME]["code"] == "index_mismatch"

    assert reembed(NAME, settings).embedded == 12
    assert reembed(NAME, settings).unchanged == 12
    with closing(Engines(settings)) as engines, engines.lease() as engine:
        vectors = engine.corpus.vectors
        stored = vectors.fetch(list(vectors.ids())[:1])
        assert engines.status()["embedding"] == "scripted"
    found = next(iter(stored.values()))
    texts = [f"Lake {number} is {number + 10} metres deep." for number in range(12)]
    given = [text for request in server.requests for text in request.body["input"] if "metres" in text]
    expected = by_another_model(given)
    assert max(found @ (expected / np.linalg.norm(expected, axis=1, keepdims=True)).T) > 0.999
    assert max(found @ by_words(texts).T) < 0.9


def test_a_server_that_is_down_is_said_to_be_down_and_found_again(
    files: Path, settings: Settings, server: ScriptedModels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remote.PAUSE_S", 0)
    ingest(files, settings, corpus=NAME)
    server.play(Script(cut="before"))
    with pytest.raises(ModelServerError, match="ended its reply"):
        ingest(files, settings, corpus=NAME)
    assert documents(settings) == 12  # what needs no vectors goes on

    with closing(Engines(settings)) as engines:
        with pytest.raises(ModelServerError):
            engines.lease()
        assert engines.status()["refused"][NAME]["code"] == "model_server_unavailable"
        server.play(Script())
        engines.look_at_disk()
        assert not engines.status()["refused"]
        assert engines.status()["corpora"][NAME]["documents"] == 12
