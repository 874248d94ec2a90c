"""Key points: which of them does the answer support, leave out or contradict?

The shares of DeepResearchGym (J. Coelho et al., 2025, arXiv 2505.19253): each key point has one of three labels; its
key point recall is the share of the supported ones. The key points are a case's nuggets, whether vital or not, or
those that the judge makes of the reference, as `nuggets.py` does.
"""

from eval.scoring.judge_client.client import Judge
from eval.scoring.judged.family import Decided, Family, Measures
from eval.scoring.judged.labels import ask_labels
from eval.scoring.judged.nuggets import nuggets_of, questions
from eval.scoring.judged.scorer import Material, Need

_TASK = (
    'Say of each item, a point, how the answer treats it. "supported": the answer states it or says what implies it. '
    '"contradicted": the answer says something that cannot be true together with it. "omitted": neither. Judge by the '
    "answer's text alone, not by what you know."
)
_MEASURES = {
    "supported": "key_point_recall",
    "omitted": "key_points_omitted",
    "contradicted": "key_points_contradicted",
}


async def _decide(judge: Judge, nth: str, material: Material) -> Decided:
    points = [nugget.text for nugget in await nuggets_of(judge, material)]
    given = {"question": material.question, "answer": material.answer}
    labels = await ask_labels(judge, nth, _TASK, given, items=points, labels=tuple(_MEASURES))
    return {name: labels.count(label) / len(labels) for label, name in _MEASURES.items()}


_RECALL, _OMITTED, _CONTRADICTED = _MEASURES.values()
_NEEDS: tuple[Need, ...] = ("nuggets",)
FAMILY = Family(
    "key_points",
    _decide,
    Measures(
        {_RECALL: "Share of the key points that the answer supports, by the judge; 0 to 1."},
        _NEEDS,
        questions,
        declined=0.0,
    ),
    Measures(
        {_OMITTED: "Share of the key points that the answer leaves out, by the judge; 0 to 1."},
        _NEEDS,
        better="lower",
        declined=1.0,
    ),
    Measures(
        {_CONTRADICTED: "Share of the key points that the answer contradicts, by the judge; 0 to 1."},
        _NEEDS,
        better="lower",
        declined=0.0,
    ),
)
