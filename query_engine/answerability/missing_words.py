"""Name the words of a question that no passage holds, as they were typed.

Flow: `classifier.py` lists the terms that the best passages lack -> **here** -> the message of a declined question.
Only words that name a subject, and of the question as it was asked: neither "made", nor what an earlier question said.
Pure.
"""

import re
from collections.abc import Sequence

from query_engine.answerability.classifier import Confidence
from query_engine.schema.passage import Passage
from query_engine.text.light_words import is_light
from query_engine.text.term_weights import CorpusWords
from query_engine.text.words import WORD

MAX_WORDS = 3
_WORD = re.compile(r"\w+(?:['’]\w+)?")
_ENDING = re.compile(r"(?:n['’]t|['’]\w+)$")


def missing_words(
    asked: str, confidence: Confidence, passages: Sequence[Passage], corpus_words: CorpusWords
) -> tuple[str, ...]:
    """Return at most `MAX_WORDS` words of the question whose terms stand in none of the passages, rarest first.

    Args:
        asked: the question, as it was typed.
        confidence: of the question as it was read.
        passages: that were found.
        corpus_words: the corpus's terms.

    None for languages without spaces: their terms are pairs of characters, not words.
    """
    words = corpus_words.words_of(asked)
    held = {term for passage in passages for term in words.terms(f"{passage.title}\n{passage.text}")}
    typed: dict[str, str] = {}
    # Only in English an apostrophe stands before an ending.
    english = words is corpus_words
    for word in map(_without_ending, _WORD.findall(asked)) if english else WORD.findall(asked):
        terms = words.terms(word)
        if len(terms) == 1 and not is_light(word):
            typed.setdefault(terms[0], word)
    return tuple(typed[term] for term in confidence.missing if term in typed and term not in held)[:MAX_WORDS]


def _without_ending(word: str) -> str:
    return _ENDING.sub("", word)
