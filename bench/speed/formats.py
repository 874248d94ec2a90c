"""Measure how fast each format is read, and whether damaged or hostile files affect any other file.

Flow: `tests/zoo/` makes files -> **here** -> the ordinary ingestion of folders, twice -> a table, and the faults.

The first run compares and reads healthy files only (a dry run, in one thread, so that the time from file to file is the
file's own). The second one brings small healthy files, between damaged ones, into a corpus; its texts are
looked at.
"""

import random
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.figures import MB, keep, made, made_on
from eval.progress_bar import tell
from eval.tables import figure, of_items
from index.build import Embeddings, open_corpus
from ingestion.build import ingest
from ingestion.reading.sandbox import KILLED, TOO_LONG
from ingestion.schema import Progress, RunOptions, Summary
from settings import Settings
from tests.zoo.damage import damaged, hostile
from tests.zoo.kinds import KINDS, PICTURES, Make

CORPUS = "zoo"
SEED = 7
PARAGRAPHS, FEW_PARAGRAPHS, PICTURED_PARAGRAPHS, WORDS = 40, 3, 6, 60
# Size limit of the second run: a low one keeps the bombs small.
MAX_FILE_MB, BOMB_MB = 16, 64
_WORDS = (
    "the harbour of a small town keeps its boats in winter and mends nets by the light of lamps while ferries carry "
    "wool salt timber and letters to islands where people wait for news about weather prices and weddings"
).split()


@dataclass(slots=True)
class Kind:
    """Figures of the files of one suffix.

    Attributes:
        files: healthy files that were timed.
        mb: their size in 10^6 bytes.
        seconds: total time, from the end of the file before to the end of each.
        read: damaged and hostile files that became documents, at least in part.
        refused: damaged and hostile files that did not.
    """

    suffix: str
    files: int = 0
    mb: float = 0.0
    seconds: float = 0.0
    read: int = 0
    refused: int = 0


def run(settings: Settings, files: int, flips: int) -> int:
    """Measure in a folder that is thrown away; print a table, and the faults on stderr; return 1 if there are any."""
    with TemporaryDirectory(prefix="formats-", dir=made(settings.bench.dir)) as folder:
        kinds, faults = measure(Path(folder).resolve(), settings, files, flips)
    print(f"{table(kinds)}\n\n{made_on()}")
    for fault in faults:
        tell(f"fault: {fault}")
    keep("formats", {"formats": {"kinds": [asdict(kind) for kind in kinds], "faults": faults}}, settings)
    return int(bool(faults))


def measure(folder: Path, settings: Settings, files: int, flips: int) -> tuple[list[Kind], list[str]]:
    """Make files, ingest them, and check the result; return the figures of all kinds, and the faults.

    Args:
        folder: empty, for files and index; absolute, with all links resolved.
        settings: limits, and whether pictures are read.
        files: how many healthy files of each kind to time; one more before them warms up its reader.
        flips: how many copies of each kind get wrong bytes.

    Raises:
        RagError: from ingestion.
    """
    settings = settings.model_copy(
        update={
            "index": settings.index.model_copy(update={"dir": folder / "index"}),
            "ingest": settings.ingest.model_copy(update={"max_file_mb": MAX_FILE_MB}),
        }
    )
    makers = KINDS | (PICTURES if settings.ingest.ocr else {})
    kinds = {suffix: Kind(suffix) for suffix in makers}
    tell(f"{len(makers)} kinds, {files} files of each: reading")
    _time(_written(folder / "healthy", makers, files), settings, kinds)
    embeddings = Embeddings(settings)
    neighbours, bad = _zoo(folder / "zoo", makers, flips)
    tell(f"{len(neighbours)} healthy and {len(bad)} damaged or hostile files: ingesting")
    summary = ingest(folder / "zoo", settings, corpus=CORPUS, embeddings=embeddings)
    with closing(open_corpus(CORPUS, settings, embeddings.of(CORPUS).opening_manifest())) as corpus:
        texts: dict[str, str] = defaultdict(str)
        for doc_id in corpus.documents.versions():
            if document := corpus.documents.get(doc_id):
                texts[document.source] += document.text
    for source, suffix in bad.items():
        kind = kinds[suffix]
        kind.read, kind.refused = kind.read + (source in texts), kind.refused + (source not in texts)
    return list(kinds.values()), faults_of(summary, texts, neighbours, bad)


