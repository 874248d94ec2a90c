"""Find the sentence of a passage that supports a statement, by the content words they share.

Flow: the generative author's marks -> **here** -> the quote behind a citation. Pure and simple on purpose: it picks a
sentence to show, it does not judge whether the statement is true.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from query_engine.passages import Passage
from query_engine.sentences import split_sentences

# Words that say nothing about what a sentence is about.
_STOP_WORDS = frozenset(
    "a about after all also although an and any are as at be because been before being between both but by can could "
    "did do does during each for from had has have how however i if in into is it its itself just may might more most "
    "much no nor not of on only or other our out over own per same should so some such than that the their them then "
    "there these they this those through to too under up used using very was we were what when where whether which "
    "while who whom whose why will with would you your".split()
)
_WORD = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
# Words are compared by their beginnings, so that "captured" supports "capture".
_STEM_CHARS = 6


@dataclass(frozen=True, slots=True)
class Support:
    """A sentence of a document, `[start, end)`, and how many content words it shares with the statement."""

    passage: Passage
    start: int
    end: int
    shared: int


def content_words(text: str) -> frozenset[str]:
    """Distinct words of `text` without stop words, cut to stems; numbers stay whole."""
    words = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:_STEM_CHARS] if word[0].isalpha() else word for word in words if word not in _STOP_WORDS)


def best_support(passage: Passage, statement: str, question: str) -> Support:
    """Return the sentence sharing most content words with the statement; ties go to the question, then to brevity.

    A passage without sentences supports as a whole.
    """
    wanted, asked = content_words(statement), content_words(question)

    def merit(span: tuple[int, int]) -> tuple[int, int, int]:
        words = content_words(passage.text[slice(*span)])
        return len(words & wanted), len(words & asked), -len(words)

    sentences = split_sentences(passage.text)
    spans = [(sentence.start, sentence.end) for sentence in sentences] or [(0, len(passage.text))]
    best = max(spans, key=merit)
    return Support(passage, passage.start + best[0], passage.start + best[1], merit(best)[0])


def supported_by(answer: str, passages: Sequence[Passage], question: str, *, limit: int) -> list[Support]:
    """Return, for each sentence of an answer, the sentence that plainly supports it; at most `limit`, in order.

    Plainly: it shares at least three content words and half of the statement's.
    """
    found: list[Support] = []
    for sentence in split_sentences(answer):
        statement = answer[sentence.start : sentence.end]
        best = max(
            (best_support(passage, statement, question) for passage in passages),
            key=lambda support: support.shared,
            default=None,
        )
        if best and best not in found and best.shared >= max(3, len(content_words(statement)) / 2):
            found.append(best)
    return found[:limit]
