"""What a run is asked to do, how it goes, and what it did: plain values that commands, jobs and reports share.

Flow: a command or an HTTP job makes `RunOptions` -> `pipeline/pipeline.py` -> `Progress` while it runs, `Summary` at
its end.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from index.documents.store import Metadata


class RunStopped(Exception):
    """The run was asked to stop; what is committed stays."""


Outcome = Literal["new", "changed", "unchanged", "failed", "skipped", "vanished", "removed"]


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What one ingestion shall do.

    Attributes:
        root_name: prefix of doc_ids, to keep equal paths of two folders apart; empty for none.
        metadata: put over what the documents say themselves.
        limit: stop after this many documents, known ones included.
        dry_run: compare only, write nothing.
        prune: remove documents whose files are gone from the folder.
        retry: read files again that could not be read before, though they have not changed.
        files: paths below the folder: nothing but these files and folders is read, or removed by `prune`. None means
            all that is there.
    """

    root_name: str = ""
    metadata: Metadata = field(default_factory=dict)
    limit: int | None = None
    dry_run: bool = False
    prune: bool = False
    retry: bool = False
    files: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is. Files and bytes are those of the whole run, known ones included.

    Of files under way bytes and leaves count by what is embedded, which is an estimate and never falls.

    Attributes:
        source: the file, or directory entry, that was just done, or is under way.
        outcome: what became of it; a file of several documents is `new` or `changed` if any of them is. `vanished` and
            `removed` are files of earlier runs that are gone. None at the start, and while a file of many documents
            is under way.
        reason: why it failed or was skipped.
        documents: new and changed documents committed so far.
        leaves: leaves of those, and of those under way the embedded ones.
    """

    source: str
    outcome: Outcome | None
    reason: str | None
    files: int
    files_total: int
    bytes: int
    bytes_total: int
    documents: int
    leaves: int


Tell = Callable[[Progress], None]
"""Called with each progress of a run."""


@dataclass(slots=True)
class Summary:
    """What one ingestion did, in documents unless said otherwise; of a dry run, what it would do.

    Attributes:
        new: were not in the corpus.
        changed: replaced an older version.
        unchanged: were there already.
        removed: stood in a file that no longer holds them, or (with `prune`) whose file is gone.
        vanished: are still there though their file is gone.
        leaves: leaves of new and changed documents.
        embedded: leaves whose vectors were computed; the others have the text of a leaf that had one.
        files: plain files that were met, hidden ones not among them.
        files_read: those of them that were read, at least in part, or are known and have not changed.
        skipped_types: how many of them have a type that is not read, by suffix; "" stands for no suffix.
        failed: files or records that could not be read: `source` and `reason`.
        skipped: directory entries that are not documents: `source` and `reason`.
        left_out: what was cut out of documents because it holds no words: `source` and `reason`, which says how much.
        by_ocr: new and changed documents with pages that OCR read: `source` and `reason`, which names the pages.
        duplicates: new and changed documents whose text another one has too: `doc_id` and `duplicate_of`. Both are
            kept; of a text that was found only one is shown.
        dry_run: nothing was written.
        stopped: the run was stopped before its end; the same run again goes on from there.
    """

    corpus: str
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    vanished: int = 0
    leaves: int = 0
    embedded: int = 0
    duration_s: float = 0.0
    files: int = 0
    files_read: int = 0
    skipped_types: dict[str, int] = field(default_factory=dict)
    failed: list[dict[str, str]] = field(default_factory=list)
    skipped: list[dict[str, str]] = field(default_factory=list)
    left_out: list[dict[str, str]] = field(default_factory=list)
    by_ocr: list[dict[str, str]] = field(default_factory=list)
    duplicates: list[dict[str, str]] = field(default_factory=list)
    dry_run: bool = False
    stopped: bool = False

    @property
    def documents(self) -> int:
        """Documents that are in the corpus now and stand in what was read."""
        return self.new + self.changed + self.unchanged

    def add(self, other: "Summary") -> None:
        """Count another run into the same corpus."""
        counts = ("new", "changed", "unchanged", "removed", "vanished", "leaves", "embedded", "files", "files_read")
        for name in (*counts, "duration_s"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.skipped_types = dict(Counter(self.skipped_types) + Counter(other.skipped_types))
        self.failed += other.failed
        self.skipped += other.skipped
        self.left_out += other.left_out
        self.by_ocr += other.by_ocr
        self.duplicates += other.duplicates
        self.stopped |= other.stopped

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as JSON-ready values."""
        return asdict(self)
