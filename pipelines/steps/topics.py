"""Find what the documents of a result are about: groups of similar texts, named by their words.

Flow: texts -> vectors (the service's embedding model, kept in the row cache) -> k-means -> **here** -> a label a
document, and the topics with their words among the aggregated data.

Groups: k-means with careful seeding (Arthur and Vassilvitskii, "k-means++", SODA 2007), the best of some starts from
fixed seeds, so that the same table gives the same topics. Words: c-TF-IDF, which weighs a word by its share of the
group's words and its rarity in the groups together (Grootendorst, "BERTopic: Neural topic modeling with a class-based
TF-IDF procedure", arXiv:2203.05794). Of a long text the embedding model reads the beginning only; the words are those
of all of it.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from index.embedding.batch import embed_documents
from pipelines.handler import StepHandler
from pipelines.parameters import ColumnName, StepParameters, parameter
from pipelines.state import PipelineState
from pipelines.step import FULL_TEXT, Step
from pipelines.steps.content_terms import Terms, content_terms

STARTS = 10
ROUNDS = 30
BATCH_TEXTS = 32
LABEL_WORDS = 3

Vectors = npt.NDArray[np.float32]


class TopicModelling(Step):
    """Groups documents by topic."""

    id = "topic_modelling"
    name = "Topics"
    category = "Metadata Analysis"
    description = (
        "Divides the documents into topics by similarity in meaning, and names each by the words that mark it out."
    )
    closed = True

    class Parameters(StepParameters):
        """What is read and written, and how many topics there are."""

        input_column: ColumnName = parameter(
            FULL_TEXT, "Input column", "Column that is read.", column="reads", offered=(FULL_TEXT,)
        )
        output_column: ColumnName = parameter(
            "topic", "Output column", "Column for the label of each document's topic.", column="writes"
        )
        topics: int = parameter(5, "Topics", "Number of topics.", ge=1, le=50)
        words: int = parameter(10, "Words", "Words that are listed for a topic, at most.", ge=1, le=50)

    def transform(self, state: PipelineState, handler: StepHandler) -> PipelineState:
        """Add the labels, and the topics with their words and counts, the largest first."""
        texts = state.texts(self.given.input_column)
        held = [place for place, text in enumerate(texts) if text.strip()]
        if len(held) < len(texts):
            handler.warn(f"{len(texts) - len(held)} of {len(texts)} documents have no text, and so no topic.")
        labels: list[str | None] = [None] * len(texts)
        if not held:
            handler.warn("There are no texts to find topics in.")
            return state.with_column(self.given.output_column, labels, "chip").with_aggregated("Topics", "")
        groups = self._groups([texts[place] for place in held], handler)
        surfaces: dict[str, Counter[str]] = {}
        terms = [content_terms(texts[place], surfaces) for place in held]
        words = topic_words(groups, terms)
        lines = []
        names: set[str] = set()
        for number, (members, marking) in enumerate(zip(groups, words, strict=True), start=1):
            shown = [surfaces[term].most_common(1)[0][0] for term in marking[: self.given.words]]
            name = ", ".join(shown[:LABEL_WORDS])
            if not name or name in names:
                name = f"{name} ({number})".strip()
            names.add(name)
            for member in members:
                labels[held[member]] = name
            documents = f"{len(members)} document{'s' * (len(members) != 1)}"
            lines.append(f"{number}. {name}: {documents}. Words: {', '.join(shown) or 'none'}")
        labelled = state.with_column(self.given.output_column, labels, "chip")
        return labelled.with_aggregated("Topics", "\n".join(lines))

    def _groups(self, texts: list[str], handler: StepHandler) -> list[list[int]]:
        """Return the places of the texts of each topic, the largest first."""

        def compute(some: list[Any]) -> Iterable[list[float]]:
            embedder = handler.services.embedder()
            for start in range(0, len(some), BATCH_TEXTS):
                yield from embed_documents(embedder, some[start : start + BATCH_TEXTS], handler.check).tolist()

        name = ["embedding", handler.services.embedding_name()]
        vectors = np.asarray(handler.each(texts, name, compute), np.float32)
        distinct = len(np.unique(vectors, axis=0))
        if distinct < self.given.topics:
            handler.warn(
                f"{self.given.topics} topics were asked for, and there are {distinct} different texts: "
                f"{distinct} at most."
            )
        return clusters(vectors, min(self.given.topics, distinct), handler)


def clusters(vectors: Vectors, count: int, handler: StepHandler) -> list[list[int]]:
    """Return the rows of each cluster, the largest cluster first, of equal ones that with the first row.

    Args:
        vectors: unit vectors, shape (n, dimension).
        count: of clusters, at most the number of different vectors; fewer where some stay empty.
        handler: is asked between starts whether the task goes on.
    """
    from scipy.cluster.vq import ClusterError, kmeans2  # noqa: PLC0415  # half a second to import

    best, least = np.zeros(len(vectors), np.int64), math.inf
    for seed in range(STARTS):
        handler.check()
        try:
            centres, labels = kmeans2(
                vectors.astype(np.float64),
                count,
                iter=ROUNDS,
                minit="++",
                missing="raise",
                rng=np.random.default_rng(seed),
            )
        except ClusterError:
            continue  # a cluster lost its last member
        spread = float(((vectors - centres[labels]) ** 2).sum())
        if spread < least - 1e-9:
            best, least = labels, spread
    found: dict[int, list[int]] = {}
    for row, label in enumerate(best.tolist()):
        found.setdefault(label, []).append(row)
    return sorted(found.values(), key=lambda members: (-len(members), members[0]))


def topic_words(groups: Sequence[Sequence[int]], texts: Sequence[Terms]) -> list[list[str]]:
    """Return the terms of each group, by c-TF-IDF, the most telling first; equal ones in the order of the alphabet.

    The weight of a term in a group: its share of the group's terms, times ln(1 + A / f), f being how often it stands in
    all groups and A the mean number of terms of a group.

    Args:
        groups: places of texts.
        texts: the terms of each text with their counts.
    """
    counts = [sum((texts[place] for place in members), Counter[str]()) for members in groups]
    everywhere = sum(counts, Counter[str]())
    mean = everywhere.total() / (len(groups) or 1)
    ranked = []
    for own in counts:
        total = own.total()
        weights = {term: number / total * math.log(1 + mean / everywhere[term]) for term, number in own.items()}
        ranked.append(
            sorted(weights, key=lambda term: (-weights[term], term))
        )  # the lambda runs before `weights` changes
    return ranked
