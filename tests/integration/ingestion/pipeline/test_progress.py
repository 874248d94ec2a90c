"""How far a run says it is while one large file is embedded."""

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import index.embedding.batch
import ingestion.pipeline.chunk_embed
import ingestion.pipeline.embed
import ingestion.pipeline.pipeline
from index.embedding.batch import embed_documents
from ingestion.pipeline.pipeline import Pipeline
from ingestion.reading.files import list_files
from ingestion.schema import Progress
from settings import ChunkSettings
from tests.fakes.library import Library

PARAGRAPHS = 40


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    monkeypatch.setattr(ingestion.pipeline.pipeline, "BEAT_S", 0.001)
    monkeypatch.setattr(index.embedding.batch, "SLICE_TEXTS", 4)
    monkeypatch.setattr(ingestion.pipeline.chunk_embed, "BATCH_LEAVES", 8)
    library = Library(tmp_path, chunk=ChunkSettings(root_tokens=240, middle_tokens=120, leaf_tokens=60))
    yield library
    library.close()


def told(library: Library, monkeypatch: pytest.MonkeyPatch) -> list[Progress]:
    """Ingest; the embedder waits after each slice until the progress was told again."""
    seen: list[Progress] = []
    beat = threading.Event()

    def tell(progress: Progress) -> None:
        seen.append(progress)
        beat.set()

    def slowly(*arguments: Any) -> np.ndarray:
        beat.clear()
        beat.wait(10)
        return embed_documents(*arguments)

    monkeypatch.setattr(ingestion.pipeline.embed, "embed_documents", slowly)
    size = sum(path.stat().st_size for path in library.files.iterdir())
    pipeline = Pipeline(library.corpus, library.reader, library._preparation(), on_progress=tell)
    pipeline.run(list_files(library.files), str(library.files), totals=(1, size))
    return seen


def paragraph(number: int) -> str:
    return " ".join(f"word{number}x{place}" for place in range(50)) + "."


@pytest.mark.parametrize("name", ["long.txt", "rows.jsonl"])
def test_bytes_and_leaves_rise_while_a_file_is_embedded(
    library: Library, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    texts = [paragraph(number) for number in range(PARAGRAPHS)]
    records = "".join(json.dumps({"id": f"r{number}", "text": text}) + "\n" for number, text in enumerate(texts))
    (library.files / name).write_text("\n\n".join(texts) if name == "long.txt" else records)

    seen = told(library, monkeypatch)

    for values in ([one.bytes for one in seen], [one.leaves for one in seen]):
        assert values == sorted(values)
        assert len(set(values)) > 5
    assert seen[-1].bytes == seen[-1].bytes_total
    assert seen[-1].leaves == PARAGRAPHS
    assert any(one.source == name and one.outcome is None for one in seen)
