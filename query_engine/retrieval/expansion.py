"""Expand a query before the search by what a language model writes: other wordings, or a passage that it makes up.

Flow: `schema/query.py` -> **here** (`llms/helper.py` asks the model) -> `hybrid.py`. One that fails or is too slow
leaves the query as it was, with a warning. What the model writes is only searched for: it never reaches an answer.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import LLMError, RagError, SettingsError
from index.corpus import Corpus
from query_engine.llms.base import LoadedModel
from query_engine.llms.helper import ASIDE_S, PromptHelper
from query_engine.llms.reply import listed
from query_engine.question.validation import MAX_WORDED_CHARS
from query_engine.retrieval.steering import embedding_of
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.query import Query, Vector
from query_engine.text.term_weights import TermWeights
from settings import Settings

WORDINGS = 3
REPHRASE = f"""Rephrase this question in {WORDINGS} different ways, with other words for the same things.
Keep names, numbers and dates as they are. Write one a line, and nothing else.

Question: {{question}}"""
MAKE_UP = """Write one short paragraph, as it could stand in a reference work, that answers this question.
If you do not know the answer, write what such a paragraph would most likely say.

Question: {question}
Paragraph:"""
# About the length of a leaf.
MAX_PASSAGE_CHARS = 1000


class Expansion(Protocol):
    """Changes queries."""

    name: str
    """`hyde` or `multi_query`."""

    def expand(self, query: Query) -> Query:
        """Return the query to search for; its text and versions are the same.

        Raises:
            RagError: it has nothing to say, or not in time.
        """
        ...


def expand(query: Query, expansions: Sequence[Expansion]) -> tuple[Query, tuple[AnswerWarning, ...]]:
    """Apply one expansion after the other, each to what those before it made; a warning for each that was left out."""
    warnings = []
    for expansion in expansions:
        try:
            query = expansion.expand(query)
        except RagError as error:
            text = f"The question was searched for without {expansion.name}. {error}"
            warnings.append(AnswerWarning("expansion_skipped", text))
    return query, tuple(warnings)


class MultiQuery:
    """Adds other wordings, so that one unlucky word decides less.

    The wordings become one query: a leaf's score for it is the mean of its scores for each (CombSUM: Fox and Shaw,
    "Combination of Multiple Searches", TREC-2, 1994), at the cost of one search.

    Args:
        asker: asks the model.
        embedder: of the corpus.
        words: of the corpus.
    """

    name = "multi_query"

    def __init__(self, asker: PromptHelper, embedder: BaseEmbedding, words: TermWeights) -> None:
        self._asker = asker
        self._embedder = embedder
        self._words = words

    def expand(self, query: Query) -> Query:
        """Return the query with the mean of all embeddings, and of all term weights.

        Raises:
            LLMError: the model wrote no other wording.
            OutOfTimeError: it took too long.
        """
        question = self._asker.quoted(query.text, self._asker.prompt_tokens // 2)
        reply = self._asker.ask(REPHRASE.format(question=question), query.limit(ASIDE_S))
        wordings = parse_wordings(reply, query.text)
        if not wordings:
            raise LLMError("The language model wrote no other wording of the question.", "Use a larger model.")
        queries = [query, *(Query(wording) for wording in wordings)]
        weights: Counter[str] = Counter()
        for each in queries:
            weights.update(dict.fromkeys(self._words.query_terms(each.text), 1.0) if each.terms is None else each.terms)
        return replace(
            query,
            embedding=mean_direction([embedding_of(each, self._embedder) for each in queries]),
            terms={term: weight / len(queries) for term, weight in weights.items()},
        )


class Hyde:
    """Moves the embedding halfway to a made-up passage's: unlike a question, it has the form of what is searched for.

    The words of the lexical search stay the question's, because made-up figures and names would find what holds the
    same mistakes. Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels", ACL 2023, arXiv:2212.10496.

    Args:
        asker: asks the model.
        embedder: of the corpus.
    """

    name = "hyde"

    def __init__(self, asker: PromptHelper, embedder: BaseEmbedding) -> None:
        self._asker = asker
        self._embedder = embedder

    def expand(self, query: Query) -> Query:
        """Return the query with the mean of both embeddings.

        Raises:
            LLMError: the model wrote nothing of use.
            OutOfTimeError: it took too long.
        """
        question = self._asker.quoted(query.text, self._asker.prompt_tokens // 2)
        passage = self._asker.ask(MAKE_UP.format(question=question), query.limit(ASIDE_S))
        made_up = np.asarray(self._embedder.get_text_embedding(passage[:MAX_PASSAGE_CHARS]), np.float32)
        return replace(query, embedding=mean_direction([embedding_of(query, self._embedder), made_up]))


def parse_wordings(reply: str, question: str) -> list[str]:
    """Return the first wordings of a reply, without repetitions and the question itself."""
    known = {question.casefold()}
    wordings = []
    for line in listed(reply, MAX_WORDED_CHARS):
        if line.casefold() not in known:
            known.add(line.casefold())
            wordings.append(line)
    return wordings[:WORDINGS]


def mean_direction(vectors: Sequence[Vector]) -> Vector:
    """Return the unit vector of the mean of unit vectors, at least one; the first one where they cancel out."""
    mean = np.mean(np.stack(vectors), axis=0)
    length = float(np.linalg.norm(mean))
    return vectors[0] if length < 1e-6 else (mean / length).astype(np.float32)


def check_expansion(settings: Settings) -> None:
    """Raise SettingsError where an expansion is set that needs a language model, and none is."""
    for name in ("hyde", "multi_query"):
        modelless = settings.llm.provider == "extractive" and settings.llm.query_model is None
        if getattr(settings.expansion, name) and modelless:
            raise SettingsError(
                f"RAG_EXPANSION__{name.upper()}=true needs a language model.",
                "Set RAG_LLM__PROVIDER to huggingface, ollama or openai, or name a RAG_LLM__QUERY_MODEL.",
            )


def build_expansions(
    settings: Settings, corpus: Corpus, embedder: BaseEmbedding, model: LoadedModel | None
) -> tuple[Expansion, ...]:
    """Return the expansions that are set, in the order in which they are applied; none by default.

    Args:
        settings: all of them, checked by `check_expansion`.
        corpus: whose words a question is read by.
        embedder: of the corpus.
        model: the configured language model, if there is one.
    """
    if model is None:
        return ()
    asker = PromptHelper(model, settings.llm.max_new_tokens)
    expansions: list[Expansion] = []
    if settings.expansion.multi_query:
        expansions.append(MultiQuery(asker, embedder, corpus.lexical_index))
    if settings.expansion.hyde:
        expansions.append(Hyde(asker, embedder))
    return tuple(expansions)
