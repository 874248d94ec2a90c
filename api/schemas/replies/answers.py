"""Answers and what they are written from: `/query`, `/answer`, `/run`, `/evaluate`, `/retrieve`, papers.

Flow: finished answers, passages, paragraphs -> **here** -> routes send them, `api/openapi.py` describes them. Pure.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Self

from pydantic import ConfigDict, Field, RootModel

from api.links import Links
from api.schemas.replies.base import CorpusName, DocId, Fingerprint, GateReason, Id, Metadata, Reply, Timings, Warnings
from query_engine.schema import events
from query_engine.schema.events import Done
from query_engine.schema.passage import Passage
from query_engine.schema.retrieval_result import Retrieval
from query_engine.steps import DONT_KNOW

if TYPE_CHECKING:  # it loads LlamaIndex
    from query_engine.retrieval import papers

NO_MESSAGE = f"{DONT_KNOW} Nothing was written for this question."


def message_of(done: Done) -> str:
    """Return what a person should read. Never empty: one empty answer makes a whole submission invalid."""
    return done.message.strip() or NO_MESSAGE


def unsupported_in(done: Done) -> list[str]:
    """Return what of the answer no source holds, each once: for replies in which the answer's places have moved."""
    return list(dict.fromkeys(one.text for one in done.unsupported))


class _Place(Reply):
    doc_id: DocId
    """Id of the document."""
    title: str
    """Title of the document."""
    url: str
    """The document's own address, or that of its page here with the quote marked."""
    start: int
    """Offset of the quote in the document's text, in characters from 0."""
    end: int
    """Offset of the character after it."""
    quote: str
    """The quote: the document's text from `start` to `end`."""
    corpus: CorpusName = ""
    """Corpus of the document, where several were asked; else absent."""

    @classmethod
    def build_all(cls, places: Iterable[events.Citation | events.Nearest], links: Links) -> list[Self]:
        """Return places in documents, with their addresses."""
        return [cls.filled(place, url=links.of(place)) for place in places]


class Citation(_Place):
    """A place in a document that supports the answer."""

    number: Annotated[int, Field(examples=[1])]
    """The `n` of the marks `[n]` in the answer, from 1."""
    chunk_id: Annotated[str, Field(examples=["guide/wind.md#00002"])]
    """The passage that it stands in."""
    marks: list[tuple[int, int]]
    """The stretches `[start, end)` of the document that answer, in characters; empty if the whole quote does."""
    date: Annotated[str, Field(examples=["2024-05-31"])] = ""
    """When the document was written, by itself or its name; absent if neither says."""
    language: Annotated[str, Field(examples=["de"])] = ""
    """Language of the document, as it names it itself; absent if it does not."""


class Nearest(_Place):
    """A place where the answer may stand, beside what is quoted."""

    headings: list[str]
    """What it stands under in its document, the outermost first."""


class Unsupported(Reply):
    """What no source holds."""

    start: int
    """Offset of its first character in the answer, from 0."""
    end: int
    """Offset after its last one."""
    text: Annotated[str, Field(examples=["--no-such-flag"])]
    """The answer's characters there."""


class _Origin(Reply):
    source_path: str
    """The document's file, relative to the ingested folder."""
    content_type: Annotated[str, Field(examples=["markdown"])]
    """Name of the format that the document was read from."""
    chunk_index: int
    """Number of the passage's first leaf in the document, from 0."""
    metadata: Metadata
    """The document's metadata."""
    corpus: CorpusName = ""
    """Corpus of the document, where several were asked; else absent."""


class ContextSource(_Origin):
    """Where the passage with the same index stands."""

    doc_id: DocId
    """Id of the document."""
    chunk_id: Annotated[str, Field(examples=["guide/wind.md#00002"])]
    """Id of the passage: the document's, `#`, and the number of its first leaf."""
    title: str
    """Title of the document."""
    start: int
    """Offset of the passage in the document's text, in characters from 0."""
    end: int
    """Offset of the character after it."""
    pages: list[int]
    """Indices of the pages that it touches, from 0; empty for documents without pages."""
    score: float
    """What passages are ordered by, higher is better; comparable within one reply only."""


