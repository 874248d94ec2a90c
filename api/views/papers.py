"""Paragraphs of papers, with the fields that clients of ASK-xDD read.

Flow: `query_engine/retrieval/papers.py` -> **here** -> `/vector`, `/hybrid`, `/react`. Pure.
"""

from typing import Any

from query_engine.retrieval.papers import PARAGRAPH, Paragraph


def shown(paragraph: Paragraph) -> dict[str, Any]:
    """Return a paragraph with the fields that clients of ASK-xDD read, and where it is from."""
    metadata = paragraph.document.metadata
    return {
        "paper_id": paragraph.paper_id,
        "doc_type": metadata.get("doc_type", PARAGRAPH),
        "text": paragraph.text,
        "distance": paragraph.distance,
        "cosmos_object_id": metadata.get("cosmos_object_id"),
        "article_terms": metadata.get("article_terms", []),
        "paragraph_terms": paragraph.terms,
        **paragraph.document.origin(paragraph.document.tree[paragraph.position].start),
    }
