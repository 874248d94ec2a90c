"""Judge whether what was found covers a part of a question, and reword the part if it does not.

Flow: `retrieval/multi_part.py` -> **here**. The judge is the gate's own (`classifier.py`), asked for each part, so that
what counts as sufficient for a question counts for its parts too. Rewording needs no language model: a second search
names what the evidence of the other parts has brought up (of a plant "that took the record from Bath County", its
name), a third one keeps only the words that no passage held. Pure.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from index.lexical.tantivy_index import search_words
from query_engine.answerability.classifier import Confidence
from query_engine.question.decompose_rules import Part
from query_engine.schema.passage import Passage
from query_engine.text.sentences import split_sentences
from query_engine.text.term_weights import CorpusWords

# Passages of the other parts that are read for names, and names that are taken from them.
READ_PASSAGES = 3
MAX_NAMES = 3
_NAME = re.compile(r"\b[A-Z][\w'’-]*(?:\s+(?:of\s+|de\s+)?[A-Z][\w'’-]*)*")


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """What was found for one part.

    Attributes:
        part: what was searched for.
        passages: best first.
        confidence: the gate's judgement of them.
        sufficient: whether it is high enough.
    """

    part: Part
    passages: tuple[Passage, ...]
    confidence: Confidence
    sufficient: bool


def name_what_was_found(part: str, question: str, others: Sequence[Passage], corpus_words: CorpusWords) -> str | None:
    """Return the part with the names that the best sentence of the other parts' evidence holds; None without any.

    Args:
        part: a sub-question.
        question: the whole one; what it already names does not count as new.
        others: passages of the other parts, best first.
        corpus_words: the corpus's terms and their rarity.
    """
    words = corpus_words.words_of(question)
    asked = {term: words.weight(term) for term in words.query_terms(question)}
    best, most = "", 0.0
    for passage in others[:READ_PASSAGES]:
        for sentence in split_sentences(passage.text):
            text = passage.text[sentence.start : sentence.end]
            held = sum(asked[term] for term in set(words.terms(text)) & asked.keys())
            if held > most:
                best, most = text, held
    known = set(words.terms(question))
    # A sentence begins with a capital, too: its first words are no name if they are stop words.
    found = [" ".join(search_words(name)) for name in _NAME.findall(best)]
    names = [name for name in dict.fromkeys(found) if not set(words.terms(name)) <= known]
    return f"{part} {' '.join(names[:MAX_NAMES])}" if names else None


def keep_what_is_missing(part: str, confidence: Confidence, corpus_words: CorpusWords) -> str | None:
    """Return those words of the part that no passage held; None where that is all of them, or none."""
    words = corpus_words.words_of(part)
    missing = set(confidence.missing)
    kept = [word for word in part.split() if missing & set(words.terms(word))]
    return " ".join(kept) if kept and len(kept) < len(part.split()) else None
