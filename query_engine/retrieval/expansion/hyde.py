"""Search for a passage that the language model makes up: unlike a question, it has the form of what is searched for.

Flow: `base.py` -> **here** (`llms/helper.py` asks) -> the embedding. What is made up is only searched
for: it never reaches an answer. The words of the lexical search stay the question's, because made-up figures and names
would find what holds the same mistakes.

Gao et al., "Precise Zero-Shot Dense Retrieval without Relevance Labels" (HyDE), ACL 2023, arXiv:2212.10496.
"""

from dataclasses import replace

from query_engine.llms.helper import PromptHelper
from query_engine.retrieval.expansion.base import mean_direction
from query_engine.retrieval.expansion.query_encoder import QuestionReader
from query_engine.schema.query import Query

PROMPT = """Write one short paragraph, as it could stand in a reference work, that answers this question.
If you do not know the answer, write what such a paragraph would most likely say.

Question: {question}
Paragraph:"""
# About the length of a leaf.
MAX_PASSAGE_CHARS = 1000


class Hyde:
    """Moves the embedding halfway to a hypothetical passage's.

    Args:
        asker: asks the model.
        reader: embeds.
        timeout_s: longest wait for the model.
    """

    name = "hyde"

    def __init__(self, asker: PromptHelper, reader: QuestionReader, timeout_s: float) -> None:
        self._asker = asker
        self._reader = reader
        self._timeout_s = timeout_s

    def expand(self, query: Query) -> Query:
        """Return the query with the mean of both embeddings.

        Raises:
            LLMError: the model wrote nothing of use.
            OutOfTimeError: it took too long.
        """
        question = self._asker.quoted(query.text, self._asker.prompt_tokens // 2)
        passage = self._asker.ask(PROMPT.format(question=question), query.limit(self._timeout_s))
        made_up = self._reader.embedded_passage(passage[:MAX_PASSAGE_CHARS])
        return replace(query, embedding=mean_direction([self._reader.embedding(query), made_up]))
