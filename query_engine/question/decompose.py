"""Take a question apart that asks for several things: comparisons, lists, two questions in one.

Flow: question -> **here** -> `retrieval/multi_part.py` searches for each part. A question that asks for one thing has
no parts and goes in one pass. Grammar decides (`decompose_rules.py`); where a language model is set, it is asked
instead, but only about questions whose form lets more than one thing be asked, so that simple ones never wait for it.
"""

import re
from dataclasses import dataclass

from errors import RagError
from query_engine.llms.helper import PromptHelper
from query_engine.llms.reply import listed
from query_engine.question.decompose_rules import MAX_PARTS, Part, split_question
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning

PROMPT = f"""Does this question ask for one thing, or for several that have to be looked up separately?
If for one thing, write only: ONE
If for several, write the separate questions, at most {MAX_PARTS}, one a line, and nothing else.
Each must make sense without the others: repeat names instead of writing "it" or "they".

Question: {{question}}"""
MAX_PART_CHARS = 300
MIN_WORDS = 6
# What lets a question ask for more than one thing.
_MAY_BE_SEVERAL = re.compile(
    r"\?.*\?|[,;]|\b(?:and|or|than|both|each|versus|vs|compared?|differ\w*|also|then)\b|\s(?:that|who|which|whose)\b",
    re.I | re.S,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is looked up.

    Attributes:
        parts: what is searched for side by side; none for a question that goes in one pass.
        by: who took it apart: `grammar` or `model`.
        warnings: where the model was asked without success.
    """

    parts: tuple[Part, ...] = ()
    by: str = "grammar"
    warnings: tuple[AnswerWarning, ...] = ()


ONE_PASS = Plan()


class Planner:
    """Takes questions apart; safe from many threads.

    Args:
        asker: asks the language model; None leaves it to grammar.
        timeout_s: longest wait for the model.
    """

    def __init__(self, asker: PromptHelper | None = None, timeout_s: float = 10) -> None:
        self._asker = asker
        self._timeout_s = timeout_s

    def plan(self, question: str, deadline: Deadline | None = None) -> Plan:
        """Return how to look the question up; asks the model, and so blocks, only where one is set."""
        by_grammar = Plan(split_question(question))
        if self._asker is None or not may_be_several(question):
            return by_grammar
        limit = Deadline(self._timeout_s) if deadline is None else deadline.for_stage(self._timeout_s)
        try:
            quoted = self._asker.quoted(question, self._asker.prompt_tokens // 2)
            reply = self._asker.ask(PROMPT.format(question=quoted), limit)
        except RagError as error:
            warning = AnswerWarning("planning_skipped", f"The question was taken apart by grammar alone. {error}")
            return Plan(by_grammar.parts, warnings=(warning,))
        return Plan(parse_parts(reply), "model")


def may_be_several(question: str) -> bool:
    """Say whether the question's form lets it ask for more than one thing."""
    return len(question.split()) >= MIN_WORDS and _MAY_BE_SEVERAL.search(question.strip().rstrip("?")) is not None


def parse_parts(reply: str) -> tuple[Part, ...]:
    """Return the questions of a model's reply; none where it wrote fewer than two, which is to say one thing."""
    asked = [line for line in listed(reply, MAX_PART_CHARS) if len(line.split()) > 1]
    parts = tuple(Part(line, line) for line in dict.fromkeys(asked))[:MAX_PARTS]
    return parts if len(parts) > 1 else ()
