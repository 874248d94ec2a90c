"""What a Ray run gives its workers, and what it says where Ray is missing. No cluster is started here."""

import socket
import sys
import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

from errors import ClusterError, SettingsError
from ingestion.distributed.ray_run import RayCrew, RayReader, for_workers
from ingestion.reading.files import SourceFile
from settings import EmbedSettings, IngestSettings, LLMSettings, Settings

SETTINGS = Settings(
    embed=EmbedSettings(device="cuda:1", cache_dir=Path("cache")),
    ingest=IngestSettings(ray_address="local"),
    llm=LLMSettings(api_key=SecretStr("secret")),
)


def test_workers_get_no_keys_and_paths_that_hold_in_any_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)

    given = for_workers(SETTINGS)

    assert given.llm.api_key is None
    assert given.embed.cache_dir == tmp_path / "cache"
    assert (given.chunk, given.ingest) == (SETTINGS.chunk, SETTINGS.ingest)


def test_a_worker_embeds_on_one_core_and_sees_only_the_gpu_it_was_given() -> None:
    given = for_workers(SETTINGS)

    assert (given.embed.threads, given.embed.device) == (1, "cuda")


def test_without_ray_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)

    with pytest.raises(SettingsError, match=r"Ray is not installed.*pip install -e '\.\[ray\]'"):
        RayCrew(SETTINGS, papers=False, stop=threading.Event())


def test_a_run_that_finds_nothing_to_read_starts_no_cluster() -> None:
    with RayCrew(SETTINGS, papers=False, stop=threading.Event()) as crew:
        passed = list(RayReader(crew).ahead(iter(range(500)), lambda _: None))

        assert passed == list(range(500))
        assert crew.size == 0


def test_a_cluster_that_is_not_there_is_named_at_once(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    settings = Settings(ingest=IngestSettings(ray_address=address))
    file = SourceFile(tmp_path / "a.md", "a.md", 1)

    with RayCrew(settings, papers=False, stop=threading.Event()) as crew:
        reader = RayReader(crew)
        with pytest.raises(ClusterError, match=f"{address}.*cannot be had.*ray start"):
            next(reader.ahead(iter([file]), lambda item: item))
