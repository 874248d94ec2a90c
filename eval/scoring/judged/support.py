"""Support: how well do the quotes support the sentences that cite them? ARGUE: which sentences are rightly cited?

Support has the weights of TREC's RAG track (N. Thakur et al., "Support Evaluation for the TREC 2024 RAG Track", 2025,
arXiv 2504.15205): 1, 0.5 or 0 for each citation. There the first citation of a sentence counts; here precision is over
all of them, and recall takes a sentence's best. A sentence that stands word for word in its quote is supported without
asking.

ARGUE has the scores of Auto-ARGUE (W. Walden et al., 2025, arXiv 2509.26184) for the framework of J. Mayfield et al.
("On the Evaluation of Machine-Generated Reports", SIGIR 2024). A sentence is right if each of its citations supports
all of it. *Sentence precision* is the share of the right ones among those that have a citation or need one. *Nugget
recall* is the share of nuggets that the right sentences state in full. Quotes stand for the cited documents. The
prompts are those of support and of `nuggets.py`: after these families only the question whether a sentence needs a
citation, and the nuggets, are asked.
"""

from collections.abc import Mapping

from eval.cells import Cell, failed, not_applicable
from eval.metrics import contains, f1
from eval.scoring.catalogue import names_of
from eval.scoring.judge_client import Judge
from eval.scoring.judged import nuggets
from eval.scoring.judged.labels import HOLDS, ask_labels
from eval.scoring.judged.scorer import Material
from eval.scoring.offline.citations import MOST_CHARS, marked_sentences

_TASK = (
    'Say of each item how far its quote supports its sentence. "full": all that the sentence states follows from the '
    'quote. "partial": a part of it does. "none": nothing of it does, or the quote contradicts it. Judge by the quote '
    "alone, not by what you know."
)
_NEEDS = (
    'Say of each item, a sentence of the answer, whether a careful writer would cite a source for it. "needed": it '
    'states a fact that a reader may want to check. "not needed": it introduces, joins or sums up what others state, '
    "or says that something is not known."
)

Support = list[tuple[str, list[float]]]
"""Each sentence, and how far each quote that it cites supports it: 1, 0.5 or 0."""


async def score_support(judge: Judge, nth: str, material: Material) -> Mapping[str, float | Cell]:
    """Return precision over the citations, recall over the sentences, and their F1."""
    sentences = await _supported(judge, nth, material)
    if isinstance(sentences, Cell):
        return dict.fromkeys(names_of("support"), sentences)
    recall = sum(max(held, default=0.0) for _, held in sentences) / len(sentences)
    cited = [one for _, held in sentences for one in held]
    if not cited:
        none = not_applicable("the answer has no citations")
        return {"support_precision": none, "support_recall": recall, "support_f1": none}
    precision = sum(cited) / len(cited)
    return {"support_precision": precision, "support_recall": recall, "support_f1": f1(precision, recall)}


async def score_argue(judge: Judge, nth: str, material: Material) -> Mapping[str, float | Cell]:
    """Return the precision of sentences, and where there are nuggets their recall and the F1 of both."""
    sentences = await _supported(judge, nth, material)
    if isinstance(sentences, Cell):
        return dict.fromkeys(names_of("argue"), sentences)
    right = [text for text, held in sentences if held and min(held) == 1]
    uncited = [text for text, held in sentences if not held]
    given = {"question": material.question, "answer": material.answer}
    needs = await ask_labels(judge, nth, _NEEDS, given, items=uncited, labels=("needed", "not needed"))
    counted = len(sentences) - needs.count("not needed")
    precision = len(right) / counted if counted else not_applicable("no sentence needs a citation")
    scores: dict[str, float | Cell] = {"argue_sentence_precision": precision}
    if material.nuggets or material.sources:
        facts = await nuggets.nuggets_of(judge, material)
        held = await nuggets.assign(judge, nth, material.question, " ".join(right), facts) if right else []
        recall = held.count(1) / len(facts)
        both = precision if isinstance(precision, Cell) else f1(precision, recall)
        scores |= {"argue_nugget_recall": recall, "argue_f1": both}
    return scores


async def _supported(judge: Judge, nth: str, material: Material) -> Support | Cell:
    """Return the sentences of an answer, each with the support of its citations; or why that cannot be told."""
    if len(material.written) + sum(len(quote.quote or "") for quote in material.quotes) > MOST_CHARS:
        return failed(f"answer and quotes have more than {MOST_CHARS} characters, too many to be judged")
    texts: dict[int, list[str]] = {}
    for quote in material.quotes:
        texts.setdefault(quote.number, []).append(quote.quote or "")
    cited = [
        (each.text, [" … ".join(texts.get(number, [])) for number in dict.fromkeys(each.numbers)])
        for each in marked_sentences(material.written)
    ]
    if not cited:
        return not_applicable("the answer has no sentence")
    known = {(text, quote): contains(quote, text) for text, quotes in cited for quote in quotes}
    open_ = [pair for pair, value in known.items() if pair[1] and not value]
    items = [{"sentence": sentence, "quote": quote} for sentence, quote in open_]
    labels = await ask_labels(judge, nth, _TASK, {"question": material.question}, items=items, labels=tuple(HOLDS))
    known |= {pair: HOLDS[label] for pair, label in zip(open_, labels, strict=True)}
    return [(text, [known[text, quote] for quote in quotes]) for text, quotes in cited]
