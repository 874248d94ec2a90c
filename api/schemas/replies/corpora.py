"""Corpora, their documents and the jobs that bring them in: `/documents`, `/stats`, `/corpora`, `/marks`, `/ingest`.

Flow: documents, corpora, jobs -> **here** -> routes send them, `api/openapi.py` describes them. It must import neither
stores nor models: a writer that has just started tells of its jobs before it has loaded them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field

from api.jobs.queue import Job
from api.schemas.replies.base import CorpusName, DocId, Id, Metadata, Moment, Reply
from errors import RagError

if TYPE_CHECKING:
    from index.corpus import Corpus

_OCR_PAGES = re.compile(r"\d{1,7}(?:-\d{1,7})?(?:, \d{1,7}(?:-\d{1,7})?)*")

Counts = Annotated[dict[str, int], Field(examples=[{"markdown": 12, "pdf": 3}])]


class DocumentBrief(Reply):
    """A document without its text."""

    doc_id: DocId
    """Its id."""
    title: str
    """Its title."""
    url: str | None
    """Its own http or https address; null if it has none."""
    source: str
    """Its file, relative to the ingested folder."""
    content_type: Annotated[str, Field(examples=["markdown"])]
    """Name of the format that it was read from."""
    leaves: int
    """Number of its leaves."""
    chars: int
    """Length of its text, in characters."""
    ingested_at: Moment
    """When it came in, ISO 8601, UTC."""
    metadata: Metadata
    """What is known of it."""
    duplicate_of: DocId | None
    """The first document, by its id, with the same text; null if there is none before it."""
    unread: list[str]
    """What of its file could not be, or was not, read: damaged records, scanned pages, hidden sheets; the first 10."""


class DocumentsReply(Reply):
    """A page of a corpus's documents."""

    corpus: CorpusName
    """The corpus."""
    documents: list[DocumentBrief]
    """The documents of this page."""
    next: str | None
    """`after` of the following page; null on the last one."""


class DeletedReply(Reply):
    """What a deletion by filter did."""

    corpus: CorpusName
    """The corpus."""
    matched: int
    """Documents that meet the filter."""
    deleted: int
    """Documents that were deleted."""
    doc_ids: list[DocId]
    """Ids of those that meet the filter, the first 100."""
    dry_run: bool
    """Whether nothing was deleted because only a count was asked for."""


class DeletedDocumentReply(Reply):
    """What the deletion of a document did."""

    corpus: CorpusName
    """The corpus."""
    deleted: int
    """1."""
    doc_ids: list[DocId]
    """Its id."""


class LargeDocument(Reply):
    """One of the largest documents."""

    doc_id: DocId
    """Its id."""
    title: str
    """Its title."""
    chunks: int
    """Number of its leaves."""


class FailedSource(Reply):
    """A file that could not be read in full."""

    source: str
    """The file, relative to the ingested folder."""
    reasons: list[str]
    """Why, the first 10 reasons."""


# Of the files that could not be read, and of the reasons of each.
MAX_FAILED, MAX_REASONS = 100, 10


def _first(reasons: Mapping[str, Sequence[str]]) -> list[FailedSource]:
    return [
        FailedSource(source=source, reasons=list(named[:MAX_REASONS]))
        for source, named in islice(reasons.items(), MAX_FAILED)
    ]


class StatsReply(Reply):
    """What a corpus holds, in numbers."""

    total_chunks: int
    """Number of leaves."""
    by_content_type: Counts
    """Documents by format, most frequent first."""
    by_topic: Counts
    """Documents by topic, most frequent first, up to 100 topics."""
    top_docs: list[LargeDocument]
    """The documents with the most leaves, up to 5."""
    md_count: int
    """Documents in Markdown."""
    corpus: CorpusName
    """The corpus."""
    documents: int
    """Number of documents."""
    leaves: int
    """Number of leaves."""
    failed_sources: int
    """Files that could not be read in full."""
    failed: list[FailedSource]
    """The first 100 of them."""
    left_out: list[FailedSource]
    """The first 100 files of which parts were left out, such as scanned pages, hidden sheets and unknown members."""
    model: str
    """The embedding model."""
    precision: Annotated[str, Field(examples=["fp32"])]
    """Arithmetic that its vectors were made with."""
    created_at: Moment
    """When the corpus was made, ISO 8601, UTC."""
    last_ingested_at: Moment | None
    """When the newest document came in; null for an empty corpus."""
    state: str
    """Equal for the same documents, chunked in the same way: 20 hex digits."""
    size_bytes: int
    """Size of its folder on disk, in bytes."""

    @classmethod
    def build(cls, corpus: "Corpus") -> Self:
        """Count what a corpus holds; a chunk is a leaf."""
        counted, incomplete = corpus.catalogue.statistics(), corpus.ledger.incomplete()
        failed = {note.source: note.failures for note in incomplete if note.failures}
        left_out = {note.source: note.left_out for note in incomplete if note.left_out}
        largest = [LargeDocument.filled(brief, chunks=brief.leaves) for brief in counted.largest]
        return cls.filled(
            counted,
            total_chunks=counted.leaves,
            by_content_type=counted.content_types,
            by_topic=counted.topics,
            top_docs=largest,
            md_count=counted.content_types.get("markdown", 0),
            corpus=corpus.name,
            failed_sources=len(failed),
            failed=_first(failed),
            left_out=_first(left_out),
            model=corpus.manifest.model,
            precision=corpus.manifest.precision,
            created_at=corpus.manifest.created_at,
            state=corpus.documents.state(),
            size_bytes=corpus.size_bytes(),
        )


