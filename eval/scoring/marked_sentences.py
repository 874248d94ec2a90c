"""Cut an answer into its sentences with their marks, as a reader of the finished answer sees them.

Flow: an answer -> **here** -> `offline/citations.py`, `judged/support.py`. Pure.
"""

import re

from eval.metrics import words
from query_engine.synthesis.citation_marks import MarkedSentence, MarkedSentences

# Cutting a text without any full stop into sentences takes time that grows with the square of its length.
MOST_CHARS = 20_000

_BEFORE_ROW = re.compile(r"(?<=\]) (?=\|)")
_AFTER_ROW = re.compile(r"(\|(?: ?\[\d+\])+) ")


def marked_sentences(answer: str) -> list[MarkedSentence]:
    """Return the sentences that hold a word, without headings; callers refuse answers of more than `MOST_CHARS`."""
    # A quoted row of a table stands within running text; on a separate line it differs from its neighbours.
    lines = _AFTER_ROW.sub(r"\1\n", _BEFORE_ROW.sub("\n", answer.replace("**", "")))
    reader = MarkedSentences()
    return [each for each in [*reader.feed(lines), *reader.finish()] if not each.heading and words(each.text)]
