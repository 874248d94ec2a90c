"""A run spread over a local Ray cluster leaves the same corpus as a run in one process."""

import gzip
import json
from pathlib import Path
from typing import Any

import psutil
import pytest

from index.build import Embedding, open_corpus
from ingestion.build import ingest
from ingestion.distributed.ray_run import RayCrew
from ingestion.schema import Summary
from settings import EmbedSettings, IndexSettings, IngestSettings, Settings

# Ray's own client leaves sockets and files to the garbage collector.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning")]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    folder = tmp_path / "files"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number:02}.md").write_text(
            f"# Turbine {number}\n\n" + f"Turbine {number} turns in the wind. " * 60
        )
    rows = [{"id": f"dam-{number}", "text": f"Dam {number} holds water back. " * 40} for number in range(12)]
    rows.insert(5, {"id": "dam-1", "text": "A second dam of the same name."})
    text = "".join(json.dumps(row) + "\n" for row in rows) + "{broken\n"
    (folder / "dams.jsonl.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "empty.txt").write_text(" \n")
    return folder


def settings_of(folder: Path, model_cache: Path, address: str | None) -> Settings:
    return Settings(
        index=IndexSettings(dir=folder / "index"),
        embed=EmbedSettings(cache_dir=model_cache),
        ingest=IngestSettings(ray_address=address, ray_workers=2),
    )


def contents(settings: Settings, corpus: str) -> tuple[str, dict[str, str], int, int]:
    opened = open_corpus(corpus, settings, Embedding(settings).manifest)
    try:
        documents = opened.documents
        return documents.state(), documents.versions(), opened.vectors.count(), opened.lexical_index.count()
    finally:
        opened.close()


def counts(summary: Summary) -> dict[str, Any]:
    return {name: value for name, value in summary.to_dict().items() if name not in ("corpus", "duration_s")}


def ray_workers() -> list[psutil.Process]:
    children = psutil.Process().children(recursive=True)
    return [process for process in children if process.name().startswith("ray::Worker")]


def test_a_spread_run_leaves_the_same_corpus_though_its_workers_are_killed(
    tmp_path: Path, model_cache: Path, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, spread = (settings_of(tmp_path, model_cache, address) for address in (None, "local"))
    killed: list[int] = []
    wait = RayCrew.wait

    def kill_then_wait(crew: RayCrew, reference: Any) -> None:
        if crew.size and not killed:
            for worker in ray_workers():
                worker.kill()
                killed.append(worker.pid)
        wait(crew, reference)

    monkeypatch.setattr(RayCrew, "wait", kill_then_wait)

    plain = ingest(files, here, corpus="plain")
    rayed = ingest(files, spread, corpus="spread")

    assert killed != []
    assert counts(rayed) == counts(plain)
    assert (plain.new, len(plain.failed)) == (20, 3)
    assert contents(here, "spread") == contents(here, "plain")
    assert ray_workers() == []
