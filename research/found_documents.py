"""List the documents of passages, each with the sentence that says most about a question.

Flow: a round's passages -> **here** -> its step. By words alone, because a round is shown immediately, and the reader,
which chooses the quotes, takes ten times as long.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from index.documents.sentences import split_sentences
from query_engine.schema.events import Nearest
from query_engine.schema.passage import DocumentKey, Passage
from query_engine.text.term_weights import TermWeights, question_weights
from research.schema import FoundDocument

MAX_DOCUMENTS = 5
MAX_SENTENCE_CHARS = 240
# Of one passage, which may be a whole chapter.
READ_CHARS = 2000


def found_documents(
    question: str, passages: Sequence[Passage], useful: Collection[Passage], words: TermWeights
) -> tuple[FoundDocument, ...]:
    """Return the first `MAX_DOCUMENTS` documents in the order of their best passage, useful ones first.

    Args:
        question: the whole one.
        passages: best first.
        useful: those of them that the review keeps.
        words: the corpus's terms and their rarity.
    """
    weights = question_weights(question, words)
    kept = {passage.node_id for passage in useful}
    found: dict[DocumentKey, FoundDocument] = {}
    ordered = sorted(passages, key=lambda passage: passage.node_id not in kept)
    for passage in ordered:
        if passage.document in found:
            continue
        if len(found) == MAX_DOCUMENTS:
            break
        found[passage.document] = FoundDocument(best_sentence(passage, weights, words), passage.node_id in kept)
    return tuple(found.values())


def best_sentence(passage: Passage, weights: Mapping[str, float], words: TermWeights) -> Nearest:
    """Return the sentence of a passage, no heading, that holds most of the weighted terms; the first one of equals."""
    best, most = passage.text[:MAX_SENTENCE_CHARS], -1.0
    start = 0
    for sentence in split_sentences(passage.text[:READ_CHARS]):
        if sentence.kind == "heading":
            continue
        text = passage.text[sentence.start : sentence.end]
        held = sum(weights.get(term, 0.0) for term in set(words.terms(text)))
        if held > most:
            best, start, most = text, sentence.start, held
    return place_of(passage, start, best)


def place_of(passage: Passage, start: int, sentence: str) -> Nearest:
    """Return the place of a sentence that begins at `start` of the passage's text."""
    quote = _cut(sentence)
    start += passage.start
    return Nearest(passage.doc_id, passage.title, passage.url, start, start + len(quote), quote, corpus=passage.corpus)


def _cut(sentence: str) -> str:
    if len(sentence) <= MAX_SENTENCE_CHARS:
        return sentence
    return re.sub(r"\s+\S*\Z", "", sentence[: MAX_SENTENCE_CHARS + 1])[:MAX_SENTENCE_CHARS]
