"""Let the language model write the first queries and review the passages, by replies in tags.

Flow: `loop.py` -> **here** (`llms/helper.py` asks, `tags.py` reads the reply) -> a `Review`. Titles and passages are
data: each is cut to one line, without the model's control tokens, and no instruction in them is followed.
"""

import re
from collections.abc import Callable, Sequence

from errors import LLMError
from query_engine.llms.helper import PromptHelper
from query_engine.prompting.builder import read_prompt
from query_engine.runtime.deadline import Deadline
from query_engine.schema.passage import Passage
from query_engine.text.term_weights import TermWeights, question_weights
from research.found_documents import best_sentence
from research.schema import Notes, Review
from research.tags import read_queries, read_review, was_asked

# Of the prompt: passages in the review, and what it leaves for the question and the notes.
PASSAGES_SHARE = 0.6
MIN_PASSAGE_TOKENS = 40
MAX_NOTES = 3
_BRACKETS = re.compile(r"[<>]")


class ModelReviewer:
    """Asks the language model; blocks.

    Args:
        helper: asks.
        notes: read, not changed.
        words: the corpus's terms and their rarity.
        max_queries: of the first round beside the question, and of a reply.
        on_thought: told each paragraph of the model's reasoning.
    """

    def __init__(
        self,
        helper: PromptHelper,
        notes: Notes,
        words: TermWeights,
        *,
        max_queries: int,
        on_thought: Callable[[str], None],
    ) -> None:
        self._helper = helper
        self._notes = notes
        self._words = words
        self._max_queries = max_queries
        self._on_thought = on_thought

    def first_queries(self, deadline: Deadline) -> tuple[str, ...]:
        """Return what to search for beside the question.

        Raises:
            RagError: the model failed, or the deadline passed.
        """
        if not self._max_queries:
            return ()
        question = self._quoted(self._notes.question, self._helper.prompt_tokens // 2)
        prompt = read_prompt("research_queries").format(question=question, most=self._max_queries)
        return read_queries(self._ask(prompt, deadline), self._notes.question)[: self._max_queries]

    def review(self, passages: Sequence[Passage], deadline: Deadline) -> Review:
        """Ask what helps, whether it is enough, and what to search for next.

        Args:
            passages: what the round found, best first.
            deadline: of the reply.

        Raises:
            RagError: the model failed, or the deadline passed.
        """
        shown = self._shown(passages)
        reply = read_review(self._ask(self._prompt(shown), deadline), len(shown))
        useful = tuple(passages[at] for at in reply.useful) if reply.useful is not None else tuple(passages)
        if useful and reply.sufficient:
            return Review(useful, reply.summary, sufficient=True)
        new = [query for query in reply.queries if not was_asked(query, self._notes.asked)]
        return Review(useful, reply.summary, False, reply.queries, tuple(new[: self._max_queries + 1]))

    def _prompt(self, shown: Sequence[str]) -> str:
        tokens = self._helper.prompt_tokens
        summaries = [self._quoted(one, tokens // 20) for one in self._notes.summaries[-MAX_NOTES:]]
        return read_prompt("research_review").format(
            question=self._quoted(self._notes.question, tokens // 10),
            queries="\n".join(f"- {self._quoted(query, tokens // 60)}" for query in self._notes.asked[-10:]),
            notes=" ".join(summaries) or "nothing",
            documents="\n".join(shown) or "(no document was found)",
        )

    def _shown(self, passages: Sequence[Passage]) -> list[str]:
        """Return the passages as the prompt shows them, as many as fit: from the best sentence on, if they are long."""
        room = int(self._helper.prompt_tokens * PASSAGES_SHARE)
        each = max(MIN_PASSAGE_TOKENS, room // max(1, len(passages)))
        weights = question_weights(self._notes.question, self._words)
        shown: list[str] = []
        for number, passage in enumerate(passages, start=1):
            text = passage.text
            if self._helper.tokens(text) > each:
                best = best_sentence(passage, weights, self._words)
                text = f"{passage.text[best.start - passage.start :]}"
            line = f"[{number}] {self._quoted(passage.title, 20)}: {self._quoted(text, each)}"
            room -= self._helper.tokens(line)
            if room < 0 and shown:
                break
            shown.append(line)
        return shown

    def _ask(self, prompt: str, deadline: Deadline) -> str:
        if self._helper.tokens(prompt) > self._helper.prompt_tokens:
            raise LLMError(
                "The review of what was found does not fit the language model's context.",
                "Raise RAG_LLM__CONTEXT_TOKENS if the model allows it, or lower RAG_LLM__MAX_NEW_TOKENS.",
            )
        return self._helper.ask(prompt, deadline, on_thought=self._on_thought)

    def _quoted(self, text: str, max_tokens: int) -> str:
        """Return text as it may stand in the prompt: cut, and with brackets that close no tag of ours."""
        return self._helper.quoted(_BRACKETS.sub(lambda found: "‹" if found[0] == "<" else "›", text), max_tokens)
