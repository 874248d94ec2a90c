"""Judge how likely the passages hold an answer, before anyone writes one.

Flow: merged passages -> `features.py` measures -> **here** -> `engine.py` decides. A logistic regression
joins the measures in one probability. `gate.json` holds what it learnt, `reference/gate.md` how and how well. It judges
whether an answer is likely to be there, not what it is.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from llama_index.core.base.embeddings.base import BaseEmbedding

from query_engine.answerability.features import Features, measure
from query_engine.reader.reading import LeafReader
from query_engine.runtime.watching import part
from query_engine.schema.passage import Passage
from query_engine.text.term_weights import CorpusWords

SHIPPED = Path(__file__).with_name("gate.json")
# Below this cosine a question has nothing to do with a window, as "Hello!" with any text. The reader learnt from no
# such pairs, and its verdict says nothing there.
UNRELATED = 0.2
# All words of a question, rounding aside.
ALL_WORDS = 0.999


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely the passages hold the answer.

    Attributes:
        value: 0..1.
        similarity: cosine of the question and the nearest leaf, -1..1.
        coverage: share of the question's words, weighted by rarity, that one passage and its title hold at best, 0..1.
        missing: the words that none of them holds, rarest first, as the index spells them.
    """

    value: float
    similarity: float
    coverage: float
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """What was found for one part of a question, and whether that covers it.

    Attributes:
        part: what was searched for.
        passages: best first.
        confidence: the gate's judgement of them, so that what is sufficient for a question is so for its parts.
        sufficient: whether it is high enough.
    """

    part: str
    passages: tuple[Passage, ...]
    confidence: Confidence
    sufficient: bool


@dataclass(frozen=True, slots=True)
class Weight:
    """What one of the `Features` counts.

    Attributes:
        feature: its name.
        mean: over the examples it was learnt from.
        scale: standard deviation over them.
        weight: change of the log-odds by one standard deviation.
    """

    feature: str
    mean: float
    scale: float
    weight: float


@dataclass(frozen=True, slots=True)
class Classifier:
    """Logistic regression over standardised features.

    Attributes:
        bias: log-odds where every feature has its mean.
        weights: one a feature.
    """

    bias: float
    weights: tuple[Weight, ...]

    def probability(self, features: Features) -> float:
        """Return how likely passages with these features hold the answer, 0..1."""
        logit = self.bias + sum(
            one.weight * (getattr(features, one.feature) - one.mean) / one.scale for one in self.weights
        )
        return 1 / (1 + math.exp(-logit))


@cache
def read_classifier() -> Classifier:
    """Read the shipped classifier from its JSON file."""
    stored = json.loads(SHIPPED.read_text(encoding="utf-8"))
    return Classifier(stored["bias"], tuple(Weight(**row) for row in stored["weights"]))


def assess(
    question: str,
    passages: Sequence[Passage],
    words: CorpusWords,
    embedder: BaseEmbedding,
    reader: LeafReader,
) -> Confidence:
    """Judge passages; without any the value is 0, and so it is if they are unrelated to the question.

    Embeds only if no passage was found by its meaning.
    """
    if not passages:
        return Confidence(0.0, 0.0, 0.0, ())
    with part("read"):
        reading = reader.read(question, passages)
    features = measure(question, passages, words, embedder, reading)
    # A part number may be far from its passage in meaning: there all words are held.
    is_unrelated = features.near < UNRELATED and features.coverage < ALL_WORDS
    value = 0.0 if is_unrelated else read_classifier().probability(features)
    return Confidence(value, features.similarity, features.coverage, features.missing)