Scores = Annotated[dict[str, float], Field(examples=[{"dense": 0.81, "lexical": 7.3, "fused": 0.92}])]


class RetrievedPassage(ContextSource):
    """A passage that an answer was written from."""

    text: str
    """Its text."""
    vector_score: float | None
    """Cosine of question and passage, -1 to 1; null where the search by meaning did not find it."""
    keyword_score: float | None
    """BM25, 0 or more; null where the search for words did not find it."""
    scores: Scores
    """All scores, by scorer."""

    @classmethod
    def build_all(cls, passages: Iterable[Passage]) -> list[Self]:
        """Return passages with their scores."""
        return [
            cls.filled(one, vector_score=one.scores.get("dense"), keyword_score=one.scores.get("lexical"))
            for one in passages
        ]


class QueryReply(Reply):
    """An answer with its sources."""

    answer: Annotated[str | None, Field(examples=["Wind turns the blades. [1]"])]
    """The answer with marks `[n]`; null where the documents do not answer the question."""
    citations: list[Citation]
    """What the marks stand for, ordered by number; empty without an answer."""
    nearest: list[Nearest]
    """At most 3 places where the answer may also stand; empty where a language model wrote it."""
    retrieved: list[RetrievedPassage] | None
    """The passages that the answer was written from, best first; null unless `include_context` is set."""
    retrieved_count: int
    """How many passages these are."""
    max_score: float | None
    """The best score of a passage; null without passages."""
    gate_reason: GateReason
    """Why there is an answer or none: `generated_answer`, `no_retrieval`, `generated_no_answer_low_confidence` or
    `generated_no_answer_but_confident`."""
    cache_hit: bool
    """Whether the answer was given before and kept."""
    answered: bool
    """Whether there is an answer."""
    message: str
    """What a person should read: the answer, or why there is none; never empty."""
    decline_text: str | None
    """How a language model declined, in its own words; null if none did."""
    unsupported: list[Unsupported]
    """Figures, names, flags, paths, addresses and quoted words of the answer that no source holds."""
    contexts: list[str] | None
    """The texts of the passages; null unless `include_context` is set."""
    synthesizer: Annotated[str | None, Field(examples=["extractive"])]
    """Who wrote the answer; null without one."""
    warnings: Warnings
    """What lowered the quality, each a code and a sentence."""
    timings_ms: Timings
    """Milliseconds by stage."""
    fingerprint: Fingerprint
    """Hash of settings, models and documents; answers with equal ones are comparable."""
    answer_id: Id | None
    """For `/feedback`; null where feedback is off."""

    @classmethod
    def build(cls, done: Done, links: Links, *, include_context: bool, answer_id: str | None = None) -> Self:
        """Return the reply; `answer` is null and `citations` empty where the documents do not answer.

        Args:
            done: the finished answer.
            links: into the corpus it was written from.
            include_context: whether `retrieved` and `contexts` hold the passages, or null.
            answer_id: for feedback.
        """
        return cls.filled(
            done,
            citations=Citation.build_all(done.citations, links),
            nearest=Nearest.build_all(done.nearest, links),
            retrieved=RetrievedPassage.build_all(done.passages) if include_context else None,
            retrieved_count=len(done.passages),
            max_score=max((passage.score for passage in done.passages), default=None),
            answered=done.answer is not None,
            message=message_of(done),
            decline_text=done.decline_text or None,
            unsupported=list(map(Unsupported.filled, done.unsupported)),
            contexts=[passage.text for passage in done.passages] if include_context else None,
            warnings=list(map(str, done.warnings)),
            answer_id=answer_id,
        )


class TokenEvent(Reply):
    """Event `token`: the next piece of the answer."""

    token: str
    """The text of the piece."""


class StepEvent(Reply):
    """Event `step`: something that was done."""

    kind: Annotated[str, Field(examples=["search"])]
    """What it was: `search`, `found`, `gate`, `write`, `warning` and others."""
    text: str
    """What happened, as Markdown."""


