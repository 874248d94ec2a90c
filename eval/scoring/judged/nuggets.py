"""Nuggets: which facts of a good answer does this one state?

The formulas of TREC's RAG track (R. Pradeep et al., "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with
the AutoNuggetizer Framework", 2024, arXiv 2411.09607): at most 30 nuggets are made in rounds of ten texts, each is
vital or okay, the best 20 are assigned ten at a time; an answer that states a part of one gets half.

A case's own nuggets are used as they are. Otherwise the judge makes them of what the case knows of the right answer,
never of the passages that a run happened to find, so that all runs are measured by the same ones. They are made once
for all repetitions, which thus measure how the judge assigns.
"""

from collections.abc import Sequence

from eval.cases import Case, Nugget
from eval.cells import Cell, not_applicable
from eval.rows import Row
from eval.scoring.judge_client.client import Judge
from eval.scoring.judged.family import Decided, Family, Measures
from eval.scoring.judged.labels import BATCH, HOLDS, ask_labels, ask_texts, batches
from eval.scoring.judged.scorer import Material

MOST_MADE, MOST_KEPT = 30, 20
_PREFIX, _STRICT = "judged_", "_strict"
_MAKE = (
    "Collect the facts that a good answer to the question must or may state. Take them from the texts alone, each as a "
    "separate, self-contained statement of at most a dozen words. Begin with the facts that are known already: keep "
    f"them, improve their wording, join those that say the same, and add what is new. At most {MOST_MADE}, the most "
    "important first."
)
_WEIGH = (
    'Say of each item, a fact, how much it matters to an answer of the question. "vital": an answer without it is not '
    'a good one. "okay": it is good to have, and an answer without it may be good.'
)
_ASSIGN = (
    'Say of each item, a fact, whether the answer states it. "full": the answer states all of it, in whatever words. '
    '"partial": it states a part of it. "none": it does not state it, or contradicts it. Judge by the answer\'s text '
    "alone, not by what you know."
)
# The weight of a nugget that is not vital, and what is measured with it.
_MEASURES = {
    "vital_recall": (0.0, "Share of the vital nuggets that the answer states"),
    "nugget_recall": (1.0, "Share of all nuggets that the answer states"),
    "weighted_recall": (0.5, "Share of all nuggets that the answer states, one that is not vital counting 0.5"),
}


def questions(case: Case, row: Row | None = None) -> int:  # noqa: ARG001  # as `Measures` wants it
    """Return how many questions to the judge make and assign the nuggets of a case, at most."""
    made = 0 if case.nuggets else len(batches(Material.sources_of(case))) + MOST_MADE // BATCH
    return made + len(batches(case.nuggets or range(MOST_KEPT)))


async def nuggets_of(judge: Judge, material: Material) -> Sequence[Nugget]:
    """Return a case's own nuggets, or those that the judge makes: vital ones first, at most 20 of the 30 it may name.

    Raises:
        JudgeError: the judge gave no judgement, or found no fact.
    """
    if material.nuggets:
        return material.nuggets
    facts: list[str] = []
    for batch in batches(material.sources):
        given = {"question": material.question, "known": facts, "texts": batch}
        facts = await ask_texts(judge, "0", _MAKE, given, MOST_MADE)
    given = {"question": material.question}
    labels = await ask_labels(judge, "0", _WEIGH, given, items=facts, labels=("vital", "okay"))
    found = [Nugget(text=fact, vital=label == "vital") for fact, label in zip(facts, labels, strict=True)]
    return sorted(found, key=lambda nugget: not nugget.vital)[:MOST_KEPT]


async def assign(judge: Judge, nth: str, question: str, answer: str, nuggets: Sequence[Nugget]) -> list[float]:
    """Return how far an answer states each nugget: 1, 0.5 or 0.

    Raises:
        JudgeError: the judge gave no judgement.
    """
    given, facts = {"question": question, "answer": answer}, [nugget.text for nugget in nuggets]
    return [HOLDS[label] for label in await ask_labels(judge, nth, _ASSIGN, given, items=facts, labels=tuple(HOLDS))]


async def _decide(judge: Judge, nth: str, material: Material) -> Decided:
    nuggets = await nuggets_of(judge, material)
    held = await assign(judge, nth, material.question, material.answer, nuggets)
    full = [float(one == 1) for one in held]
    return {
        f"{_PREFIX}{name}{strict}": _recall([1.0 if nugget.vital else okay for nugget in nuggets], counted)
        for strict, counted in (("", held), (_STRICT, full))
        for name, (okay, _) in _MEASURES.items()
    }


def _recall(weights: Sequence[float], held: Sequence[float]) -> float | Cell:
    if not any(weights):
        return not_applicable("no nugget is vital")
    return sum(weight * one for weight, one in zip(weights, held, strict=True)) / sum(weights)


_ABOUT = {
    f"{_PREFIX}{name}{strict}": f"{about}, by the judge; {how}; 0 to 1."
    for strict, how in (("", "in part counts 0.5"), (_STRICT, "in part counts nothing"))
    for name, (_, about) in _MEASURES.items()
}
FAMILY = Family("nuggets_judged", _decide, Measures(_ABOUT, ("nuggets",), questions, declined=0.0))
