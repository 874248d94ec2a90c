"""Find the place of a passage that a sentence is about, by the words and figures that both hold.

Flow: `cited_text.py` (a sentence and the source that it cites) -> **here** -> the span that the citation shows. Pure.
"""

from collections import Counter
from collections.abc import Sequence

from index.documents.sentences import split_sentences
from query_engine.schema.passage import Passage
from query_engine.text.words import WORD

Span = tuple[int, int]

# A shared figure says as much as this many shared words.
FIGURE_WEIGHT = 3.0


def best_place(passage: Passage, sentence: str) -> Span:
    """Return the span, in the document, of the passage's sentence, row or line that shares most with `sentence`.

    A word counts the less, the more of the passage's sentences hold it. Where nothing is shared, as between languages,
    it is the first sentence of the leaf that was found.
    """
    sentences = split_sentences(passage.text)
    said = [one for one in sentences if one.kind != "heading"] or sentences
    spans = [(one.start, one.end) for one in said] or [(0, len(passage.text))]
    share = shares([passage.text[start:end] for start, end in spans], sentence)
    best = max(range(len(spans)), key=lambda at: share[at])
    if not share[best]:
        found = passage.hits[0].start - passage.start if passage.hits else 0
        best = next((at for at, (_, end) in enumerate(spans) if end > found), 0)
    start, end = spans[best]
    return passage.start + start, passage.start + end


def shares(texts: Sequence[str], sentence: str) -> list[float]:
    """Return how much each text shares with a sentence, 0 or more, by words that are rare among the texts."""
    wanted = _words(sentence)
    words = [_words(text) & wanted for text in texts]
    held = Counter(word for some in words for word in some)
    return [sum((FIGURE_WEIGHT if word[0].isdigit() else 1.0) / held[word] for word in some) for some in words]


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in WORD.findall(text.casefold()) if len(word) > 2 or word[0].isdigit())
