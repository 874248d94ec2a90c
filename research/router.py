"""Choose between a single pass and the research loop for a question: mode `auto`.

Flow: `modes.py` -> **here** -> one of the two gathers. A question that asks for several things takes the loop, a short
one a single pass; about any other the language model is asked.
"""

from errors import RagError
from query_engine.llms.helper import PromptHelper
from query_engine.question.decompose import may_be_several
from query_engine.runtime.deadline import Deadline

TIMEOUT_S = 10.0
SHORT_WORDS = 8
PROMPT = """Can this question be answered from one place in one document, or does it need several searches?
If from one place, write only: SIMPLE
If it needs several searches, write only: COMPLEX

Question: {question}"""


def takes_rounds(question: str, helper: PromptHelper, deadline: Deadline) -> bool:
    """Say whether a question is worth several searches; blocks where the language model is asked."""
    if may_be_several(question):
        return True
    if len(question.split()) <= SHORT_WORDS:
        return False
    try:
        quoted = helper.quoted(question, helper.prompt_tokens // 2)
        reply = helper.ask(PROMPT.format(question=quoted), deadline.for_stage(TIMEOUT_S), one_line=True)
    except RagError:
        return False  # an answer tells a model that fails
    return "complex" in reply.lower()
