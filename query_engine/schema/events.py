"""What an engine says while it answers: the typed events of `Engine.stream`.

Flow: engine -> **events** -> the views (`/run`, `/evaluate`, the command line, the evaluation harness). There
is no other path to an answer. The order is fixed:

    (Step | Retrieved)*  then  (Token | Step | Restarted)*  then  exactly one Done

Pure values; how they look on the wire is the views' business.
"""

from dataclasses import dataclass

from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.passage import DocumentKey, Passage

MAX_NEAREST = 3
"""Places below an answer, and sources of one that cites none."""


@dataclass(frozen=True, slots=True)
class Step:
    """One thing the engine did, as Markdown for people.

    Attributes:
        kind: `conversation`, `cache`, `collection`, `search`, `plan`, `found`, `merged`, `gate`, `write`,
            `think` or `warning`.
        text: what happened, one short paragraph or list.
    """

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Retrieved:
    """The passages the answer is written from, best first."""

    passages: tuple[Passage, ...]


@dataclass(frozen=True, slots=True)
class Token:
    """The next piece of the answer; concatenated, the texts of all since the last `Restarted` are the answer.

    Attributes:
        text: stands, unless the answer is restarted; may be empty.
        citations: what has been cited since the token before.
    """

    text: str
    citations: tuple["Citation", ...] = ()


@dataclass(frozen=True, slots=True)
class Restarted:
    """The pieces streamed so far are withdrawn: their synthesizer failed, or they were a model's reasoning."""

    reason: str


@dataclass(frozen=True, slots=True)
class Citation:
    """A place in a document that supports the answer.

    Attributes:
        number: the `n` of the `[n]` marks in the answer. Quotes of one source of a language model share one, and those
            of documents with the same `url`; else each quoted place has its own.
        start: offset of the quote in the document's text; `text[start:end] == quote`.
        url: the document's own address, or None: views then link to this service's document page.
        marks: the stretches `[start, end)` of the document that answer; empty if the whole quote does.
        corpus: that the document is from, where several were asked; else empty.
        date: when the document was written, see `Edition.date`; empty if nobody says.
        language: of the document, as it names it itself; else empty.
    """

    number: int
    doc_id: str
    chunk_id: str
    start: int
    end: int
    quote: str
    url: str | None
    title: str
    marks: tuple[tuple[int, int], ...] = ()
    corpus: str = ""
    date: str = ""
    language: str = ""

    @property
    def document(self) -> DocumentKey:
        """Names its document."""
        return self.corpus, self.doc_id


@dataclass(frozen=True, slots=True)
class Unsupported:
    """`text` stands at `[start, end)` of the answer and in no source."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Nearest:
    """A place where the answer to a question may stand, beside what is quoted.

    Attributes:
        url: the document's own address, or None: views then link to this service's document page.
        start: offset of the quote in the document's text; `text[start:end] == quote`.
        quote: a sentence or its beginning, never empty.
        headings: that it stands under, the outermost first; empty if they were not looked up.
        corpus: as for a citation.
    """

    doc_id: str
    title: str
    url: str | None
    start: int
    end: int
    quote: str
    headings: tuple[str, ...] = ()
    corpus: str = ""

    @property
    def document(self) -> DocumentKey:
        """Names its document."""
        return self.corpus, self.doc_id


@dataclass(frozen=True, slots=True)
class Done:
    """The finished answer.

    Attributes:
        answer: the whole text with `[n]` marks; None when the documents do not answer the question.
        message: what a person should read: the answer, or the sentence that says why there is none.
        citations: ordered by number, then by place.
        passages: what the answer was written from, best first.
        gate_reason: `no_retrieval`, `generated_no_answer_low_confidence`, `generated_no_answer_but_confident` or
            `generated_answer`.
        synthesizer: who wrote it: `extractive` or the provider of a model; `catalogue` where documents are
            listed or counted; None without an answer.
        warnings: for everything that lowered the quality (a failed model, a missing node), and
            `low_confidence` where the passages perhaps do not answer the question.
        timings_ms: by stage: `retrieve`, `write`, `total`.
        fingerprint: hash of settings, models and index version; equal fingerprints give comparable answers.
        cache_hit: the answer was given before and kept; `timings_ms` then holds only `total`.
        nearest: at most 3 places where the answer may also stand if it is quoted, or may stand if there is none; the
            likeliest first. Empty where a language model has answered.
        decline_text: how a language model declined, in its own words; empty if none did. `message` is the same then.
        unsupported: what of a language model's answer can be compared letter by letter, and no source holds.
    """

    answer: str | None
    message: str
    citations: tuple[Citation, ...]
    passages: tuple[Passage, ...]
    gate_reason: str
    synthesizer: str | None
    warnings: tuple[AnswerWarning, ...]
    timings_ms: dict[str, float]
    fingerprint: str
    cache_hit: bool = False
    nearest: tuple[Nearest, ...] = ()
    decline_text: str = ""
    unsupported: tuple["Unsupported", ...] = ()

    @classmethod
    def unanswered(cls, message: str, *warnings: AnswerWarning) -> "Done":
        """Return the last event of a question that no engine was asked, or whose engine failed."""
        return cls(
            answer=None,
            message=message,
            citations=(),
            passages=(),
            gate_reason="no_retrieval",
            synthesizer=None,
            warnings=warnings,
            timings_ms={},
            fingerprint="",
        )


Event = Step | Retrieved | Token | Restarted | Done
