"""Damaged and hostile files of every format do no harm to others: each is read, or refused with a reason."""

import random
from collections import defaultdict
from contextlib import closing
from pathlib import Path

import pytest

from index.build import Embeddings, open_corpus
from ingestion.build import ingest
from ingestion.reading.format_table import FORMATS, IMAGES
from ingestion.reading.sandbox import KILLED, TOO_LONG
from settings import EmbedSettings, IndexSettings, IngestSettings, Settings
from tests.zoo.damage import damaged, hostile
from tests.zoo.kinds import KINDS, PICTURES

CORPUS = "zoo"
SEED, FLIPS = 7, 1
# The size limit is low, to keep the bombs small.
MAX_FILE_MB, BOMB_MB = 16, 64
WORDS = "the harbour of a small town keeps its boats in winter and mends nets by the light of lamps".split()


@pytest.mark.timeout(600)
def test_damaged_and_hostile_files_harm_no_other_file(tmp_path: Path, model_cache: Path) -> None:
    settings = Settings(
        index=IndexSettings(dir=tmp_path / "index"),
        embed=EmbedSettings(cache_dir=model_cache),
        ingest=IngestSettings(max_file_mb=MAX_FILE_MB),
    )
    healthy, bad = written(tmp_path / "files")

    summary = ingest(tmp_path / "files", settings, corpus=CORPUS)

    texts: dict[str, str] = defaultdict(str)
    with closing(open_corpus(CORPUS, settings, Embeddings(settings).of(CORPUS).opening_manifest())) as corpus:
        for document in corpus.documents.each():
            texts[document.source] += document.text.replace("\n", " ")
    reasons: dict[str, list[str]] = defaultdict(list)
    for entry in (*summary.failed, *summary.skipped, *summary.left_out):
        reasons[entry["source"]].append(entry["reason"])
    marks = [(path, mark) for path, name in healthy.items() for mark in (f"Begin{name} ", f"end{name}.")]
    lost = [path for path, mark in marks if mark not in texts[path]]
    refused = {path: reasons[path] for path in healthy if reasons[path]}
    vanished = [path for path in bad if not texts[path] and not reasons[path]]
    told = [f"{path}: {reason}" for path in bad for reason in reasons[path]]
    assert (lost, refused, vanished) == ([], {}, [])
    assert [one for one in told if KILLED in one or TOO_LONG in one] == []


def written(folder: Path) -> tuple[dict[str, str], list[str]]:
    """Write healthy files before, between and behind bad ones.

    Returns:
        Path of a healthy file -> name in its text, and the paths of the bad ones.
    """
    chance = random.Random(SEED)  # not for secrets
    healthy: dict[str, str] = {}
    copied = {}
    for suffix, make in KINDS.items():
        (folder / suffix[1:]).mkdir(parents=True)
        for place in ("a", "i", "z"):
            name = f"{place}{len(healthy)}"
            healthy[f"{suffix[1:]}/{place}{suffix}"] = name
            first, second = (" ".join(chance.choices(WORDS, k=60)) for _ in range(2))
            copied[suffix] = make(f"Harbour {name}", [f"Begin{name} {first}.", f"{second} end{name}."])
            (folder / suffix[1:] / f"{place}{suffix}").write_bytes(copied[suffix])
    bad = []
    for name, data in (*damaged(copied, FLIPS, SEED), *hostile(BOMB_MB)):
        suffix = name[name.index(".") :]
        bad.append(f"{suffix[1:]}/{name}")
        (folder / bad[-1]).write_bytes(data)
    return healthy, bad


def test_every_suffix_that_is_read_has_a_file() -> None:
    refused = {name for name, kind in FORMATS.items() if kind == "ole"}
    further_sections = {f".{section}" for section in range(2, 10)}

    assert {*FORMATS, *IMAGES} - refused - further_sections <= {*KINDS, *PICTURES, ".jpeg", ".tif"}
