"""Settings -> the expansions of one corpus, in the order in which they are applied.

Flow: `query_engine/build.py` -> **here** -> `multi_query.py`, `hyde.py`.
"""

from llama_index.core.base.embeddings.base import BaseEmbedding

from errors import SettingsError
from index.corpus import Corpus
from query_engine.llms.base import LoadedModel
from query_engine.llms.helper import ASIDE_S, PromptHelper
from query_engine.retrieval.expansion.base import Expansion
from query_engine.retrieval.expansion.hyde import Hyde
from query_engine.retrieval.expansion.multi_query import MultiQuery
from query_engine.retrieval.expansion.query_encoder import QuestionReader
from settings import Settings


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
    """Return the expansions that are set; none by default.

    Args:
        settings: all of them, checked by `check_expansion`.
        corpus: whose words a question is read by.
        embedder: of the corpus.
        model: the configured language model, if there is one.
    """
    if model is None:
        return ()
    options = settings.expansion
    reader = QuestionReader(embedder, corpus.lexical_index)
    expansions: list[Expansion] = []
    asker = PromptHelper(model, settings.llm.max_new_tokens)
    if options.multi_query:
        expansions.append(MultiQuery(asker, reader, ASIDE_S))
    if options.hyde:
        expansions.append(Hyde(asker, reader, ASIDE_S))
    return tuple(expansions)
