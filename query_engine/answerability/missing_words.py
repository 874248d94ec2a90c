"""Name the words of a question that no passage holds, as they were typed.

Flow: `classifier.py` lists the terms that the best passages lack -> **here** -> the message of a declined question.
Only words that no dictionary has, as names: that the passages lack "promised" tells nothing. And only of an English
question, whose dictionary is at hand, as it was asked. Pure.
"""

import re
from collections.abc import Sequence

from index.lexical.language import question_language
from query_engine.answerability.classifier import Confidence
from query_engine.schema.passage import Passage
from query_engine.text.dictionary import in_dictionary
from query_engine.text.term_weights import CorpusWords

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
    """
    if question_language(asked) != "en":
        return ()
    held = {term for passage in passages for term in corpus_words.terms(f"{passage.name}\n{passage.text}")}
    typed: dict[str, str] = {}
    for word in map(_without_ending, _WORD.findall(asked)):
        terms = corpus_words.terms(word)
        if len(terms) == 1 and not in_dictionary(word.lower()):
            typed.setdefault(terms[0], word)
    return tuple(typed[term] for term in confidence.missing if term in typed and term not in held)[:MAX_WORDS]


def _without_ending(word: str) -> str:
    return _ENDING.sub("", word)
