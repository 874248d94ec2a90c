"""Rerank with the configured language model: it orders a few passages at a time.

Flow: `base.py` -> **here** (`llms/helper.py` asks) -> scores. A window slides over the list from the back to the
front, so that a good passage is carried forward by each window that holds it (Sun et al. 2023, "RankGPT").

Sun et al., "Is ChatGPT Good at Search? Investigating Large Language Models as Re-Ranking Agents", EMNLP 2023,
arXiv:2304.09542.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from errors import LLMError
from query_engine.llms.helper import PromptHelper
from query_engine.runtime.deadline import Deadline
from query_engine.text.markdown_escape import without_marks
from query_engine.text.words import MARK

PROMPT = """Below are {count} passages, each after its number in brackets.
Rank them by how well they help to answer this question: {question}

{passages}

Question: {question}
Write only the numbers of all {count} passages, the most helpful first, in this form: {form}"""
# A number in brackets, a sign between two.
TOKENS_PER_NUMBER = 8
MIN_PASSAGE_TOKENS = 16
_NUMBER = re.compile(r"\b\d{1,4}\b")
# What stands between and beside the numbers of a list.
_OF_A_LIST = frozenset("0123456789[]().,;:>-* \t\n")


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

        def rank(shown: list[int]) -> list[int]:
            prompt = window_prompt(self._asker, question, [texts[i] for i in shown])
            ranking = read_ranking(self._asker.ask(prompt, deadline), len(shown))
            if not ranking.named:
                raise LLMError("The language model named no passage in its ranking.", "Use a larger model.")
            return ranking.order

        return rank_by_windows(len(texts), self._window, self._stride, rank)


@dataclass(frozen=True, slots=True)
class WindowRanking:
    """What a reply says of the order of a window.

    Attributes:
        order: indices 0 .. count-1, each once: those that the reply names, then the others in their order.
        named: how many it names.
        fault: what had to be repaired, as the end of a sentence; empty for a whole permutation.
    """

    order: list[int]
    named: int
    fault: str = ""


def rank_by_windows(count: int, window: int, stride: int, rank: Callable[[list[int]], list[int]]) -> list[float]:
    """Return 1 / rank for each of `count` items, whose order a sliding window makes.

    Args:
        count: of items, which stand in the order of the search.
        window: items that are compared at once.
        stride: how far the window moves.
        rank: items of a window -> the places 0 .. in it, the best first.
    """
    order = list(range(count))
    for start, end in windows(count, window, stride):
        shown = order[start:end]
        order[start:end] = [shown[place] for place in rank(shown)]
    scores = [0.0] * count
    for place, item in enumerate(order, start=1):
        scores[item] = 1 / place
    return scores


def window_prompt(asker: PromptHelper, question: str, texts: Sequence[str]) -> str:
    """Return the prompt that shows passages and asks for their order; long ones are cut alike.

    Raises:
        LLMError: a prompt has no room for so many.
    """
    question = asker.quoted(question, asker.prompt_tokens // 8)
    form = " > ".join(f"[{i + 1}]" for i in range(min(3, len(texts))))
    frame = PROMPT.format(count=len(texts), question=question, passages="", form=form)
    room_tokens = (asker.prompt_tokens - asker.tokens(frame)) // len(texts) - TOKENS_PER_NUMBER
    if room_tokens < MIN_PASSAGE_TOKENS:
        raise LLMError(
            f"A prompt of {asker.prompt_tokens} tokens has no room for {len(texts)} passages.",
            "Raise RAG_LLM__CONTEXT_TOKENS if the model allows it, or lower `window_size` in a pipeline.",
        )
    # A passage's own reference marks would be taken for numbers of passages.
    quoted = [without_marks(asker.quoted(text, room_tokens)) for text in texts]
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


def read_ranking(reply: str, count: int) -> WindowRanking:
    """Return the order of a window, and what the reply lacks.

    Numbers without brackets count only in a reply that has nothing else, because a model that chats writes "2 of the
    passages" as well. One that is repeated or out of range is passed over.
    """
    bare = set(reply) <= _OF_A_LIST
    numbers = MARK.findall(reply) or (_NUMBER.findall(reply) if bare else [])
    named = list(dict.fromkeys(int(number) - 1 for number in numbers if 1 <= int(number) <= count))
    missing = count - len(named)
    faults = [f"leaves out {missing} of them"] if missing else []
    if len(numbers) > len(named):
        faults.append(f"has {len(numbers) - len(named)} numbers that are repeated or unknown")
    fault = " and ".join(faults) if named else "names none of them"
    return WindowRanking(named + [i for i in range(count) if i not in named], len(named), fault)