class CorpusFacts(Reply):
    """A corpus, as far as it can be read."""

    name: CorpusName
    """Its name."""
    bytes: int
    """Size of its folder on disk, in bytes."""
    documents: int | None
    """Number of documents."""
    leaves: int | None
    """Number of leaves."""
    model: str | None
    """The embedding model."""
    precision: str | None
    """Arithmetic that its vectors were made with."""
    created_at: Moment | None
    """When it was made, ISO 8601, UTC."""
    last_ingested_at: Moment | None
    """When the newest document came in."""
    held_by: str | None
    """Which process has it open; null if none has."""
    problem: str | None
    """Why the fields that are null could not be read."""


class DroppedReply(Reply):
    """A corpus that was deleted."""

    dropped: CorpusName
    """Its name."""


class RenamedReply(Reply):
    """A corpus that has another name."""

    renamed: CorpusName
    """Its name before."""
    name: CorpusName
    """Its name now."""


class CorporaReply(Reply):
    """The corpora on disk."""

    corpora: list[CorpusFacts]
    """All of them that the key opens."""


class Span(Reply):
    """A cited stretch of a document."""

    start: int
    """Offset in the document's text, in characters from 0."""
    end: int
    """Offset of the character after it."""
    pages: list[int]
    """Indices of the pages that it touches, from 0."""
    quote: str
    """Its text."""


class OcrNote(Reply):
    """What OCR read."""

    pages: list[int]
    """The pages, from 1."""
    confidence: float | None
    """Mean certainty of their letters, 0 to 1; null if it is not known."""

    @classmethod
    def build(cls, metadata: dict[str, Any], pages: int) -> Self | None:
        """Return what a document's metadata say of OCR (`ingestion/reading/ocr.py`); None if it read none.

        Args:
            metadata: of the document, perhaps written by strangers.
            pages: how many the document has; others are left out.
        """
        told, confidence = metadata.get("ocr_pages"), metadata.get("ocr_confidence")
        if not isinstance(told, str) or not _OCR_PAGES.fullmatch(told):
            return None
        runs = [[int(number) for number in run.split("-")] for run in told.split(", ")]
        found = [page for run in runs for page in range(run[0], min(run[-1], pages) + 1) if page > 0]
        is_share = isinstance(confidence, int | float) and 0 <= confidence <= 1
        return cls.filled(pages=found, confidence=confidence if is_share else None) if found else None


class Block(Reply):
    """A part of a document's text."""

    kind: Annotated[str, Field(examples=["paragraph"])]
    """What it is."""
    start: int
    """Offset in the document's text, in characters from 0."""
    end: int
    """Offset of the character after it and the space that follows."""
    inner: tuple[int, int]
    """`[start, end)` of the words alone."""
    level: int = 0
    """Of a heading, from 1; depth of an item or a quotation, from 0."""
    ordered: bool = False
    """An item has a number."""
    cells: list[tuple[int, int]] = []
    """`[start, end)` of each cell of a row."""
    columns: list[str] = []
    """What each cell of a row is called."""
    header: bool = False
    """The row names the columns of those after it."""
    language: str = ""
    """Of code."""


