"""Rerank with the configured language model: it orders a few passages at a time.

Flow: `base.py` -> **here** (`llms/helper.py` asks) -> scores. A window slides over the list from the back to the
front, so that a good passage is carried forward by each window that holds it (Sun et al. 2023, "RankGPT").

Sun et al., "Is ChatGPT Good at Search? Investigating Large Language Models as Re-Ranking Agents", EMNLP 2023,
arXiv:2304.09542.
"""

import re
from collections.abc import Iterator, Sequence

from errors import LLMError
from query_engine.llms.helper import PromptHelper
from query_engine.prompting.builder import REFERENCE
from query_engine.runtime.deadline import Deadline

PROMPT = """Below are {count} passages, each after its number in brackets.
Rank them by how well they help to answer this question: {question}

{passages}

Question: {question}
Write only the numbers of all {count} passages, the most helpful first, in this form: {form}"""
# A number in brackets, a sign between two.
TOKENS_PER_NUMBER = 8
MIN_PASSAGE_TOKENS = 16


class ListwiseReranker:
    """Scores are 1 / rank, because a list gives no other.

    Args:
        asker: asks the model.
        window: passages in one prompt, at least 2.
        stride: how far the window moves, from 1 to `window`; what overlaps is compared across windows.
    """

    name = "listwise"

    def __init__(self, asker: PromptHelper, window: int, stride: int) -> None:
        self._asker = asker
        self._window = window
        self._stride = stride

    def score(self, question: str, texts: Sequence[str], deadline: Deadline) -> list[float]:
        """Return 1 / rank for each text.

        Raises:
            LLMError: the model failed, or named no passage of a window.
            OutOfTimeError: the deadline passed before the last window was ranked.
        """
        order = list(range(len(texts)))
        for start, end in windows(len(texts), self._window, self._stride):
            shown = order[start:end]
            prompt = self._prompt(question, [texts[i] for i in shown])
            ranking = parse_ranking(self._asker.ask(prompt, deadline), len(shown))
            order[start:end] = [shown[i] for i in ranking]
        scores = [0.0] * len(texts)
        for rank, i in enumerate(order, start=1):
            scores[i] = 1 / rank
        return scores

    def _prompt(self, question: str, texts: Sequence[str]) -> str:
        asker = self._asker
        question = asker.quoted(question, asker.prompt_tokens // 8)
        form = " > ".join(f"[{i + 1}]" for i in range(min(3, len(texts))))
        frame = PROMPT.format(count=len(texts), question=question, passages="", form=form)
        room_tokens = (asker.prompt_tokens - asker.tokens(frame)) // len(texts) - TOKENS_PER_NUMBER
        if room_tokens < MIN_PASSAGE_TOKENS:
            raise LLMError(
                f"A prompt of {asker.prompt_tokens} tokens has no room for {len(texts)} passages.",
                "Lower RAG_RERANK__WINDOW, or raise RAG_LLM__CONTEXT_TOKENS if the model allows it.",
            )
        # A passage's own reference marks would be taken for numbers of passages.
        quoted = [REFERENCE.sub(r"(\1)", asker.quoted(text, room_tokens)) for text in texts]
        passages = "\n".join(f"[{i}] {text}" for i, text in enumerate(quoted, start=1))
        return PROMPT.format(count=len(texts), question=question, passages=passages, form=form)


def windows(count: int, window: int, stride: int) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each window over `count` items, from the back; the last one starts at 0.

    Nothing is yielded for fewer than two items: they have one order.
    """
    end = count
    while end > 1:
        start = max(0, end - window)
        yield start, end
        if start == 0:
            return
        end -= stride


def parse_ranking(reply: str, count: int) -> list[int]:
    """Return the indices 0 .. count-1 in the order that a reply like `[2] > [1]` names them.

    Numbers without brackets serve where there are none with brackets. A number that is repeated or out of range is
    passed over; passages that are not named follow in their order.

    Raises:
        LLMError: no passage is named.
    """
    numbers = re.findall(r"\[(\d{1,4})\]", reply) or re.findall(r"\b\d{1,4}\b", reply)
    named = list(dict.fromkeys(int(number) - 1 for number in numbers if 1 <= int(number) <= count))
    if not named:
        raise LLMError("The language model named no passage in its ranking.", "Use a larger model.")
    return named + [i for i in range(count) if i not in named]
