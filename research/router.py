"""Choose between a single pass and the research loop for a question: mode `auto`.

Flow: `modes.py` -> **here** -> one of the two gathers. A question that asks for several things takes the loop, a short
one a single pass; about any other the language model is asked.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from errors import RagError
from query_engine.answerability.classifier import Confidence
from query_engine.answerability.part_coverage import PartEvidence
from query_engine.llms.helper import PromptHelper
from query_engine.question.decompose import may_be_several
from query_engine.retrieval.multi_part import Evidence
from query_engine.runtime.deadline import Deadline
from query_engine.schema.events import Step
from query_engine.schema.retrieval_result import Retrieval
from research import steps

TIMEOUT_S = 10.0
SHORT_WORDS = 8
PROMPT = """Can this question be answered from one place in one document, or does it need several searches?
If from one place, write only: SIMPLE
If it needs several searches, write only: COMPLEX

Question: {question}"""


@dataclass(frozen=True, slots=True)
class Route:
    """Which way a question takes, and why, to end a sentence that begins with "since"."""

    mode: Literal["single", "agent"]
    why: str


def route(question: str, helper: PromptHelper, deadline: Deadline) -> Route:
    """Choose; blocks where the language model is asked."""
    if may_be_several(question):
        return Route("agent", "it asks for several things")
    if len(question.split()) <= SHORT_WORDS:
        return Route("single", "it is short and asks for one thing")
    try:
        quoted = helper.quoted(question, helper.prompt_tokens // 2)
        reply = helper.ask(PROMPT.format(question=quoted), deadline.for_stage(TIMEOUT_S), one_line=True)
    except RagError as error:
        return Route("single", f"the language model could not say whether it takes more: {error.fact}")
    if "complex" in reply.lower():
        return Route("agent", "the language model takes it for a complex one")
    return Route("single", "the language model takes it for a simple one")


class Routed:
    """The evidence of the way that the router chose; an `Evidence` of `retrieval/multi_part.py`.

    Args:
        choose: returns the way.
        ways: makes the evidence for each.
    """

    def __init__(self, choose: Callable[[], Route], ways: dict[str, Callable[[], Evidence]]) -> None:
        self._choose = choose
        self._ways = ways
        self._chosen: Evidence | None = None

    def steps(self) -> Iterator[Step]:
        """Choose, tell it, and gather."""
        chosen = self._choose()
        yield steps.routed(chosen.mode, chosen.why)
        self._chosen = self._ways[chosen.mode]()
        yield from self._chosen.steps()

    @property
    def retrieval(self) -> Retrieval:
        """See `Evidence`."""
        return self._evidence.retrieval

    @property
    def parts(self) -> Sequence[PartEvidence]:
        """See `Evidence`."""
        return self._evidence.parts

    def confidence(self, merged: Confidence) -> Confidence:
        """See `Evidence`."""
        return self._evidence.confidence(merged)

    @property
    def _evidence(self) -> Evidence:
        assert self._chosen is not None, "the steps are read first"
        return self._chosen
