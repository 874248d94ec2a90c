"""Decide whether quotes support a sentence, by the check that a generated answer goes through.

Flow: `citations.py` -> **here** -> `query_engine/synthesis/grounding.py`. A separate module, because that check loads
LlamaIndex and the names of metrics must not.
"""

from collections.abc import Sequence

from llama_index.core.base.embeddings.base import BaseEmbedding

from eval.rows import Quote
from query_engine.schema.passage import Passage
from query_engine.synthesis.grounding import Evidence


def supported(sentence: str, quotes: Sequence[Quote], embedder: BaseEmbedding) -> bool:
    """Whether every clause of a sentence (without marks) is held by one of the quotes."""
    return Evidence([_passage(quote) for quote in quotes], embedder).check(sentence).supported


def _passage(quote: Quote) -> Passage:
    text = quote.quote or ""
    return Passage(
        node_id="",
        chunk_id="",
        doc_id=quote.doc_id or "",
        title=quote.title or "",
        url=quote.url,
        level="leaf",
        start=quote.start or 0,
        end=(quote.start or 0) + len(text),
        pages=(),
        score=0.0,
        scores={},
        text=text,
    )
