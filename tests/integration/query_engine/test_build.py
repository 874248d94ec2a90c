"""Engines over real corpora: how many are open, what is known of those that are not, and too few descriptors."""

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from api.jobs.ingester import Ingester
from errors import (
    CorpusError,
    IndexMismatchError,
    SettingsError,
    StorageError,
    StoreUnavailableError,
    UnknownCorpusError,
)
from index.corpus import Corpus
from index.layout.access import Reading
from index.layout.lock import CorpusLock
from index.vectors.chroma import Collection
from ingestion.schema import RunOptions
from query_engine import build
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.runtime import memory
from settings import EmbedSettings, IndexSettings, Settings
from tests.servers.databases import chroma_server

REPOSITORY = Path(__file__).parents[3]
NAMES = [f"c{number}" for number in range(6)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Path:
    """Return an index folder with six corpora of one document each."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "wind.md").write_text("# Wind\n\nAlbert Betz published the limit in 1919.")
    settings = settings_of(folder / "index", model_cache)
    with closing(Engines(settings)) as engines:
        Ingester(engines, settings).ingest(
            NAMES[0], folder / "wind.md", RunOptions(), lambda _: None, threading.Event()
        )
    for name in NAMES[1:]:
        shutil.copytree(folder / "index" / NAMES[0], folder / "index" / name)
    return folder / "index"


@pytest.fixture
def index(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "index"))


@pytest.fixture(autouse=True)
def _two_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("query_engine.build.OPEN_CORPORA", 2)


@pytest.fixture
def settings(index: Path, model_cache: Path) -> Settings:
    return settings_of(index, model_cache)


@pytest.fixture
def engines(settings: Settings) -> Iterator[Engines]:
    with closing(Engines(settings)) as opened:
        yield opened


def settings_of(index: Path, model_cache: Path) -> Settings:
    return Settings(index=IndexSettings(dir=index), embed=EmbedSettings(cache_dir=model_cache))


def is_free(folder: Path) -> bool:
    """Say whether another could take the corpus; raises CorpusLockedError if not."""
    CorpusLock(folder).release()
    return True


def test_no_more_corpora_are_open_than_the_settings_say_and_all_can_be_asked(engines: Engines, index: Path) -> None:
    for name in [*NAMES, *NAMES]:
        with engines.lease(name) as engine:
            assert engine.retrieve(Inquiry("Who published the limit?")).passages
    assert engines.status()["corpora"].keys() == {"c4", "c5"}
    assert all(is_free(index / name) for name in NAMES[:4])


def test_a_corpus_that_is_in_use_stays_open(engines: Engines) -> None:
    with engines.lease("c0") as engine:
        for name in NAMES[1:]:
            engines.lease(name).release()
        assert engine.retrieve(Inquiry("Who published the limit?")).passages
        assert "c0" in engines.status()["corpora"]
    assert engines.lease_open("c1") is None


def test_several_corpora_are_asked_as_one_and_an_equal_document_is_found_once(engines: Engines) -> None:
    with engines.lease("c1+c0") as engine:
        passages = engine.retrieve(Inquiry("Who published the limit?")).passages
        assert [(passage.corpus, passage.doc_id) for passage in passages] == [("c0", "wind.md")]
        assert engine.corpus.documents.count() == 2
    one, other = (engines.lease(name) for name in ("c2", "c3"))  # there is room: both were given back

    assert one.item.retrieve(Inquiry("Who published the limit?")).passages[0].corpus == ""
    one.release()
    other.release()


def test_one_of_another_embedding_model_is_named_and_the_others_are_given_back(engines: Engines, index: Path) -> None:
    manifest = index / "c1" / "manifest.json"
    changed = json.loads(manifest.read_text())
    changed["identity"]["weights_hash"] = "other"
    manifest.write_text(json.dumps(changed))

    with pytest.raises(IndexMismatchError, match="c1"):
        engines.lease("c0+c1")

    for lease in [engines.lease(name) for name in ("c2", "c3")]:
        lease.release()


def test_several_are_open_only_if_each_is(engines: Engines) -> None:
    with engines.lease("c0"):
        assert engines.lease_open("c0+c1") is None
        with engines.lease("c1"):
            lease = engines.lease_open("c0+c1")
            assert lease is not None
            assert lease.item.fingerprint() not in {engines.get("c0").fingerprint(), engines.get("c1").fingerprint()}
            lease.release()


def test_an_ingestion_holds_its_corpus_and_its_documents_are_known_at_once(
    engines: Engines, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "tides.md").write_text("# Tides\n\nThe barrage of La Rance opened in 1966.")
    seen: list[int] = []

    def look(_: object) -> None:
        for name in NAMES[:4]:
            engines.lease(name).release()
        seen.append("c5" in engines.status()["corpora"])

    Ingester(engines, settings).ingest("c5", tmp_path / "tides.md", RunOptions(), look, threading.Event())

    assert seen
    assert all(seen)
    assert engines.status()["corpora"]["c5"]["documents"] == 2


def test_an_open_corpus_is_dropped_once_nobody_asks_it(engines: Engines, index: Path) -> None:
    with engines.lease("c1"):
        dropped = threading.Thread(target=engines.drop, args=("c1",))
        dropped.start()
        assert (index / "c1").exists()
    dropped.join()

    assert not (index / "c1").exists()
    with pytest.raises(UnknownCorpusError):
        engines.lease("c1")
    with pytest.raises(UnknownCorpusError):
        engines.drop("c1")
    shutil.copytree(index / "c2", index / "c1")
    engines.lease("c1").release()


def test_an_open_corpus_gets_another_name_unless_one_has_it(engines: Engines, index: Path) -> None:
    engines.lease("c1").release()

    engines.rename("c1", "other")

    engines.lease("other").release()
    assert not (index / "c1").exists()
    with pytest.raises(UnknownCorpusError):
        engines.lease("c1")
    with pytest.raises(SettingsError):
        engines.rename("other", "c2")
    engines.rename("other", "c1")


def test_what_is_on_disk_is_counted_without_opening_it(engines: Engines, index: Path) -> None:
    held = CorpusLock(index / "c0")

    engines.look_at_disk()

    held.release()
    status = engines.status()
    assert (status["on_disk"], status["corpora"], status["refused"]) == ({"c0": 1}, {}, {})


def test_a_refused_corpus_is_remembered_and_opened_again_only_for_a_question(engines: Engines, index: Path) -> None:
    for name in NAMES[1:]:
        shutil.rmtree(index / name)
    manifest = index / "c0" / "manifest.json"
    sound = manifest.read_text()
    broken = json.loads(sound)
    broken["identity"]["weights_hash"] = "other"
    manifest.write_text(json.dumps(broken))
    with pytest.raises(IndexMismatchError):
        engines.lease("c0")
    manifest.write_text(sound)

    engines.look_at_disk()
    assert engines.status()["refused"]["c0"]["code"] == "index_mismatch"

    engines.lease("c0").release()
    assert engines.status()["refused"] == {}


@pytest.mark.parametrize("failure", [StoreUnavailableError, StorageError])
def test_a_corpus_whose_server_was_down_or_disk_full_is_opened_again_after_a_while(
    failure: type[CorpusError], engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[str] = []

    def open_down(name: str, *_: object, **__: object) -> Corpus:
        tries.append(name)
        raise failure("It is down.", "Start it.")

    with monkeypatch.context() as down:
        down.setattr(build, "open_corpus", open_down)
        with pytest.raises(failure):
            engines.lease("c0")
        engines.look_at_disk()
        engines.look_at_disk()  # too soon
        assert engines.status()["refused"]["c0"]["code"] == failure.code
    assert tries == ["c0", "c0"]

    monkeypatch.setattr(engines, "_next_retry_s", 0.0)
    engines.look_at_disk()
    status = engines.status()
    assert (status["refused"], status["corpora"]["c0"]["documents"]) == ({}, 1)


def test_an_open_corpus_whose_server_is_silent_is_told_as_long_as_it_is(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    def silent(_: Collection) -> None:
        raise StoreUnavailableError("The vector server is down.", "Start it.")

    engines.lease("c0").release()
    with monkeypatch.context() as down:
        down.setattr(Collection, "probe", silent)
        engines.look_at_disk()
        assert engines.status()["refused"]["c0"]["code"] == "store_unavailable"

    engines.look_at_disk()
    assert engines.status()["refused"] == {}


def test_a_look_makes_a_reader_that_nobody_asks_follow_the_writer(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "LOOK_S", 0.0)
    (tmp_path / "chroma").mkdir()
    with chroma_server(tmp_path / "chroma") as chroma:
        index = IndexSettings(dir=tmp_path / "index", chroma_url=chroma.url)
        settings = settings_of(tmp_path, model_cache).model_copy(update={"index": index})
        with closing(Engines(settings)) as writer, closing(Engines(settings, access=Reading())) as reader:
            for number in range(2):
                (tmp_path / f"{number}.md").write_text(f"# Wind\n\nBetz published limit {number} in 1919.")
                run = (RunOptions(), lambda _: None, threading.Event())
                Ingester(writer, settings).ingest("c0", tmp_path / f"{number}.md", *run)
                if number == 0:
                    reader.lease("c0").release()
            known, written = (engines.status()["corpora"]["c0"] for engines in (reader, writer))
            assert known["generation"] < written["generation"]

            reader.look_at_disk()

            assert reader.status()["corpora"]["c0"] == written
            assert written["documents"] == 2


def test_after_an_answer_over_given_documents_freed_memory_is_given_back(
    engines: Engines, monkeypatch: pytest.MonkeyPatch
) -> None:
    given_back: list[bool] = []
    monkeypatch.setattr(memory, "give_back", lambda: given_back.append(True))

    with engines.for_documents([]):
        assert given_back == []

    assert given_back == [True]


IN_A_CHILD = """
import os, resource, sys
from pathlib import Path
from errors import TooManyCorporaError
from query_engine.build import Engines
from query_engine.inquiry import Inquiry
from query_engine.runtime import memory
from query_engine.runtime import open_files
from settings import EmbedSettings, IndexSettings, Settings

settings = Settings(index=IndexSettings(dir=Path(sys.argv[1])), embed=EmbedSettings(cache_dir=Path(sys.argv[2])))
"""
FEW_FILES = """
engines = Engines(settings)
engines._open_engines._wait_s = 0
resource.setrlimit(resource.RLIMIT_NOFILE, (open_files.RESERVED_FILES + 80,) * 2)
leases = []
try:
    for name in engines.names():
        leases.append(engines.lease(name))
except TooManyCorporaError as error:
    refused = error.code
for lease in leases:
    lease.release()
for name in engines.names():
    with engines.lease(name) as engine:
        engine.retrieve(Inquiry("Who published the limit?"))
print(refused, len(leases) >= 2, engines.status()["refused"])
"""
NO_FILES = """
open_files.has_room_for = lambda corpora: True
engines = Engines(settings)
engines.lease("c0")
before = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 6, before[1]))
try:
    engines.lease("c1")
except TooManyCorporaError as error:
    refused = error.code
resource.setrlimit(resource.RLIMIT_NOFILE, before)
found = engines.lease("c1").item.retrieve(Inquiry("Who published the limit?")).passages
print(refused, bool(found), engines.status()["refused"])
"""


@pytest.mark.parametrize(
    ("code", "said"), [(FEW_FILES, "too_many_corpora True {}"), (NO_FILES, "too_many_corpora True {}")]
)
def test_a_low_limit_of_open_files_bounds_the_open_corpora(
    index: Path, model_cache: Path, code: str, said: str
) -> None:
    child = subprocess.run(
        [sys.executable, "-c", IN_A_CHILD + code, str(index), str(model_cache)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )

    assert child.stdout.strip() == said, child.stderr
