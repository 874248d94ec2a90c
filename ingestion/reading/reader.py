"""Read source files into documents: the door of this package.

Flow: `list_files` -> `SourceFile` -> **here** -> `Document`s for splitting, and reasons for the report.

Parsing happens in a child process (`sandbox.py`), never in this one.
"""

import threading
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from typing import Any, Self, TypeVar

from errors import SettingsError, UnreadableError
from index.documents.blobs import LeftOut
from index.documents.store import Document
from index.documents.structure import Structure
from ingestion.reading.containers import lost
from ingestion.reading.files import SourceFile
from ingestion.reading.format_table import TABLE, format_of
from ingestion.reading.includes import is_including
from ingestion.reading.options import ReadOptions
from ingestion.reading.sandbox import TOO_LONG, Sandbox, TimeLeft
from settings import IngestSettings

# Named, not imported: what parses is loaded in the child process alone.
PARSER = "ingestion.reading.formats:read_file"
LINES_PARSER = "ingestion.reading.html:read_page_lines"

# So many members of one file may end the process that reads them before the rest is given up.
MAX_DEATHS = 20
# Of a file's time one member may take no more, so that the others have some, too.
MEMBER_SHARE = 0.5
# At least: the models of OCR take half of it.
OCR_MEMORY_MB = 4096

# A file of more records is read again.
MAX_KEPT = 100

T = TypeVar("T")
Item = Document | LeftOut | UnreadableError
Kept = dict[str, tuple[tuple[int, ...], list[Item]]]
"""By a file's id: its state, and what was read of it."""


class Reader:
    """Reads files one after the other; owns its child processes, so use it as a context manager.

    Where OCR is on, PDFs and pictures have a child process of their own, with more memory than any parser shall have.

    Args:
        settings: limits of size, time and memory.
        papers: read every text file as a paper, or an object of one (`paper.py`), by any name.
        parser: what the child process runs, as `module:function`.
        stop: once it is set, a read that is under way ends with RunStopped.
        kept: of files that were read before; they are not read again unless they changed.
        on_first: called once, when the first file is asked for: who reads its documents can make ready meanwhile.

    Raises:
        SettingsError: OCR is on, and its extra is not installed.
    """

    def __init__(
        self,
        settings: IngestSettings,
        *,
        papers: bool = False,
        parser: str = PARSER,
        stop: threading.Event | None = None,
        kept: Kept | None = None,
        on_first: Callable[[], None] = lambda: None,
    ) -> None:
        if settings.ocr and find_spec("rapidocr") is None:
            raise SettingsError(
                "RAG_INGEST__OCR needs the extra `ocr`.", "Install it: pip install -e '.[ocr]' -c constraints.txt"
            )
        self._timeout_s = settings.parse_timeout_s
        self._kept = kept or {}
        self._on_first: Callable[[], None] | None = on_first
        size = (settings.max_file_bytes, settings.max_document_chars)
        languages = tuple(filter(None, (settings.languages or "").split(",")))
        self._options = ReadOptions(*size, papers=papers, languages=languages, ocr=settings.ocr)
        sandbox = partial(
            Sandbox, "ingestion.reading.child:reading", parser, timeout_s=settings.parse_timeout_s, stop=stop
        )
        self._sandbox = sandbox(doing="Parsing", memory_mb=settings.parse_memory_mb)
        self._ocr_sandbox: Sandbox | None = None
        if settings.ocr:
            self._ocr_sandbox = sandbox(doing="OCR", memory_mb=max(settings.parse_memory_mb, OCR_MEMORY_MB))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def max_file_bytes(self) -> int:
        """Larger files are refused, unless they are streamed record by record."""
        return self._options.max_bytes

    def read(self, file: SourceFile) -> Iterator[Item]:
        """Yield the documents of a file, in order; what cannot be read is yielded as the reason why.

        After a document stands what was left out of its text.

        Records stream: a file of millions is never held in memory. Files are read one at a time: the next `read`
        closes the door on an iterator that was left unfinished.

        All that lies in a file shares its time; what a member of it takes too long for is not read, and once the time
        is spent nor is the rest. No member is tried twice.
        """
        if self._on_first:
            self._on_first()
            self._on_first = None
        state, items = self._kept.pop(file.doc_id, (None, []))
        if state and state == _state(file):
            yield from items
            return
        sandbox, time_left = self._sandbox_of(file), self._time_for(file)
        whole_s, member_s = time_left.left_s, MEMBER_SHARE * time_left.left_s
        after = 0
        for _ in range(MAX_DEATHS):
            options = asdict(replace(self._options, after_member=after))
            request = {"path": str(file.path), "doc_id": file.doc_id, "options": options}
            started = None
            try:
                for item in sandbox.items(request, time_left):
                    if "started" in item:
                        started, time_left.batch_s = item["started"], member_s
                    else:
                        yield _revive(item)
            except UnreadableError as error:
                if started is None:
                    yield error
                    return
                after, doc_id = started
                if time_left.is_spent:
                    fact = (
                        f"All of {file.doc_id} {TOO_LONG} {whole_s:.3g} s: {doc_id} and what follows it are not read."
                    )
                    yield UnreadableError(fact, error.remedy)
                    return
                yield lost(doc_id, error)
            else:
                return
        yield UnreadableError(f"More than {MAX_DEATHS} of its members ended the process for parsing.", "Unpack it.")

    def keeping(self, files: Iterable[SourceFile], kept: Kept) -> Iterator[Document]:
        """Yield the documents of files, and keep for another reader what was read of each whole file."""
        for file in files:
            state, items = _state(file), list[Item]()
            for item in self.read(file):
                if len(items) <= MAX_KEPT:
                    items.append(item)
                if isinstance(item, Document):
                    yield item
            if len(items) <= MAX_KEPT and not is_including(file.path):
                kept[file.doc_id] = state, items

    def _time_for(self, file: SourceFile) -> TimeLeft:
        """Return the time of a file with all that lies in it; one too large to be held in memory has more."""
        named = format_of(file.path.name)
        many = named is not None and TABLE[named].has_members
        times = max(1, file.size / self.max_file_bytes) if many else 1
        return TimeLeft(times * self._timeout_s, times * self._timeout_s)

    def ahead(self, items: Iterator[T], file_of: Callable[[T], SourceFile | None]) -> Iterator[T]:  # noqa: ARG002
        """Return the items as they are: this reader reads a file when it is asked for."""
        return items

    def close(self) -> None:
        """End the child processes."""
        self._sandbox.close()
        if self._ocr_sandbox:
            self._ocr_sandbox.close()

    def _sandbox_of(self, file: SourceFile) -> Sandbox:
        pictured = format_of(file.path.name, images=True) in ("pdf", "image")
        return self._ocr_sandbox if pictured and self._ocr_sandbox else self._sandbox


def _state(file: SourceFile) -> tuple[int, ...]:
    """Return what changes when a file does; () if it is gone."""
    try:
        found = file.path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns


def _revive(item: dict[str, Any]) -> Item:
    if "left_out" in item:
        return LeftOut(*item["left_out"])
    if "unreadable" in item:
        return UnreadableError(*item["unreadable"])
    structure = Structure(b64decode(item["structure"]))
    return Document(**{**item, "pages": tuple(item["pages"]), "structure": structure})
