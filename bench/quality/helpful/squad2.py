"""Score a whole answer to a SQuAD 2.0 question: is the short answer in it, and is a near miss declined?

Flow: `sets.py` (questions) -> **here** -> `command.py`. Pure.

The near misses of this set were written by people, to look answerable by the article they were written for.
"""

from collections.abc import Mapping
from typing import ClassVar, Self

from pydantic import model_validator

from bench.quality.helpful.asking import NaturalCase, said
from bench.quality.helpful.clapnq import ascii_words
from eval.cases import Text
from eval.metrics import ARTICLES, Scores
from eval.rows import Row

DOUBTED = "declined or low_confidence near misses"


class Squad2Case(NaturalCase):
    """A question; `answer` None: a near miss.

    Attributes:
        answers: the short answers that are accepted.
    """

    MEASURES: ClassVar[Mapping[str, int]] = {
        "contained": 3,
        "words": 1,
        "right doc": 3,
        "declined answerable": 3,
        "declined near misses": 3,
        DOUBTED: 3,
    }

    corpus: Text
    answers: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _has_answers(self) -> Self:
        if self.answer is not None and not self.answers:
            raise ValueError("an answerable question needs `answers`")
        return self

    def score(self, row: Row, documents: Mapping[str, str]) -> Scores:  # noqa: ARG002  # no regions
        """Return the measures that the question allows.

        `contained`: 1 if an accepted answer stands in the text as whole words; case, punctuation and articles do not
        count. `words`: of the answer. `right doc`: 1 if a relevant document is cited. A declined question counts 0 in
        all three. `declined answerable`, `declined near misses`: 1 if nothing was answered.
        """
        declined = float(not said(row))
        if self.answer is None:
            return {"declined near misses": declined, DOUBTED: float(declined or row.low_confidence)}
        text = said(row) or ""
        return {
            "contained": float(any(_plain(accepted) in _plain(text) for accepted in self.answers)),
            "words": float(len(text.split())),
            "right doc": float(any(citation.doc_id in self.relevant_docs for citation in row.citations)),
            "declined answerable": declined,
        }


def _plain(text: str) -> str:
    return f" {' '.join(word for word in ascii_words(text) if word not in ARTICLES)} "