def faults_of(
    summary: Summary, texts: Mapping[str, str], neighbours: Mapping[str, str], bad: Mapping[str, str]
) -> list[str]:
    """Return the faults, one sentence each.

    Args:
        summary: of the run.
        texts: the ingested text of each file.
        neighbours: the word at both the start and the end of each healthy file's text, by file.
        bad: damaged files.
    """
    reasons: dict[str, list[str]] = defaultdict(list)
    for entry in (*summary.failed, *summary.skipped, *summary.left_out):
        reasons[entry["source"]].append(entry["reason"])
    found = [
        f"{path} was read and is lost." for path, name in neighbours.items() if not _whole(texts.get(path, ""), name)
    ]
    found += [f"{path} is healthy, but: {reason}" for path in neighbours for reason in reasons[path]]
    found += [f"{path} vanished without a word." for path in bad if path not in texts and not reasons[path]]
    for path in bad:
        found += [f"{path}: {reason}" for reason in reasons[path] if KILLED in reason or TOO_LONG in reason]
    return found


def table(kinds: Sequence[Kind]) -> str:
    """Return a table with a row for each kind."""
    return of_items(
        {
            "kind": lambda kind: f"`{kind.suffix}`",
            "files": lambda kind: str(kind.files),
            "MB": lambda kind: figure(kind.mb, 2),
            "files/s": lambda kind: figure(kind.files / kind.seconds, 0),
            "MB/s": lambda kind: figure(kind.mb / kind.seconds, 2),
            "damaged: read": lambda kind: str(kind.read),
            "refused": lambda kind: str(kind.refused),
        },
        kinds,
    )


def _written(folder: Path, makers: Mapping[str, Make], files: int) -> Path:
    chance = random.Random(SEED)  # noqa: S311  # not for secrets
    for suffix, make in makers.items():
        of_kind = folder / suffix[1:]
        of_kind.mkdir(parents=True)
        count = PICTURED_PARAGRAPHS if suffix in PICTURES else PARAGRAPHS
        for number in range(files + 1):
            (of_kind / f"{number:04}{suffix}").write_bytes(
                make(f"Harbour {number}", _texts(f"{number}", count, chance))
            )
    return folder


def _zoo(folder: Path, makers: Mapping[str, Make], flips: int) -> tuple[dict[str, str], dict[str, str]]:
    """Write healthy files before, between and behind bad ones.

    Returns:
        Path of a healthy file -> name in its text, and path of a bad one -> its kind.
    """
    chance = random.Random(SEED)  # noqa: S311  # likewise
    healthy: dict[str, str] = {}
    bad: dict[str, str] = {}
    copied = {}
    for suffix, make in makers.items():
        (folder / suffix[1:]).mkdir(parents=True)
        for place in ("a", "i", "z"):
            name = f"{place}{len(healthy)}"
            healthy[f"{suffix[1:]}/{place}{suffix}"] = name
            copied[suffix] = make(f"Harbour {name}", _texts(name, FEW_PARAGRAPHS, chance))
            (folder / suffix[1:] / f"{place}{suffix}").write_bytes(copied[suffix])
    for name, data in (*damaged(copied, flips, SEED), *hostile(BOMB_MB)):
        suffix = name[name.index(".") :]
        bad[f"{suffix[1:]}/{name}"] = suffix
        (folder / suffix[1:] / name).write_bytes(data)
    return healthy, bad


def _time(folder: Path, settings: Settings, kinds: Mapping[str, Kind]) -> None:
    """Read a folder and discard the result; the first file of each kind loads its reader and is not counted."""
    before = time.perf_counter()

    def note(progress: Progress) -> None:
        nonlocal before
        now = time.perf_counter()
        if progress.outcome is not None:
            path = folder / progress.source
            kind = kinds[path.name[path.name.index(".") :]]
            if not path.name.startswith("0000."):
                kind.files += 1
                kind.mb += path.stat().st_size / MB
                kind.seconds += now - before
        before = now

    ingest(folder, settings, corpus=CORPUS, options=RunOptions(dry_run=True), on_progress=note)


def _texts(name: str, count: int, chance: random.Random) -> list[str]:
    texts = [" ".join(chance.choices(_WORDS, k=WORDS)).capitalize() for _ in range(count)]
    return [f"Begin{name} {texts[0]}.", *(f"{text}." for text in texts[1:-1]), f"{texts[-1]} end{name}."]


def _whole(text: str, name: str) -> bool:
    return f"Begin{name} " in text and f"end{name}." in text.replace("\n", " ")
