"""Score an answer to a CLAPNQ question: real search questions, answered by people from one passage of Wikipedia.

Flow: `sets.py` (questions) -> **here** -> `command.py`. Pure.

People wrote the references, and marked the sentences of the passage that they took them from. So an answer is compared
twice: word by word with what was written, and by the sentences it chose. Marks `[n]` and bold do not count in either.
"""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Self

from pydantic import model_validator
from rapidfuzz.distance import LCSseq

from bench.quality.helpful.asking import NaturalCase, said
from eval.cases import Text
from eval.metrics import Scores, token_f1
from eval.rows import Row
from eval.similarity import shared_in_order

# An answer holds a sentence if it has so much of its words, in their order.
HELD_SHARE = 0.8


class ClapnqCase(NaturalCase):
    """A question and its gold passage; `answer` None: the passage is about the subject but does not answer.

    Attributes:
        passage: doc_id of the gold passage.
        sentences: of that passage.
        answers: the references.
        selected: for each annotator, the numbers of the sentences that the reference rests on.
    """

    MEASURES: ClassVar[Mapping[str, int]] = {
        "ROUGE-L": 3,
        "recall": 3,
        "sentence precision": 3,
        "sentence recall": 3,
        "sentence F1": 3,
        "word F1": 3,
        "characters": 0,
        "declined answerable": 3,
        "declined unanswerable": 3,
        "gold cited": 3,
    }

    passage: Text
    sentences: tuple[str, ...]
    answers: tuple[Text, ...] = ()
    selected: tuple[tuple[int, ...], ...] = ()

    @model_validator(mode="after")
    def _has_references(self) -> Self:
        if self.answer is not None and not any(map(ascii_words, self.answers)):
            raise ValueError("an answerable question needs a reference in `answers`")
        return self

    def score(self, row: Row, documents: Mapping[str, str]) -> Scores:  # noqa: ARG002  # no regions
        """Return the measures that the question allows.

        `ROUGE-L` (F1) and `recall` (of single words): with the nearest reference, 0 if declined. `sentence precision`,
        `recall` and `F1`: the sentences of the gold passage that the answer holds against those an annotator marked,
        the annotator with the best F1. `word F1`: `token_f1` with all the marked sentences, as VerbatimRAG (arXiv
        2605.21102) measures quotes. `characters`: length, of an answer that was given. `gold cited`: 1 if that answer
        cites the gold passage. `declined answerable`, `declined unanswerable`: 1 if nothing was answered.
        """
        declined = float(not said(row))
        if self.answer is None:
            return {"declined unanswerable": declined}
        text = said(row) or ""
        without_marks = re.sub(r"\[\d+\]|\*\*", " ", text)
        spoken = ascii_words(without_marks)
        references = [words for reference in self.answers if (words := ascii_words(reference))]
        held = {number for number, sentence in enumerate(self.sentences) if _holds(spoken, ascii_words(sentence))}
        precision, recall, f1 = _choice(held, self.selected)
        scores = {
            "ROUGE-L": max(shared_in_order(spoken, reference) for reference in references),
            "recall": max((Counter(spoken) & Counter(words)).total() / len(words) for words in references),
            "sentence precision": precision,
            "sentence recall": recall,
            "sentence F1": f1,
            "word F1": max((token_f1(without_marks, self._text_of(marked)) for marked in self.selected), default=0.0),
            "declined answerable": declined,
        }
        if declined:
            return scores
        cited = any(citation.doc_id == self.passage for citation in row.citations)
        return scores | {"characters": float(len(text)), "gold cited": float(cited)}

    def _text_of(self, numbers: Collection[int]) -> str:
        return " ".join(self.sentences[number] for number in numbers)


def ascii_words(text: str) -> list[str]:
    """Return the lower-case runs of ASCII letters and digits, in order.

    Figures of CLAPNQ and SQuAD are compared with published ones, so a letter with an accent parts a word here, as it
    does in their scorers; `eval/metrics.py` reads every script.
    """
    return re.findall(r"[a-z0-9]+", text.lower())


def _holds(said: Sequence[str], sentence: Sequence[str]) -> bool:
    return bool(sentence) and LCSseq.similarity(sentence, said) >= HELD_SHARE * len(sentence)


def _choice(held: Collection[int], selected: Sequence[Collection[int]]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the sentences held, by the annotator who agrees best."""
    best = (0.0, 0.0, -1.0)
    for marked in map(set, selected):
        if marked:
            shared = len(marked & set(held))
            f1 = 2 * shared / (len(held) + len(marked))
            if f1 > best[2]:
                best = (shared / max(1, len(held)), shared / len(marked), f1)
    return best if best[2] >= 0 else (0.0, 0.0, 0.0)
