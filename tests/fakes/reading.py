"""A reader that compares words, so that what is done with its scores can be tested without a model."""

import math
import re
from collections.abc import Sequence

from index.corpus import Corpus
from query_engine.reader.model import PassageText, Scores
from query_engine.reader.reading import LeafReader
from query_engine.reader.windows import stored_documents
from tests.fakes.words import FakeWords

COMMON = frozenset("the what is of a an and how does do did who when where in on to for".split())


class WordReader:
    """Log-odds by the share of the question's words that a unit and its context hold: -4 with none, 4 with all.

    Args:
        words: what it takes for the short answer, wherever a passage holds it.

    Attributes:
        read_texts: how many passages were read.
    """

    def __init__(self, words: str = "") -> None:
        self._words = words
        self.read_texts = 0

    def read(self, question: str, passages: Sequence[PassageText]) -> list[Scores]:
        self.read_texts += len(passages)
        asked = _words(question) - COMMON
        found = []
        for passage in passages:
            units = tuple(_log_odds(asked, _words(passage.text[slice(*unit)])) for unit in passage.units)
            at = passage.text.find(self._words) if self._words else -1
            span = (at, at + len(self._words)) if at >= 0 else None
            found.append(Scores(max(units, default=-4.0), units, span, 0.0 if span else -math.inf))
        return found


def a_leaf_reader(corpus: Corpus | None = None, *, words: str = "") -> LeafReader:
    """Over a corpus; without one, over the passages' own texts. `words` as for `WordReader`."""
    if corpus is None:
        return LeafReader(WordReader(words), lambda _: None, FakeWords())
    return LeafReader(WordReader(words), stored_documents(corpus.documents), corpus.lexical_index)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _log_odds(asked: set[str], held: set[str]) -> float:
    return 8 * len(asked & held) / (len(asked) or 1) - 4
