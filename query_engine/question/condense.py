"""Make a question that leans on a conversation stand on its own: search knows no conversation.

Flow: earlier turns and a new question -> **here** -> a question that names what it is about -> engine.

A language model rewrites it where one is set. Without one, or where its reply cannot be trusted, a question that points
back ("How tall is it?", "And in winter?") takes along the content words of the question before, in brackets. The rules
are English; a question in which they see nothing stays as it is. The engine tells readers which it was.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from errors import LLMError, OutOfTimeError
from index.lexical.tantivy_index import content_words
from query_engine.llms.helper import PromptHelper
from query_engine.prompting.builder import PROMPTS, REFERENCE
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning

MAX_CARRIED_WORDS = 8
MAX_QUESTION_CHARS = 500
# The model reads the last turns; each takes at most this share of its prompt.
READ_TURNS = 6
TURN_SHARE = 10

_WORD = re.compile(r"[^\W_](?:[\w'’.-]*\w)?")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|these|those"
    r"|the (?:same|other|others|latter|former)|which ones?)\b"
    r"|\bthat(?=\s*(?:[?.!,;]|$|is\b|was\b|does\b|did\b|one\b|mean))",
    re.IGNORECASE,
)
_BEGINS_ELLIPTIC = re.compile(
    r"(?:and|but|or|so|also|then|what about|how about|what if)\b"
    # "In winter?" leans on something, "In which year did Nobel die?" does not.
    r"|(?:in|on|at|for|with|without|since|during|after|before)\b"
    r"(?!.*\b(?:which|what|whom|whose|is|are|was|were|do|does|did|can|could|will|would|should|has|have|had)\b)",
    re.IGNORECASE | re.DOTALL,
)
# Small models repeat the end of the prompt.
_LABEL = re.compile(r"^\W*(?:the )?(?:standalone )?question(?: on its own)?\s*:", re.IGNORECASE)
_BOLD = re.compile(r"\*\*(.{2,80}?)\*\*")
_GENERIC = frozenset(
    "tell explain describe define show give list name mean means called happen happens work works".split()
)


@dataclass(frozen=True, slots=True)
class Turn:
    """One earlier message."""

    role: Literal["user", "assistant"]
    text: str


@dataclass(frozen=True, slots=True)
class Condensed:
    """A question that stands on its own.

    Attributes:
        question: what is searched and answered.
        how: `model` when a language model rewrote it, `words` when it took words along, `unchanged`.
        warnings: when the model should have rewritten it and did not.
    """

    question: str
    how: Literal["model", "words", "unchanged"]
    warnings: tuple[AnswerWarning, ...] = ()


class Condenser:
    """Reads conversations.

    Args:
        asker: asks the language model; None leaves it to the words.
        timeout_s: longest wait for the model.
    """

    def __init__(self, asker: PromptHelper | None = None, timeout_s: float = 10) -> None:
        self._asker = asker
        self._timeout_s = timeout_s

    def condense(self, turns: Sequence[Turn], question: str, deadline: Deadline | None = None) -> Condensed:
        """Return the question as it can be asked without the turns before it; blocks.

        Args:
            turns: oldest first.
            question: as it was asked.
            deadline: of the whole question; None leaves only this step's own limit.
        """
        if self._asker is None:
            return carry_words(turns, question)
        try:
            rewritten = self._rewritten(self._asker, turns, question, deadline)
        except (LLMError, OutOfTimeError) as error:
            carried = carry_words(turns, question)
            return Condensed(carried.question, carried.how, (AnswerWarning("conversation", error.fact),))
        return Condensed(rewritten, "unchanged" if rewritten == question else "model")

    def _rewritten(self, asker: PromptHelper, turns: Sequence[Turn], question: str, deadline: Deadline | None) -> str:
        limit = Deadline(self._timeout_s) if deadline is None else deadline.for_stage(self._timeout_s)
        room_tokens = asker.prompt_tokens // TURN_SHARE
        conversation = [
            f"{'User' if turn.role == 'user' else 'Assistant'}: {asker.quoted(_plain(turn.text), room_tokens)}"
            for turn in turns[-READ_TURNS:]
        ]
        template = (PROMPTS / "condense.txt").read_text(encoding="utf-8").strip()
        asked = asker.quoted(question, room_tokens * 2)
        reply = asker.ask(template.format(conversation="\n".join(conversation), question=asked), limit, one_line=True)
        rewritten = _LABEL.sub("", reply.strip().splitlines()[0]).strip(" \"'“”")
        known = {word.casefold() for text in (*conversation, question) for word in _WORD.findall(text)}
        if question.endswith("?") and not rewritten.endswith("?"):
            raise LLMError("The language model wrote no question.", "Use a larger model.")
        if len(rewritten) > MAX_QUESTION_CHARS or not _grounded(rewritten, known):
            raise LLMError("The language model's wording is not about the conversation.", "Use a larger model.")
        return rewritten


def carry_words(turns: Sequence[Turn], question: str) -> Condensed:
    """Add what the questions before were about, if the question points back; see the module's head."""
    about: list[str] = []
    for turn in turns:
        if turn.role == "assistant":
            # The answer's short form, where it is a name: "she" may be who was asked for.
            names = [name for name in _BOLD.findall(turn.text)[:1] if name[:1].isupper()]
            about += [word for name in names for word in _WORD.findall(name)]
        else:
            # A question that stands on its own begins a new subject.
            about = [*_subject(turn.text), *(about if points_back(turn.text) else [])]
    said = {word.casefold() for word in _WORD.findall(question)}
    carried = [word for word in dict.fromkeys(about) if word.casefold() not in said][:MAX_CARRIED_WORDS]
    # A question that long names its subject.
    if not carried or len(question) > MAX_QUESTION_CHARS or not points_back(question):
        return Condensed(question, "unchanged")
    # Before the question mark: what follows it would look like a second question.
    asked = question.rstrip("?!. ")
    return Condensed(f"{asked} ({' '.join(carried)}){question[len(asked) :]}", "words")


def points_back(question: str) -> bool:
    """Say whether an English question leans on what was said before: by a pronoun, or because it is no whole clause."""
    return bool(_POINTS_BACK.search(question) or _BEGINS_ELLIPTIC.match(question) or not _subject(question))


def _subject(question: str) -> list[str]:
    words = (word for written in content_words(question) for word in _WORD.findall(written))
    return [word for word in words if word.casefold() not in _GENERIC and not _POINTS_BACK.fullmatch(word)]


def _plain(text: str) -> str:
    return " ".join(REFERENCE.sub("", text).replace("**", "").split())


def _grounded(rewritten: str, known: set[str]) -> bool:
    """Whether a rewrite adds no number, and shares a content word with what was said."""
    words = [word.casefold() for word in _WORD.findall(rewritten)]
    numbers = {word for word in words if any(character.isdigit() for character in word)}
    return numbers <= known and any(word.casefold() in known for word in _subject(rewritten))
