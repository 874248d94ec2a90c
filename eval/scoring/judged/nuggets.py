"""Nuggets and key points: which facts of a good answer does this one state, leave out or contradict?

The formulas of TREC's RAG track (R. Pradeep et al., "Initial Nugget Evaluation Results for the TREC 2024 RAG Track with
the AutoNuggetizer Framework", 2024, arXiv 2411.09607): at most 30 nuggets are made in rounds of ten texts, each is
vital or okay, the best 20 are assigned ten at a time; an answer that states a part of one gets half.

A case's own nuggets are used as they are. Otherwise the judge makes them of what the case knows of the right answer,
never of the passages that a run happened to find, so that all runs are measured by the same ones. They are made once
for all repetitions, which thus measure how the judge assigns.

Key points are the nuggets again, vital or not, with the three labels of DeepResearchGym (J. Coelho et al., 2025, arXiv
2505.19253), whose key point recall is the share of the supported ones.
"""

from collections.abc import Sequence

from eval.cases import Nugget
from eval.cells import Cell, not_applicable
from eval.scoring.judge_client import Judge
from eval.scoring.judged.labels import HOLDS, ask_labels, ask_texts, batches
from eval.scoring.judged.scorer import Material

MOST_MADE, MOST_KEPT = 30, 20
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
_TREAT = (
    'Say of each item, a point, how the answer treats it. "supported": the answer states it or says what implies it. '
    '"contradicted": the answer says something that cannot be true together with it. "omitted": neither. Judge by the '
    "answer's text alone, not by what you know."
)
_OF_POINTS = {
    "supported": "key_point_recall",
    "omitted": "key_points_omitted",
    "contradicted": "key_points_contradicted",
}
_WEIGHTS_OF_OKAY = {"vital_recall": 0.0, "nugget_recall": 1.0, "weighted_recall": 0.5}


async def nuggets_of(judge: Judge, material: Material) -> Sequence[Nugget]:
    """Return a case's own nuggets, or those that the judge makes: vital ones first, 20 of the 30 that it may name."""
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
    """Return how far an answer states each nugget: 1, 0.5 or 0."""
    given, facts = {"question": question, "answer": answer}, [nugget.text for nugget in nuggets]
    return [HOLDS[label] for label in await ask_labels(judge, nth, _ASSIGN, given, items=facts, labels=tuple(HOLDS))]


async def score_nuggets(judge: Judge, nth: str, material: Material) -> dict[str, float | Cell]:
    """Return the recalls, in which a nugget that is stated in part counts half, or nothing where they are strict."""
    nuggets = await nuggets_of(judge, material)
    held = await assign(judge, nth, material.question, material.answer, nuggets)
    full = [float(one == 1) for one in held]
    return {
        f"judged_{name}{strict}": _recall([1.0 if nugget.vital else okay for nugget in nuggets], counted)
        for strict, counted in (("", held), ("_strict", full))
        for name, okay in _WEIGHTS_OF_OKAY.items()
    }


def _recall(weights: Sequence[float], held: Sequence[float]) -> float | Cell:
    if not any(weights):
        return not_applicable("no nugget is vital")
    return sum(weight * one for weight, one in zip(weights, held, strict=True)) / sum(weights)


async def score_key_points(judge: Judge, nth: str, material: Material) -> dict[str, float]:
    """Return the shares of the key points with each label."""
    points = [nugget.text for nugget in await nuggets_of(judge, material)]
    given = {"question": material.question, "answer": material.answer}
    labels = await ask_labels(judge, nth, _TREAT, given, items=points, labels=tuple(_OF_POINTS))
    return {name: labels.count(label) / len(labels) for label, name in _OF_POINTS.items()}
