"""ARGUE: how many sentences are rightly cited, and how many nuggets do rightly cited sentences state?

The scores of Auto-ARGUE (W. Walden et al., 2025, arXiv 2509.26184) for the framework of J. Mayfield et al. ("On the
Evaluation of Machine-Generated Reports", SIGIR 2024). A sentence is right if each of its citations supports all of it.
*Sentence precision* is the share of the right ones among those that have a citation or need one. *Nugget recall* is the
share of nuggets that the right sentences state in full. All judgements are yes or no.

Quotes stand for the cited documents. They are judged by the prompts of `support.py` and `nuggets.py`: after these
families only the question whether a sentence needs a citation, and the nuggets, are asked.
"""

from eval.cases import Case
from eval.cells import Cell, not_applicable
from eval.rows import Row
from eval.scoring.judge_client.client import Judge
from eval.scoring.judged import nuggets, support
from eval.scoring.judged.family import Decided, Family, Measures
from eval.scoring.judged.labels import ask_labels
from eval.scoring.judged.scorer import Material

_PRECISION, _RECALL, _F1 = "argue_sentence_precision", "argue_nugget_recall", "argue_f1"
_NEEDS = (
    'Say of each item, a sentence of the answer, whether a careful writer would cite a source for it. "needed": it '
    'states a fact that a reader may want to check. "not needed": it introduces, joins or sums up what others state, '
    "or says that something is not known."
)


def _questions(case: Case, row: Row) -> int:
    return nuggets.questions(case) + support.questions(case, row) + 1


async def _decide(judge: Judge, nth: str, material: Material) -> Decided:
    if support.too_long(material):
        return support.TOO_LONG
    sentences = await support.supported(judge, nth, material)
    if not sentences:
        return support.NO_SENTENCE
    right = [text for text, held in sentences if held and min(held) == 1]
    uncited = [text for text, held in sentences if not held]
    given = {"question": material.question, "answer": material.answer}
    needs = await ask_labels(judge, nth, _NEEDS, given, items=uncited, labels=("needed", "not needed"))
    counted = len(sentences) - needs.count("not needed")
    precision: float | Cell = not_applicable("no sentence needs a citation")
    if counted:
        precision = len(right) / counted
    if not (material.nuggets or material.sources):
        return {_PRECISION: precision}
    recall = await _recall(judge, nth, material, " ".join(right))
    f1 = precision if isinstance(precision, Cell) else support.f1(precision, recall)
    return {_PRECISION: precision, _RECALL: recall, _F1: f1}


async def _recall(judge: Judge, nth: str, material: Material, text: str) -> float:
    facts = await nuggets.nuggets_of(judge, material)
    held = await nuggets.assign(judge, nth, material.question, text, facts) if text else []
    return held.count(1) / len(facts)


FAMILY = Family(
    "argue",
    _decide,
    Measures(
        {
            _PRECISION: "Share of sentences that each of their quotes supports, of those that have or need one, by the "
            "judge; 0 to 1."
        },
        ("answer", "quotes"),
        _questions,
    ),
    Measures(
        {
            _RECALL: "Share of the nuggets that sentences with supporting quotes state, by the judge; 0 to 1.",
            _F1: f"F1 of `{_PRECISION}` and `{_RECALL}`, by the judge; 0 to 1.",
        },
        ("nuggets", "quotes"),
        declined=0.0,
    ),
)