class RestartEvent(Reply):
    """Event `restart`: the pieces so far are not the answer's."""

    reason: str
    """Why."""


class FailureEvent(Reply):
    """Event `error`: the answer failed."""

    code: Annotated[str, Field(examples=["internal"])]
    """Names the failure; never changes."""
    detail: str
    """What went wrong, for people."""


class RunRecord(Reply):
    """A record of the stream of `/run`; it replaces the one before."""

    intermediate_steps: str
    """All steps so far, as Markdown, with `|||---|||` between them."""
    final_report: str | None
    """The answer so far; null while there is none."""
    is_intermediate: bool
    """Whether this record has only steps, without an answer."""
    complete: bool
    """Whether this is the last record."""
    citations: list[str] = []
    """One address for each `[n]`, in order; in the last record alone."""
    error: str = ""
    """The reason for a failure; present only if answering failed before any text was written."""


class EvaluateReply(Reply):
    """A whole answer with everything that an offline evaluation needs."""

    query_id: Annotated[str, Field(examples=["q-17"])]
    """The request's `iid`."""
    generated_response: str
    """The answer, or why there is none; never empty."""
    citations: list[Citation]
    """What the marks `[n]` stand for."""
    contexts: list[str]
    """The texts of the passages that the answer was written from, best first."""
    context_sources: list[ContextSource]
    """Where each of `contexts` stands."""
    answered: bool
    """Whether there is an answer."""
    gate_reason: GateReason
    """Why there is an answer or none, as in the reply of `/query`."""
    decline_text: str | None
    """How a language model declined, in its own words; null if none did."""
    unsupported: list[Unsupported]
    """Figures, names, flags, paths, addresses and quoted words of the answer that no source holds."""
    synthesizer: str | None
    """Who wrote the answer; null without one."""
    warnings: Warnings
    """What lowered the quality, each a code and a sentence."""
    timings_ms: Timings
    """Milliseconds by stage."""
    fingerprint: Fingerprint
    """Hash of settings, models and documents."""
    answer_id: Id | None
    """For `/feedback`; null where feedback is off."""

    @classmethod
    def build(cls, done: Done, iid: str, links: Links, *, answer_id: str | None = None) -> Self:
        """Return the reply to question `iid`.

        Competition clients read two keys and keep the rest as they come, so what an offline evaluation needs travels in
        the extra keys.

        Args:
            done: the finished answer.
            iid: of the question.
            links: into the corpus it was written from.
            answer_id: for feedback.
        """
        return cls.filled(
            done,
            query_id=iid,
            generated_response=message_of(done),
            citations=Citation.build_all(done.citations, links),
            contexts=[passage.text for passage in done.passages],
            context_sources=list(map(ContextSource.filled, done.passages)),
            answered=done.answer is not None,
            decline_text=done.decline_text or None,
            unsupported=list(map(Unsupported.filled, done.unsupported)),
            warnings=list(map(str, done.warnings)),
            answer_id=answer_id,
        )


class Leaf(Reply):
    """A leaf that a passage was chosen for."""

    node_id: str
    """Names the leaf."""
    score: float
    """What leaves are ordered by, higher is better."""
    scores: Scores
    """All scores, by scorer."""
    ranks: Annotated[dict[str, int], Field(examples=[{"dense": 1, "lexical": 4}])]
    """Place in the ranking of each search that found it, from 1."""
    start: int
    """Offset of the leaf in the document's text, in characters from 0."""
    end: int
    """Offset of the character after it."""


class Explanation(Reply):
    """Why a passage was found."""

    leaves: list[Leaf]
    """The leaves that it was chosen for, best first."""
    merged: str | None
    """Why it is larger than a leaf; null for a leaf."""
    not_merged: str | None
    """Why it was not joined with the passage beside it; null where there is none."""


