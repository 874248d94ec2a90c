"""Let the language model reword a question for the search: as its parts, or in the language of the documents.

Flow: question, and what it finds by itself -> **here** -> `retrieval/multi_part.py` searches for each wording beside
the question. The model is asked, once, only about questions whose form says that they ask for several things, and about
those in another language than what was found, so that others never wait for it. Without a model only things that are
named side by side are parts (`sides.py`).
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from errors import RagError
from index.lexical.language import plain_language
from query_engine.llms.helper import ASIDE_S, PromptHelper
from query_engine.llms.reply import listed
from query_engine.question.sides import sides
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.schema.passage import Passage

MAX_PARTS = 4
PROMPT = f"""Does this question ask for one thing, or for several that have to be looked up separately?
If for one thing, write only: ONE
If for several, write the separate questions, at most {MAX_PARTS}, one a line, and nothing else.
Each must make sense without the others: repeat names instead of writing "it" or "they".

Question: {{question}}"""
TRANSLATION = """Translate this question into {language}. Keep names, numbers and quoted words as they are.
Write only the translation, on one line.

Question: {question}"""
# As models know them; of other documents no translation is asked for.
LANGUAGES = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "nl": "Dutch",
    "pt": "Portuguese",
}
MAX_PART_CHARS = 300
MIN_WORDS = 6
# Two questions, things that are compared, or a clause that asks beside another one.
_SEVERAL = re.compile(
    r"\?[^?\w]*\w[^?]*\?|\b(?:both|each|versus|vs|compared?|differ\w*)\b|"
    r"\band\s(?:also\s)?(?:what|which|who|when|where|why|how)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is looked up.

    Attributes:
        parts: questions that are searched for side by side; none where one pass is enough.
        names: of each part what it alone asks about, where no model found the parts: they count only if what is quoted
            for each names it.
        translation: the question in the language of what it found; empty where that is its own.
        warnings: where the model was asked without success.
    """

    parts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    translation: str = ""
    warnings: tuple[AnswerWarning, ...] = ()


ONE_PASS = Plan()


class Planner:
    """Words questions for the search; safe from many threads.

    Args:
        asker: asks the language model.
    """

    def __init__(self, asker: PromptHelper | None = None) -> None:
        self._asker = asker

    def plan(self, question: str, deadline: Deadline | None = None, found: Sequence[Passage] = ()) -> Plan:
        """Return how to look the question up; asks the model, and so blocks, only where a wording may help.

        Args:
            question: as it stands.
            deadline: of the whole question; None leaves only this step's own limit.
            found: what the question finds by itself.
        """
        if self._asker is None:
            named = sides(question)[:MAX_PARTS]
            return Plan(tuple(one.question for one in named), tuple(one.name for one in named)) if named else ONE_PASS
        language = other_language(question, found)
        if not (language or may_be_several(question)):
            return ONE_PASS
        limit = Deadline(ASIDE_S) if deadline is None else deadline.for_stage(ASIDE_S)
        try:
            quoted = self._asker.quoted(question, self._asker.prompt_tokens // 2)
            if language:
                prompt = TRANSLATION.format(language=language, question=quoted)
                return Plan(translation=self._asker.ask(prompt, limit, one_line=True)[:MAX_PART_CHARS])
            return Plan(parse_parts(self._asker.ask(PROMPT.format(question=quoted), limit)))
        except RagError as error:
            return Plan(warnings=(AnswerWarning("planning_skipped", f"The question is searched as it is. {error}"),))


def other_language(question: str, found: Sequence[Passage]) -> str:
    """Return the name of the language that most passages are in; empty if it is the question's, or not known."""
    spoken = Counter(str(passage.metadata.get("language")) for passage in found)
    language = max(spoken, key=spoken.__getitem__, default="")
    own = plain_language(question)
    return LANGUAGES.get(language, "") if own is not None and own not in spoken else ""


def may_be_several(question: str) -> bool:
    """Say whether the question's form suggests that it asks for more than one thing."""
    return len(question.split()) >= MIN_WORDS and _SEVERAL.search(question) is not None


def parse_parts(reply: str) -> tuple[str, ...]:
    """Return the questions of a model's reply; none where it wrote fewer than two, which is to say one thing."""
    asked = [line for line in listed(reply, MAX_PART_CHARS) if len(line.split()) > 1]
    parts = tuple(dict.fromkeys(asked))[:MAX_PARTS]
    return parts if len(parts) > 1 else ()
