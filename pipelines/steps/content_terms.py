"""The words of a text that say what it is about, for names that people read.

Flow: texts -> words without stop words -> terms by the word index's analyzer -> **here** -> `topics.py` counts terms
and shows words.
"""

import re
from collections import Counter

from index.lexical.language import question_language
from pipelines.steps.cleaning import stop_words
from pipelines.steps.lexical_reranking import analyzer

MIN_WORD_CHARS = 3
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")

Terms = Counter[str]


def content_terms(text: str, surfaces: dict[str, Counter[str]]) -> Terms:
    """Return the terms of a text that say what it is about, with their counts.

    Args:
        text: in any language; stop words of that language and of English are left out, and so are numbers.
        surfaces: term -> the words it stood for, with their counts; this text's are added.
    """
    words = analyzer()
    stop = stop_words(question_language(text)) | stop_words("en")
    terms = Terms()
    for word, number in Counter(_WORD.findall(text.casefold())).items():
        if len(word) < MIN_WORD_CHARS or word in stop:
            continue
        term = " ".join(words.terms(word))
        if term:
            terms[term] += number
            surfaces.setdefault(term, Counter())[word] += number
    return terms
