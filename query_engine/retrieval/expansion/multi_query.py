"""Search for several wordings of a question at once, so that one unlucky word decides less.

Flow: `base.py` -> **here** (`llms/helper.py` asks) -> embedding and terms. The wordings become one query: a leaf's
score for it is the mean of its scores for each (CombSUM: Fox and Shaw, "Combination of Multiple Searches", TREC-2,
1994), at the cost of one search.
"""

from collections import Counter
from dataclasses import replace

from errors import LLMError
from query_engine.llms.helper import PromptHelper
from query_engine.llms.reply import listed
from query_engine.question.validation import MAX_WORDED_CHARS
from query_engine.retrieval.expansion.base import mean_direction
from query_engine.retrieval.expansion.query_encoder import QuestionReader
from query_engine.schema.query import Query

WORDINGS = 3
PROMPT = f"""Rephrase this question in {WORDINGS} different ways, with other words for the same things.
Keep names, numbers and dates as they are. Write one a line, and nothing else.

Question: {{question}}"""


class MultiQuery:
    """Adds other wordings.

    Args:
        asker: asks the model.
        reader: embeds and analyzes.
        timeout_s: longest wait for the model.
    """

    name = "multi_query"

    def __init__(self, asker: PromptHelper, reader: QuestionReader, timeout_s: float) -> None:
        self._asker = asker
        self._reader = reader
        self._timeout_s = timeout_s

    def expand(self, query: Query) -> Query:
        """Return the query with the mean of all embeddings, and of all term weights.

        Raises:
            LLMError: the model wrote no other wording.
            OutOfTimeError: it took too long.
        """
        question = self._asker.quoted(query.text, self._asker.prompt_tokens // 2)
        reply = self._asker.ask(PROMPT.format(question=question), query.limit(self._timeout_s))
        wordings = parse_wordings(reply, query.text)
        if not wordings:
            raise LLMError("The language model wrote no other wording of the question.", "Use a larger model.")
        queries = [query, *(Query(wording) for wording in wordings)]
        weights: Counter[str] = Counter()
        for each in queries:
            weights.update(self._reader.terms(each))
        return replace(
            query,
            embedding=mean_direction([self._reader.embedding(each) for each in queries]),
            terms={term: weight / len(queries) for term, weight in weights.items()},
        )


def parse_wordings(reply: str, question: str) -> list[str]:
    """Return the first wordings of a reply, without repetitions and the question itself."""
    known = {question.casefold()}
    wordings = []
    for line in listed(reply, MAX_WORDED_CHARS):
        if line.casefold() not in known:
            known.add(line.casefold())
            wordings.append(line)
    return wordings[:WORDINGS]