class DocumentReply(Reply):
    """A document."""

    corpus: CorpusName
    """Its corpus."""
    doc_id: DocId
    """Its id."""
    title: str
    """Its title."""
    url: str | None
    """Its own http or https address; null if it has none."""
    pages: list[int]
    """Where each page begins in the text, in characters from 0; empty for documents without pages."""
    metadata: Metadata
    """What is known of it."""
    ocr: OcrNote | None
    """What OCR read; null if nothing."""
    original: str | None
    """Name of the file that `/documents/{doc_id}/original` sends; null if it sends none."""
    span: Span | None
    """The stretch that was asked for; null without one, and where it lies outside the text."""
    notice: str | None
    """Says that the stretch lies outside the text; else null."""
    text: str
    """The whole text."""
    content_type: str
    """Name of the format that it was read from."""
    nodes: list[tuple[int, int, int, int]] = []
    """The passage tree, with `nodes=true`: level (0 root, 1 middle, 2 leaf), start, end and row of the parent, -1 for
    roots."""
    blocks: list[Block] = []
    """What the parts of the text are, with `nodes=true`."""


class PageMarks(Reply):
    """Where a stretch stands on a page."""

    page: int
    """The page, from 1."""
    width: float
    """Its width in points."""
    height: float
    """Its height in points."""
    rects: list[tuple[float, float, float, float]]
    """Left, top, width and height, as shares of the page, 0 to 1."""
    complete: bool
    """Whether every line of the stretch was found on the page for certain."""


class MarksReply(Reply):
    """Where a stretch of a PDF stands on its pages."""

    corpus: CorpusName
    """The corpus."""
    doc_id: DocId
    """Id of the document."""
    pages: int
    """Number of its pages."""
    marks: list[PageMarks]
    """One for each page that the stretch touches, up to 20."""


class Note(Reply):
    """Something that was not read, and why."""

    source: str
    """The file or record."""
    reason: str
    """Why, as a sentence."""


class Duplicate(Reply):
    """A document whose text another one has too."""

    doc_id: DocId
    """Its id."""
    duplicate_of: DocId
    """Id of the other one."""


CHUNK_SIZES = ("chunk_size", "chunk_overlap")
SIZES_ARE_SET = (
    "chunk_size and chunk_overlap have no effect: sizes of passages belong to the corpus, and passages do not overlap. "
    "Set RAG_CHUNK__LEAF_TOKENS and ingest with --rebuild to change them."
)


class _EvaluationCounts(Reply):
    docs_total: int
    """Documents that were met."""
    docs_ok: int
    """Documents that are in the corpus now."""
    docs_failed: int
    """Files or records that could not be read."""
    chunks_total: int
    """Leaves of the corpus afterwards."""
    chunks_indexed: int
    """Leaves of new and changed documents."""
    duration_sec: float
    """How long it took, in seconds."""
    errors: list[Note]
    """The first 10 failures."""


class BriefJobResult(_EvaluationCounts):
    """What a job did, in numbers; of a dry run, what it would do."""

    corpus: CorpusName
    """The corpus."""
    new: int
    """Documents that were not in the corpus."""
    changed: int
    """Documents that replaced an older version."""
    unchanged: int
    """Documents that were there already."""
    removed: int
    """Documents that stood in a file that no longer holds them, or, with `prune`, whose file is gone."""
    vanished: int
    """Documents that are still there though their file is gone."""
    leaves: int
    """Leaves of new and changed documents."""
    embedded: int
    """Leaves whose vectors were computed."""
    duration_s: float
    """How long it took, in seconds."""
    files: int
    """Plain files that were met."""
    files_read: int
    """Those of them that were read, or are known and have not changed."""
    skipped_types: Annotated[dict[str, int], Field(examples=[{".png": 4}])]
    """Files of types that are not read, by suffix."""
    dry_run: bool
    """Whether nothing was written."""
    stopped: bool
    """Whether the run was stopped before its end."""
    left_out_total: int
    """How much was cut out of documents because it holds no words."""
    skipped_total: int
    """Directory entries that are not documents."""
    duplicates_total: int
    """New and changed documents whose text another one has too."""
    coverage: str | None
    """How many files have a type that is not read, as a sentence; null if all types are read."""


class JobResult(BriefJobResult):
    """What a job did; lists hold the first 1,000 entries."""

    failed: list[Note]
    """Files or records that could not be read."""
    skipped: list[Note]
    """Directory entries that are not documents."""
    left_out: list[Note]
    """What was cut out of documents because it holds no words."""
    by_ocr: list[Note]
    """Documents with pages that OCR read."""
    duplicates: list[Duplicate]
    """New and changed documents whose text another one has too."""


