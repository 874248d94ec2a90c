"""A reader that compares words, so that what is done with its scores can be tested without a model."""

import re
from collections.abc import Sequence

from index.corpus import Corpus
from query_engine.reader.leaves import stored_documents
from query_engine.reader.model import PassageText, Scores
from query_engine.reader.reading import LeafReader
from tests.fakes.words import FakeWords

COMMON = frozenset("the what is of a an and how does do did who when where in on to for".split())


class WordReader:
    """Log-odds by the share of the question's words that a unit and its context hold: -4 with none, 4 with all.

    Attributes:
        read_texts: how many passages were read.
    """

    def __init__(self) -> None:
        self.read_texts = 0

    def read(self, question: str, passages: Sequence[PassageText]) -> list[Scores]:
        self.read_texts += len(passages)
        asked = _words(question) - COMMON
        found = []
        for passage in passages:
            units = tuple(_log_odds(asked, _words(passage.text[slice(*unit)])) for unit in passage.units)
            found.append(Scores(max(units, default=-4.0), units))
        return found


def a_leaf_reader(corpus: Corpus | None = None) -> LeafReader:
    """Over a corpus; without one, over the passages' own texts."""
    if corpus is None:
        return LeafReader(WordReader(), lambda _: None, FakeWords())
    return LeafReader(WordReader(), stored_documents(corpus.documents), corpus.lexical_index)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def _log_odds(asked: set[str], held: set[str]) -> float:
    return 8 * len(asked & held) / (len(asked) or 1) - 4