class FoundPassage(ContextSource):
    """A passage that was found."""

    node_id: str
    """The node of the document's tree; of joined neighbours the first."""
    url: str | None
    """The document's own address; null if it has none."""
    level: Annotated[str, Field(examples=["leaf"])]
    """`leaf`, `middle`, `root`, or `span` for joined neighbours."""
    scores: Scores
    """All scores, by scorer."""
    text: str
    """Its text."""
    explanation: Explanation | None = None
    """Why it was found; absent unless `explain` is set."""

    @classmethod
    def build(cls, passage: Passage, *, explain: bool = False) -> Self:
        """Return a passage, if wanted with why it was found."""
        why = Explanation.filled(
            leaves=list(map(Leaf.filled, passage.hits)), merged=passage.merged or None, not_merged=passage.alone or None
        )
        return cls.filled(passage, **({"explanation": why} if explain else {}))


class RetrieveReply(Reply):
    """The passages found for a question."""

    passages: list[FoundPassage]
    """The passages, best first."""
    timings_ms: Timings
    """Milliseconds by stage."""
    warnings: Warnings
    """What lowered the quality, each a code and a sentence."""
    retrieval_id: Id | None
    """For `/feedback`; null where feedback is off."""
    left_out: list[FoundPassage] = []
    """Passages that had no room; absent unless `explain` is set."""

    @classmethod
    def build(cls, found: Retrieval, retrieval_id: str | None, *, explain: bool) -> Self:
        """Return the reply, if wanted with why each passage was found."""
        return cls.filled(
            timings_ms=found.timings_ms,
            passages=[FoundPassage.build(one, explain=explain) for one in found.passages],
            warnings=list(map(str, found.warnings)),
            retrieval_id=retrieval_id,
            **({"left_out": list(map(FoundPassage.build, found.left_out))} if explain else {}),
        )


class Paragraph(_Origin):
    """A paragraph of a paper."""

    paper_id: str
    """The paper's name."""
    doc_type: Annotated[str, Field(examples=["paragraph"])]
    """The paper's type."""
    text: str
    """The paragraph."""
    distance: float
    """1 - cosine of question and paragraph, 0 to 2."""
    cosmos_object_id: str | int | float | None
    """The metadata field of this name; null without one."""
    article_terms: list[str] | str
    """The metadata field of this name; an empty list without one."""
    paragraph_terms: list[str]
    """The paper's terms that stand in the paragraph, and its words of several capital letters."""

    @classmethod
    def build(cls, paragraph: "papers.Paragraph") -> Self:
        """Return a paragraph with the fields that clients of ASK-xDD read, and where it is from."""
        document = paragraph.document
        return cls.filled(
            paragraph,
            doc_type=document.metadata.get("doc_type", "paragraph"),
            cosmos_object_id=document.metadata.get("cosmos_object_id"),
            article_terms=document.metadata.get("article_terms", []),
            paragraph_terms=paragraph.terms,
            **document.origin(document.tree[paragraph.position].start),
        )


class ParagraphsReply(RootModel[list[Paragraph]]):
    """Paragraphs of papers, nearest first; never empty."""

    model_config = ConfigDict(defer_build=True)


class ReactReply(Reply):
    """An answer from papers."""

    answer: str
    """The answer, or why there is none; `[n]` is the nth of `used_docs`."""
    used_docs: list[Paragraph]
    """The paragraphs that it was written from, cited ones first; empty without an answer."""
    unsupported: list[str]
    """Figures, names, flags, paths, addresses and quoted words of the answer that no source holds, each once."""
    warnings: Warnings
    """What lowered the quality."""


class StreamFailure(Reply):
    """Why a stream ended early."""

    code: Annotated[str, Field(examples=["internal"])]
    """Names the failure; never changes."""
    detail: str
    """What went wrong, for people."""


class ReactRecord(Reply):
    """A line of the stream; it has one of these fields."""

    thoughts: str = ""
    """What is being done."""
    used_docs: list[Paragraph] = []
    """Paragraphs of a round; in the last line but one those of the answer."""
    answer: str = ""
    """The answer, in the last line."""
    error: StreamFailure | None = None
    """Why there is none, in the last line."""
