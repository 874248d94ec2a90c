"""Compare files with what the corpus holds: which documents are new, changed, unchanged or gone.

Flow: listed files -> **here** (digest, then parse only what is not known) -> changes -> `pipeline.py` cuts, embeds and
commits them. Reads the corpus, writes nothing: a dry run ends here.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from errors import UnreadableError
from index.corpus import Corpus
from index.documents import Document
from index.ledger import SourceNote
from index.nodes import SpanTree
from ingestion.reading.files import Skipped, SourceFile, open_plain
from ingestion.reading.reader import Reader
from ingestion.run import RunOptions

# Raised whenever the same bytes give another text, tree or embedded form, so that known files are read again.
PIPELINE_VERSION = "2"


@dataclass(slots=True)
class Change:
    """A document that is not in the corpus as it stands; `tree` is added by the splitter.

    Attributes:
        version: its name in the corpus.
        replaces: there is an older version of it.
        note: to be kept of its file for as long as not all of the file is committed.
    """

    document: Document
    version: str
    replaces: bool
    note: SourceNote
    tree: SpanTree | None = None


@dataclass(frozen=True, slots=True)
class FileDone:
    """The end of a file: everything before it in the stream belongs to it.

    Attributes:
        note: what to remember of it; None when nothing is to be noted.
        unchanged: documents of it that are in the corpus already.
        gone: doc_ids that it held before and holds no longer.
        failures: reasons why it, or records of it, could not be read.
    """

    source: str
    size: int
    note: SourceNote | None = None
    unchanged: int = 0
    gone: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


Step = Change | FileDone | Skipped


class Comparison:
    """One pass over a root's files. For one thread.

    Args:
        corpus: what is compared with.
        reader: turns files into documents.
        root: the folder that doc_ids are relative to.
        options: of the run.

    Attributes:
        seen: sources that were listed.
        unlisted: directory entries that were not read, a folder that cannot be looked into among them.
        under_way: documents on their way to the corpus, doc_id -> source; the committing thread takes them out.
    """

    def __init__(self, corpus: Corpus, reader: Reader, root: str, options: RunOptions) -> None:
        self._documents = corpus.documents
        self._ledger = corpus.ledger
        self._reader = reader
        self._root = root
        self._options = options
        self._fingerprint = fingerprint(corpus)
        self._prefix = f"{options.root_name}/" if options.root_name else ""
        self._left = options.limit
        self.seen: set[str] = set()
        self.unlisted: list[str] = []
        self.under_way: dict[str, str] = {}
        self._released: set[str] = set()

    def steps(self, entries: Iterable[SourceFile | Skipped]) -> Iterator[Step]:
        """Yield what is to be done, file by file, each file's changes before its `FileDone`."""
        for entry in entries:
            if isinstance(entry, Skipped):
                self.unlisted.append(self._prefix + entry.path)
                yield replace(entry, path=self._prefix + entry.path)
            elif self._left is None or self._left > 0:
                self.seen.add(self._prefix + entry.doc_id)
                yield from self._file(entry)

    def _file(self, file: SourceFile) -> Iterator[Change | FileDone]:
        source = self._prefix + file.doc_id
        note = SourceNote(source, self._root, file.doc_id, options={"metadata": self._options.metadata})
        try:
            digest = self._digest(file)
        except UnreadableError as error:
            yield FileDone(source, file.size, replace(note, failures=(str(error),)), failures=(str(error),))
            return
        known = self._ledger.get(source)
        stored = self._documents.versions(source)
        elsewhere = known is not None and known.root != self._root and known.path.exists()
        if known and known.digest == digest and not (known.failures and self._options.retry):
            self._spend(len(stored))
            moved = replace(known, root=self._root) if known.root != self._root and not elsewhere else None
            yield FileDone(source, file.size, moved, unchanged=len(stored), failures=known.failures)
            return
        if known and elsewhere:
            reason = f"The name {source!r} is taken by {known.path}. Keep the two apart by --root NAME."
            yield FileDone(source, file.size, failures=(reason,))
            return
        yield from self._contents(file, source, replace(note, digest=digest), stored)

    def _contents(
        self, file: SourceFile, source: str, note: SourceNote, stored: dict[str, str]
    ) -> Iterator[Change | FileDone]:
        unchanged, again, failures = 0, False, []
        present: set[str] = set()
        unfinished = replace(note, digest=None)
        for item in self._reader.read(file):
            if self._left is not None and self._left <= 0:
                again = True
                break
            if isinstance(item, UnreadableError):
                failures.append(str(item))
                continue
            document = self._named(item, source)
            if owner := self._other_owner(document.doc_id, source, stored):
                failures.append(f"The document id {document.doc_id!r} is taken by {owner}.")
                again = True
                continue
            if document.doc_id in present:
                failures.append(f"The document id {document.doc_id!r} occurs twice; the first one is kept.")
                continue
            self._spend(1)
            present.add(document.doc_id)
            version = document.hash(self._fingerprint)
            if stored.get(document.doc_id) == version:
                unchanged += 1
                continue
            replaces = document.doc_id in stored or self._documents.source_of(document.doc_id) is not None
            self.under_way[document.doc_id] = source
            yield Change(document, version, replaces, unfinished)
        gone = () if again or failures else tuple(sorted(stored.keys() - present))
        self._released.update(gone)
        digest = None if again else note.digest
        note = replace(note, digest=digest, failures=tuple(failures))
        yield FileDone(source, file.size, note, unchanged, gone, tuple(failures))

    def _named(self, document: Document, source: str) -> Document:
        return replace(
            document,
            doc_id=self._prefix + document.doc_id,
            source=source,
            metadata=document.metadata | self._options.metadata,
        )

    def _other_owner(self, doc_id: str, source: str, stored: dict[str, str]) -> str | None:
        """Return the source that this document belongs to if it is another one, and still there."""
        if doc_id in stored:
            return None
        if (owner := self.under_way.get(doc_id)) is not None:
            return owner if owner != source else None
        owner = self._documents.source_of(doc_id)
        if owner is None or doc_id in self._released:
            return None
        note = self._ledger.get(owner)
        return owner if note and note.path.exists() else None

    def _spend(self, documents: int) -> None:
        if self._left is not None:
            self._left -= documents

    def _digest(self, file: SourceFile) -> str:
        with open_plain(file.path) as stream:
            digest = hashlib.file_digest(stream, "sha256")
        if self._options.metadata:
            digest.update(json.dumps(self._options.metadata, sort_keys=True).encode())
        return f"{digest.hexdigest()[:32]}/{self._fingerprint}"


def fingerprint(corpus: Corpus) -> str:
    """Name everything but a file's bytes that decides what it becomes in this corpus."""
    return f"{corpus.manifest.identity.fingerprint()}/{PIPELINE_VERSION}"
