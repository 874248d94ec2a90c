"""The reply of `POST /agent/research`, with the fields that clients of bedrock-rag-eval read.

Flow: the stream's last event -> **here** -> JSON. Pure. `[n]` means the same in every answer and in the summary.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import Field

from api.links import Links
from api.schemas.replies.answers import Citation, RetrievedPassage, message_of
from api.schemas.replies.base import Fingerprint, Reply, Timings, Warnings
from query_engine.schema.events import Done

if TYPE_CHECKING:  # it loads LlamaIndex
    from research.topic import conflicts, findings
    from research.topic.topic_research import TopicResearch


class Finding(Reply):
    """A sub-question with its answer."""

    subquestion: str
    """What was asked."""
    status: Literal["answered", "answered_after_retry", "gap"]
    """How it ended."""
    attempts: int
    """1, or 2 with another wording."""
    answer: str | None
    """The answer with marks `[n]`; null for a gap."""
    citations: list[Citation]
    """What the marks stand for."""
    contexts: list[RetrievedPassage]
    """The passages; empty unless `include_context` is set."""
    confidence: float
    """By the number of citations and documents, 0 to 1."""
    citation_count: int
    """How many citations the answer has."""
    unique_docs: int
    """How many documents are cited."""
    retried_subquestion: str | None
    """The other wording that was tried; null if there was none."""
    retry_resolved: bool
    """Whether that wording was answered."""

    @classmethod
    def build(cls, finding: "findings.Finding", links: Links, *, include_context: bool) -> Self:
        """Return a finding, with its passages only if they are wanted."""
        return cls.filled(
            finding,
            citations=Citation.build_all(finding.citations, links),
            contexts=RetrievedPassage.build_all(finding.done.passages) if include_context else [],
            citation_count=len(finding.citations),
            retried_subquestion=finding.retried,
            retry_resolved=finding.status == "answered_after_retry",
        )


class Gap(Reply):
    """A sub-question that the documents do not answer."""

    subquestion: str
    """What was asked."""
    reason: str
    """The reason it could not be answered."""


class ResearchStats(Reply):
    """How the sub-questions ended."""

    answered_count: int
    """Answered at once."""
    answered_after_retry_count: int
    """Answered in another wording."""
    gap_count: int
    """Not answered."""
    avg_confidence: float
    """Mean confidence, gaps as 0; 0 to 1."""

    @classmethod
    def build(cls, found: "Sequence[findings.Finding]") -> Self:
        """Count how sub-questions ended."""
        ends = [one.status for one in found]
        return cls.filled(
            answered_count=ends.count("answered"),
            answered_after_retry_count=ends.count("answered_after_retry"),
            gap_count=ends.count("gap"),
            avg_confidence=round(sum(one.confidence for one in found) / len(found), 4) if found else 0.0,
        )


class Statement(Reply):
    """A sentence of a possible conflict."""

    subquestion: str
    """Whose answer holds it."""
    sentence: str
    """The sentence."""
    citations: list[Citation]
    """What it cites."""


class Conflict(Reply):
    """Two statements that perhaps contradict each other."""

    opposition: Annotated[list[str], Field(examples=[["required", "optional"]])]
    """The words that oppose each other."""
    statements: list[Statement]
    """The statements that hold them."""

    @classmethod
    def build(cls, conflict: "conflicts.Conflict", links: Links) -> Self:
        """Return both statements with what they cite."""
        statements = [
            Statement.filled(one, citations=Citation.build_all(one.citations, links)) for one in conflict.statements
        ]
        return cls.filled(conflict, statements=statements)


class ResearchReply(Reply):
    """A topic, answered part by part and summed up."""

    topic: str
    """As it was sent."""
    subquestions: list[str]
    """What was asked, in order."""
    findings: list[Finding]
    """The answers, in the same order."""
    gaps: list[Gap]
    """What the documents do not answer."""
    final_summary: str
    """The whole as Markdown, with marks `[n]`; never empty."""
    citations: list[Citation]
    """What the marks of the summary stand for."""
    stats: ResearchStats
    """How the sub-questions ended."""
    possible_conflicts: list[Conflict]
    """Statements that perhaps contradict each other."""
    synthesizer: str | None
    """Who wrote the answers; null without one."""
    warnings: Warnings
    """What lowered the quality, each a code and a sentence."""
    timings_ms: Timings
    """Milliseconds by stage."""
    fingerprint: Fingerprint
    """Hash of settings, models and documents."""

    @classmethod
    def build(
        cls, topic: str, done: Done, found: "TopicResearch | None", links: Links, *, include_context: bool
    ) -> Self:
        """Return the reply.

        Args:
            topic: as it was sent.
            done: the last event.
            found: what it brings; None where nothing was asked, and its message says why.
            links: into the corpus.
            include_context: whether each finding's `contexts` hold its passages, or nothing.
        """
        findings = found.findings if found else ()
        return cls.filled(
            done,
            topic=topic,
            subquestions=[one.subquestion for one in findings],
            findings=[Finding.build(one, links, include_context=include_context) for one in findings],
            gaps=[Gap.filled(one) for one in findings if one.status == "gap"],
            final_summary=message_of(done),
            citations=Citation.build_all(done.citations, links),
            stats=ResearchStats.build(findings),
            possible_conflicts=[Conflict.build(one, links) for one in found.conflicts] if found else [],
            warnings=list(map(str, done.warnings)),
        )