class JobProgress(Reply):
    """How far a job is. Bytes and leaves of files under way are an estimate."""

    source: str
    """The file that was just done, or is under way."""
    outcome: Literal["new", "changed", "unchanged", "failed", "skipped", "vanished", "removed"] | None
    """What became of it; null while it is under way."""
    reason: str | None
    """Why it failed or was skipped."""
    files: int
    """Files that are done."""
    files_total: int
    """Files of the whole run."""
    bytes: int
    """Bytes that are done."""
    bytes_total: int
    """Bytes of the whole run."""
    documents: int
    """New and changed documents that are committed."""
    leaves: int
    """Leaves that are embedded."""
    elapsed_s: float
    """Seconds since the start."""
    leaves_per_s: float | None
    """Leaves a second; null in the first batch."""
    eta_s: float | None
    """Seconds that are left; null while they cannot be estimated."""


class JobFailure(Reply):
    """Why a job failed."""

    code: Annotated[str, Field(examples=["index_damaged"])]
    """Names the failure; never changes."""
    detail: str
    """What went wrong, for people."""

    @classmethod
    def build(cls, error: BaseException) -> Self:
        """Return a failure; one that was not foreseen tells nothing of itself."""
        if isinstance(error, RagError):
            return cls.filled(code=error.code, detail=error.public)
        return cls.filled(code="internal", detail="Something unforeseen went wrong; see the log.")


class _Job(Reply):
    job: Id
    """Its id."""
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    """How it stands."""
    cancelling: bool
    """Whether it was cancelled and still writes its last batch."""
    request: Annotated[dict[str, Any], Field(examples=[{"path": "data/docs", "corpus": "default"}])]
    """What was asked for; of an upload, the `files` that were taken and those that were `refused`, with reasons."""
    created_at: Moment
    """When it was submitted, ISO 8601, UTC."""
    started_at: Moment | None
    """When it began; null while it waits."""
    finished_at: Moment | None
    """When it ended; null until then."""
    progress: JobProgress | None
    """How far it is; null before it has begun."""
    error: JobFailure | None
    """Why it failed; null unless it did."""

    @classmethod
    def of(cls, job: Job, **more: Any) -> Self:
        """Return how a job stands, with what else is told of it."""
        return cls.filled(
            job,
            job=job.id,
            cancelling=job.state == "running" and job.stop.is_set(),
            created_at=_moment(job.created_at),
            started_at=_moment(job.started_at),
            finished_at=_moment(job.finished_at),
            progress=asdict(job.progress) | asdict(job.pace) if job.progress and job.pace else None,
            error=JobFailure.build(job.error) if job.error else None,
            **more,
        )


class JobReply(_Job):
    """A job. The counts from `docs_total` on are those of `result`, and before it what is known by then."""

    result: JobResult | None
    """What it did; null until then."""
    docs_total: int | None = None
    """Documents that were met; null until there is a result."""
    docs_ok: int
    """Documents that are in the corpus now; without a result the new and changed ones."""
    docs_failed: int | None = None
    """Files or records that could not be read; null until there is a result."""
    chunks_total: int | None = None
    """Leaves of the corpus afterwards; null until there is a result."""
    chunks_indexed: int
    """Leaves of new and changed documents."""
    duration_sec: float
    """How long it has taken, in seconds."""
    errors: list[Note]
    """The first 10 failures; none until there is a result."""
    warnings: list[str] = []
    """What was asked for and has no effect; absent if there is no such thing."""

    @classmethod
    def build(cls, job: Job) -> Self:
        """Return everything about a job."""
        result, so_far = job.result, job.progress
        counts: dict[str, Any] = dict.fromkeys(_EvaluationCounts.model_fields)
        counts |= {"docs_ok": so_far.documents if so_far else 0, "chunks_indexed": so_far.leaves if so_far else 0}
        counts |= {"duration_sec": round(job.elapsed_s, 2), "errors": []}
        if result:
            counts = {name: result[name] for name in counts}
        without_effect = {"warnings": [SIZES_ARE_SET]} if job.request.keys() & set(CHUNK_SIZES) else {}
        return cls.of(job, result=result, **counts, **without_effect)


class BriefJob(_Job):
    """A job without its lists."""

    result: BriefJobResult | None
    """What it did; null until then."""

    @classmethod
    def build(cls, job: Job) -> Self:
        """Return a job without its lists of what failed, was skipped, was left out, or is there twice."""
        result = job.result
        return cls.of(job, result={name: result[name] for name in BriefJobResult.model_fields} if result else None)


class JobsReply(Reply):
    """The jobs of this process."""

    jobs: list[BriefJob]
    """The newest first."""


def _moment(time: datetime | None) -> str | None:
    return time.isoformat(timespec="milliseconds") if time else None
