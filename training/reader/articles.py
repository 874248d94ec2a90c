"""Read what others asked about SQuAD's articles, as rows in the form of `data/README.md`: question, document, quotes.

Flow: files of SQuAD and of its relatives, the articles -> **here** -> `found.py`, which asks our retrieval.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from training.reader.examples import Span, spaced, squad_paragraphs, word_vectorizer

# A heading or a caption is no paragraph that SQuAD asks about.
LEAST_PARAGRAPH_CHARS = 150
# So many questions before one and after it are about the same article, mostly.
NEIGHBOURS = 5
ROWS_AT_ONCE = 2000

Row = dict[str, Any]


def read_articles(folder: Path, leave_out: Collection[str]) -> dict[str, str]:
    """Return the texts of a folder's `.txt` files by name without ending, except those to leave out."""
    return {
        path.stem: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir()) if path.stem not in leave_out
    }


def rows_of_squad(path: Path, articles: Collection[str]) -> Iterator[Row]:
    """Yield the questions of SQuAD 2.0 (Rajpurkar et al., 2018, arXiv 1806.03822) to these articles.

    The quote is the sentence that holds the answer; a question without an answer has none.
    """
    for article, paragraph, asked in squad_paragraphs(path):
        for question, answer in asked if article in articles else ():
            quotes = [paragraph.text[slice(*one)] for one in paragraph.holding(answer)]
            if quotes or answer is None:
                yield _row(question, article, quotes)


def rows_of_sentences(sentences: Path, questions: Path, articles: Mapping[str, str]) -> Iterator[Row]:
    """Yield the questions of SQuAD as Du et al. cut it (2017, arXiv 1705.00106): each has a sentence that answers.

    Args:
        sentences: a tokenized sentence a line.
        questions: a tokenized question a line.
        articles: name -> text; questions to other articles are left out.
    """
    letters = {name: _Letters.of(text) for name, text in articles.items()}
    last = next(iter(letters), "")
    for sentence, question in zip(_lines(sentences), _lines(questions), strict=True):
        wanted = _Letters.of(re.sub(r"-[lr][rscb]b-", " ", sentence)).letters
        found = next((name for name in (last, *letters) if wanted and wanted in letters[name].letters), None)
        if found is not None:
            last = found
            start, end = letters[found].span_of(wanted)
            yield _row(spaced(question), found, [articles[found][start:end]])


def rows_of_near_misses(path: Path, articles: Mapping[str, str]) -> Iterator[Row]:
    """Yield the unanswerable questions of SQuAD 2.0 as SQuAD2-CR lists them (Lee et al., LREC 2020).

    The list does not say what they are about. Neighbours in it are mostly about the same article, which is found by the
    words of all; 99 % are, of 3,500 whose article is known.

    Args:
        path: its `word_att_extended.tsv`: id, tokenized question, and more.
        articles: name -> text, all that SQuAD asks of.
    """
    asked = [spaced(line.split("\t")[1]) for line in _lines(path)[1:]]
    paragraphs = [
        (name, paragraph)
        for name, text in articles.items()
        for paragraph in text.split("\n")
        if len(paragraph) >= LEAST_PARAGRAPH_CHARS
    ]
    vectorizer = word_vectorizer()
    matrix = vectorizer.fit_transform([paragraph for _, paragraph in paragraphs]).T.tocsc()
    firsts = [place for place, (name, _) in enumerate(paragraphs) if place == 0 or paragraphs[place - 1][0] != name]
    best = np.zeros((len(asked), len(firsts)), np.float32)
    for start in range(0, len(asked), ROWS_AT_ONCE):
        likeness = (vectorizer.transform(asked[start : start + ROWS_AT_ONCE]) @ matrix).toarray()
        for number, (first, following) in enumerate(pairwise([*firsts, len(paragraphs)])):
            best[start : start + ROWS_AT_ONCE, number] = likeness[:, first:following].max(axis=1)
    window = np.ones(2 * NEIGHBOURS + 1)
    article = np.apply_along_axis(lambda column: np.convolve(column, window, "same"), 0, best**2).argmax(axis=1)
    for question, number in zip(asked, article, strict=True):
        yield _row(question, paragraphs[firsts[number]][0], [])


def _row(question: str, article: str, quotes: list[str]) -> Row:
    return {"question": question, "doc": f"{article}.txt", "quotes": quotes}


@dataclass(frozen=True, slots=True)
class _Letters:
    """A text's letters and digits in lower case, and where each stands: other characters differ between versions."""

    letters: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "_Letters":
        kept = [(place, letter) for place, letter in enumerate(text.lower()) if letter.isalnum()]
        return cls("".join(letter for _, letter in kept), tuple(place for place, _ in kept))

    def span_of(self, letters: str) -> Span:
        """Return where these letters stand in the text; a full stop behind them is left out."""
        first = self.letters.index(letters)
        return self.places[first], self.places[first + len(letters) - 1] + 1


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()
