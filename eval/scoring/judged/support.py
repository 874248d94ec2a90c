"""Support: how well do the quotes support the sentences that cite them?

The weights of TREC's RAG track (N. Thakur et al., "Support Evaluation for the TREC 2024 RAG Track", 2025, arXiv
2504.15205): 1, 0.5 or 0 for each citation. There the first citation of a sentence counts; here precision is over all of
them, and recall takes a sentence's best. A sentence that stands word for word in its quote is supported without asking.
"""

from eval.cases import Case
from eval.cells import failed, not_applicable
from eval.metrics import contains
from eval.rows import Row
from eval.scoring.judge_client.client import Judge
from eval.scoring.judged.family import Decided, Family, Measures
from eval.scoring.judged.labels import BATCH, HOLDS, ask_labels
from eval.scoring.judged.scorer import Material
from eval.scoring.marked_sentences import MOST_CHARS, marked_sentences

_TASK = (
    'Say of each item how far its quote supports its sentence. "full": all that the sentence states follows from the '
    'quote. "partial": a part of it does. "none": nothing of it does, or the quote contradicts it. Judge by the quote '
    "alone, not by what you know."
)
TOO_LONG = failed(f"answer and quotes have more than {MOST_CHARS} characters, too many to be judged")
NO_SENTENCE = not_applicable("the answer has no sentence")

Support = list[tuple[str, list[float]]]
"""Each sentence, and how far each quote that it cites supports it: 1, 0.5 or 0."""


def too_long(material: Material) -> bool:
    """Whether cutting the answer into sentences would take too long."""
    return len(material.written) + sum(len(quote.quote or "") for quote in material.quotes) > MOST_CHARS


def questions(case: Case, row: Row) -> int:  # noqa: ARG001  # as `Measures` wants it
    """Return how many questions to the judge weigh the citations of a row, at most."""
    return -(-(row.answer or "").count("[") // BATCH)


async def supported(judge: Judge, nth: str, material: Material) -> Support:
    """Return the sentences of an answer that is not `too_long`, each with the support of its citations.

    Raises:
        JudgeError: the judge gave no judgement.
    """
    texts: dict[int, list[str]] = {}
    for quote in material.quotes:
        texts.setdefault(quote.number, []).append(quote.quote or "")
    cited = [
        (each.text, [" … ".join(texts.get(number, [])) for number in dict.fromkeys(number for _, number in each.marks)])
        for each in marked_sentences(material.written)
    ]
    known = {(text, quote): contains(quote, text) for text, quotes in cited for quote in quotes}
    open_ = [pair for pair, value in known.items() if pair[1] and not value]
    items = [{"sentence": sentence, "quote": quote} for sentence, quote in open_]
    labels = await ask_labels(judge, nth, _TASK, {"question": material.question}, items=items, labels=tuple(HOLDS))
    known |= {pair: HOLDS[label] for pair, label in zip(open_, labels, strict=True)}
    return [(text, [known[text, quote] for quote in quotes]) for text, quotes in cited]


async def _decide(judge: Judge, nth: str, material: Material) -> Decided:
    if too_long(material):
        return TOO_LONG
    support = [held for _, held in await supported(judge, nth, material)]
    if not support:
        return NO_SENTENCE
    cited = [one for held in support for one in held]
    recall = sum(max(held, default=0.0) for held in support) / len(support)
    if not cited:
        none = not_applicable("the answer has no citations")
        return {"support_precision": none, "support_recall": recall, "support_f1": none}
    precision = sum(cited) / len(cited)
    return {"support_precision": precision, "support_recall": recall, "support_f1": f1(precision, recall)}


def f1(precision: float, recall: float) -> float:
    """Return the harmonic mean."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


_ABOUT = {
    "support_precision": "Mean support of the answer's citations, by the judge; 0 to 1.",
    "support_recall": "Mean support of the answer's sentences by the best quote that they cite, 0 without one, by the "
    "judge; 0 to 1.",
    "support_f1": "F1 of `support_precision` and `support_recall`, by the judge; 0 to 1.",
}
FAMILY = Family("support", _decide, Measures(_ABOUT, ("answer", "quotes"), questions))
