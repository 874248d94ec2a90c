"""Score a whole answer to a SQuAD 2.0 question: is the short answer in it, and is a near miss declined?

Flow: `sets.py` (questions) -> **here** -> `table.py`. Pure.

The near misses of this set were written by people, to look answerable by the article they were written for.
"""

from typing import Self

from pydantic import model_validator

from bench.quality.helpful.ascii_words import ascii_words
from bench.quality.helpful.asking import SystemAnswer
from eval.cases import Case, Text
from eval.metrics import ARTICLES, Scores

MEASURES = {
    "contained": 3,
    "words": 1,
    "right doc": 3,
    "declined answerable": 3,
    "declined near misses": 3,
    "declined or low_confidence near misses": 3,
}


class Squad2Case(Case):
    """A question; `answer` None: a near miss.

    Attributes:
        answers: the short answers that are accepted.
        corpus: the name of the corpus that is asked.
    """

    corpus: Text
    answers: tuple[Text, ...] = ()

    @model_validator(mode="after")
    def _has_answers(self) -> Self:
        if self.answer is not None and not self.answers:
            raise ValueError("an answerable question needs `answers`")
        return self


def score(case: Squad2Case, answer: SystemAnswer) -> Scores:
    """Return the measures that the question allows.

    `contained`: 1 if an accepted answer stands in the text as whole words; case, punctuation and articles do not count.
    `words`: of the answer. `right doc`: 1 if a relevant document is cited. A declined question counts 0 in all three.
    `declined answerable`, `declined near misses`: 1 if nothing was answered; `declined or low_confidence near misses`:
    1 also if the answer came with that warning.
    """
    declined = float(answer.declined)
    if case.answer is None:
        doubted = answer.declined or any("low_confidence" in warning for warning in answer.warnings)
        return {"declined near misses": declined, "declined or low_confidence near misses": float(doubted)}
    text = answer.text or ""
    return {
        "contained": float(any(_plain(accepted) in _plain(text) for accepted in case.answers)),
        "words": float(len(text.split())),
        "right doc": float(any(citation.doc_id in case.relevant_docs for citation in answer.citations)),
        "declined answerable": declined,
    }


def _plain(text: str) -> str:
    return f" {' '.join(word for word in ascii_words(text) if word not in ARTICLES)} "
