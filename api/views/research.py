"""The reply of `POST /agent/research`, with the fields that clients of bedrock-rag-eval read.

Flow: the stream's last event -> **here** -> JSON. Pure. `[n]` means the same in every answer and in the summary.
"""

from collections.abc import Sequence
from typing import Any

from api.views.evaluate import citation_of, message_of
from api.views.links import Links
from api.views.query import retrieved_of
from query_engine.schema.events import Citation, Done
from research.topic.conflicts import Conflict, Said
from research.topic.findings import Finding, average_confidence
from research.topic.topic_research import ResearchDone


def to_research_reply(topic: str, done: Done, links: Links, *, include_context: bool) -> dict[str, Any]:
    """Return the reply as JSON-ready values.

    Args:
        topic: as it was sent.
        done: the last event; one that is not a `ResearchDone` says why nothing was asked, and has no findings.
        links: into the corpus.
        include_context: whether each finding's `contexts` hold its passages, or nothing.
    """
    found = done.research if isinstance(done, ResearchDone) else None
    findings = found.findings if found else ()
    counts = {status: sum(one.status == status for one in findings) for status in _STATUSES}
    return {
        "topic": topic,
        "subquestions": [one.subquestion for one in findings],
        "findings": [_finding(one, links, include_context=include_context) for one in findings],
        "gaps": [{"subquestion": one.subquestion, "reason": one.reason} for one in findings if one.status == "gap"],
        "final_summary": message_of(done),
        "citations": _citations(done.citations, links),
        "stats": {
            **{f"{status}_count": count for status, count in counts.items()},
            "avg_confidence": average_confidence(findings),
        },
        "possible_conflicts": [_conflict(one, links) for one in found.conflicts] if found else [],
        "synthesizer": done.synthesizer,
        "warnings": list(map(str, done.warnings)),
        "timings_ms": done.timings_ms,
        "fingerprint": done.fingerprint,
    }


_STATUSES = ("answered", "answered_after_retry", "gap")


def _finding(finding: Finding, links: Links, *, include_context: bool) -> dict[str, Any]:
    return {
        "subquestion": finding.subquestion,
        "status": finding.status,
        "attempts": finding.attempts,
        "answer": finding.answer,
        "citations": _citations(finding.citations, links),
        "contexts": [retrieved_of(passage) for passage in finding.done.passages] if include_context else [],
        "confidence": finding.confidence,
        "citation_count": len(finding.citations),
        "unique_docs": finding.unique_docs,
        "retried_subquestion": finding.retried,
        "retry_resolved": finding.status == "answered_after_retry",
    }


def _conflict(conflict: Conflict, links: Links) -> dict[str, Any]:
    return {
        "opposition": list(conflict.opposition),
        "statements": [_said(one, links) for one in conflict.statements],
    }


def _said(said: Said, links: Links) -> dict[str, Any]:
    return {
        "subquestion": said.subquestion,
        "sentence": said.sentence,
        "citations": _citations(said.citations, links),
    }


def _citations(citations: Sequence[Citation], links: Links) -> list[dict[str, Any]]:
    return [citation_of(citation, links) for citation in citations]
