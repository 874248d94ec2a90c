"""Make a question one that can be searched for, or answer it without a search.

Flow: `engine.py` -> **here** -> `question/` (conversation) and `collection/` (questions about the collection
itself). What was done to a question is told in steps; what it asks for in parts is `question/decompose.py`'s business.
"""

from collections.abc import Generator

from index.corpus import Corpus
from query_engine import steps
from query_engine.collection.answers import answer_about_collection
from query_engine.inquiry import Inquiry
from query_engine.prompting.conversation import last
from query_engine.question.condense import Condenser
from query_engine.question.validation import clean_question
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Event
from query_engine.synthesis.fallback_chain import Answer
from query_engine.text.words import WORD
from settings import AnswerSettings


class Understanding:
    """Reads questions; safe from many threads.

    Args:
        corpus: its catalogue answers questions about it.
        condenser: reads the conversation before a question.
        settings: which words are refused.
    """

    def __init__(self, corpus: Corpus, condenser: Condenser, settings: AnswerSettings) -> None:
        self._corpus = corpus
        self._condenser = condenser
        self._settings = settings

    def read(self, inquiry: Inquiry, answer: Answer, deadline: Deadline) -> Generator[Event, None, bool]:
        """Make `answer.question` stand on its own; return True if it needs no search.

        It was about the collection, and is answered, or it has a word that is refused.
        """
        asked = answer.question
        if (yield from self._closed(answer, inquiry)):
            return True
        if inquiry.turns:
            answer.turns = last(inquiry.turns)
            yield steps.looking_back(len(inquiry.turns))
            condensed = self._condenser.condense(answer.turns, asked, deadline)
            answer.question = clean_question(condensed.question)
            answer.warnings += condensed.warnings
            yield steps.condensed(condensed)
        return answer.question != asked and (yield from self._closed(answer, inquiry))

    def _closed(self, answer: Answer, inquiry: Inquiry) -> Generator[Event, None, bool]:
        """Close an answer that needs no search; return whether it was one."""
        words = set(WORD.findall(answer.question.casefold()))
        refused = next((one for one in self._settings.refused() if one in words), None)
        if refused is None:
            return inquiry.about_collection and (
                yield from answer_about_collection(self._corpus, answer, inquiry.filters)
            )
        yield steps.refused(refused)
        yield answer.done("no_retrieval", steps.REFUSED, word=refused)
        return True
