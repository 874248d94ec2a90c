"""Make a question that leans on a conversation stand on its own: search knows no conversation.

Flow: earlier turns and a new question -> **here** -> a question that names what it is about -> engine.

A language model rewrites it where one is set. Without one, or where its reply cannot be trusted, a question that points
back ("How tall is it?", "And in winter?") takes along the content words of the question before, and a name from the
answer, in brackets. What points back is told from English words, and "and" in some other languages; a question without
them stays as it is. Abbreviations and compounds do not count: IT and US are not pronouns, and "On-call duty" does not
begin with a preposition. The engine tells readers which it was.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from errors import LLMError, OutOfTimeError
from index.lexical.tantivy_index import search_words
from query_engine.llms.helper import PromptHelper
from query_engine.prompting.builder import PROMPTS
from query_engine.question.validation import MAX_WORDED_CHARS
from query_engine.runtime.deadline import Deadline
from query_engine.schema.answer_warning import AnswerWarning
from query_engine.text.markdown_escape import REFERENCE

MAX_CARRIED_WORDS = 8
# The model reads the last turns; each takes at most this share of its prompt.
READ_TURNS = 6
TURN_SHARE = 10
# The model that answers is shown less of them, so that documents have room in a small context.
TOLD_TURNS, TOLD_CHARS = 4, 300

_WORD = re.compile(r"[^\W_](?:[\w'’.-]*\w)?")
_POINTS_BACK = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|he|him|his|she|her|hers|this|these|those"
    r"|the (?:same|other|others|latter|former)|which ones?)\b"
    r"|\bthat(?=\s*(?:[?.!,;]|$|is\b|was\b|does\b|did\b|one\b|mean))",
    re.IGNORECASE,
)
_BEGINS_ELLIPTIC = re.compile(
    r"(?:and|but|or|so|also|then|what about|how about|what if|und|aber|et|mais|y|pero)\b"
    # "In winter?" leans on something, "In which year did Nobel die?" does not.
    r"|(?:in|on|at|for|with|without|since|during|after|before)\b"
    r"(?!.*\b(?:which|what|whom|whose|is|are|was|were|do|does|did|can|could|will|would|should|has|have|had)\b)",
    re.IGNORECASE | re.DOTALL,
)
# Small models repeat the end of the prompt.
_LABEL = re.compile(r"^\W*(?:the )?(?:standalone )?question(?: on its own)?\s*:", re.IGNORECASE)
_BOLD = re.compile(r"\*\*(.{2,80}?)\*\*")
_GENERIC = frozenset(
    "tell explain describe define show give list name mean means called happen happens work works summarise summarize "
    "summary document documents please thanks thank hello hi hey ok okay great good yes bye".split()
)
_YEAR = re.compile(r"\b(?:1[0-9]|20)\d\d\b")
# Names in a sentence: runs of capitalised words.
_PERSON = re.compile(r"\b(?:he|him|his|she|her|hers|they|them|their|theirs)\b", re.IGNORECASE)
_RUN_OF_NAMES = re.compile(r"(?<![.!?:] )(?<!\A)\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)*|\b[A-Z][\w'’-]+(?: [A-Z][\w'’-]+)+")
_DECLINED = re.compile(r"I don['’]t know\b")


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
        conversation = _conversation(turns[-READ_TURNS:], lambda text: asker.quoted(text, room_tokens))
        template = (PROMPTS / "condense.txt").read_text(encoding="utf-8").strip()
        asked = asker.quoted(question, room_tokens * 2)
        reply = asker.ask(template.format(conversation="\n".join(conversation), question=asked), limit, one_line=True)
        rewritten = _LABEL.sub("", reply.strip().splitlines()[0]).strip(" \"'“”")
        known = {word.casefold() for text in (*conversation, question) for word in _WORD.findall(text)}
        if question.endswith("?") and not rewritten.endswith("?"):
            raise LLMError("The language model wrote no question.", "Use a larger model.")
        if len(rewritten) > MAX_WORDED_CHARS or not _grounded(rewritten, known):
            raise LLMError("The language model's wording is not about the conversation.", "Use a larger model.")
        return rewritten


def after_conversation(turns: Sequence[Turn], question: str, condensed: Condensed) -> str:
    """Return the question for a language model that answers: as it was typed, after the last turns.

    A wording of the model's own stands beside it, one by rules does not: the model reads the conversation itself.
    """
    said = _conversation(turns[-TOLD_TURNS:], lambda text: " ".join(text.split())[:TOLD_CHARS])
    reworded = f" ({condensed.question})" if condensed.how == "model" else ""
    return "\n".join(("The conversation so far:", *said, "", f"The question now: {question}{reworded}"))


def _conversation(turns: Sequence[Turn], shortened: Callable[[str], str]) -> list[str]:
    """Return a line for each turn, as a prompt shows it."""
    return [f"{'User' if turn.role == 'user' else 'Assistant'}: {shortened(_plain(turn.text))}" for turn in turns]


def carry_words(turns: Sequence[Turn], question: str) -> Condensed:
    """Add what the earlier questions were about, if the question points back; see the module's docstring."""
    turns = turns[-READ_TURNS:]
    about: list[str] = []
    for turn in turns:
        if turn.role == "assistant":
            about += [word for word in _answer_names(turn.text, question) if word not in about]
        else:
            # A question that stands on its own begins a new subject.
            about = [*_subject(turn.text), *(about if points_back(turn.text) else [])]
    said = {word.casefold() for word in _subject(question)}
    dated = bool(_YEAR.search(question))
    carried = [
        word
        for word in dict.fromkeys(about)
        # Another year is what the question is about.
        if word.casefold() not in said and not (dated and _YEAR.fullmatch(word))
    ][:MAX_CARRIED_WORDS]
    # A question this long names its subject.
    if not carried or len(question) > MAX_WORDED_CHARS or not points_back(question):
        return Condensed(question, "unchanged")
    # Before the question mark: what follows it would look like a second question.
    asked = question.rstrip("?!. ")
    return Condensed(f"{asked} ({' '.join(carried)}){question[len(asked) :]}", "words")


def _answer_names(answer: str, question: str) -> list[str]:
    """Return the words of a name that an answer gave: its short form, or the first name if a person is asked about."""
    if _DECLINED.match(answer):
        return []
    # The answer's short form, where it is a name: "she" may be who was asked for.
    names = [name for name in _BOLD.findall(answer)[:1] if name[:1].isupper()]
    if not names and _PERSON.search(_names_hidden(question)):
        names = _RUN_OF_NAMES.findall(_plain(answer)[:MAX_WORDED_CHARS])[:1]
    return [word for name in names for word in _WORD.findall(name)]


def points_back(question: str) -> bool:
    """Say whether an English question leans on what was said before: by a pronoun, or as a fragment of a clause."""
    seen = _names_hidden(question)
    return bool(_POINTS_BACK.search(seen) or _BEGINS_ELLIPTIC.match(seen) or not _subject(question))


def _subject(question: str) -> list[str]:
    kept = {word for written in search_words(question) for word in _WORD.findall(written)}
    question = question.replace("'s", " ")
    case_tells = _case_tells(question)
    return [
        word
        for word in _WORD.findall(question)
        if (case_tells and _is_abbreviation(word))
        or (word in kept and word.casefold() not in _GENERIC and not _POINTS_BACK.fullmatch(word))
    ]


def _names_hidden(question: str) -> str:
    """Return a text of the same length with letters x for what cannot be a function word.

    Hidden are compounds with a hyphen and, where case tells, abbreviations and words with a capital letter that do not
    begin a sentence.
    """
    case_tells = _case_tells(question)

    def hidden(word: re.Match[str]) -> str:
        before = question[max(0, word.start() - 4) : word.start()].rstrip(" \"'“„¿¡(")
        inside = bool(before) and before[-1] not in ".?!:;"
        is_name = case_tells and (_is_abbreviation(word[0]) or (inside and word[0][0].isupper()))
        return "x" * len(word[0]) if is_name or "-" in word[0] else word[0]

    return _WORD.sub(hidden, question)


def _case_tells(question: str) -> bool:
    """Say whether capitals mark names: not where every word is written in them, or begins with one."""
    return not (question.isupper() or question.istitle())


def _is_abbreviation(word: str) -> bool:
    return len(word) > 1 and word[:2].isalpha() and word[:2].isupper()


def _plain(text: str) -> str:
    return " ".join(REFERENCE.sub("", text).replace("**", "").split())


def _grounded(rewritten: str, known: set[str]) -> bool:
    """Whether a rewrite adds no number, and shares a content word with what was said."""
    words = [word.casefold() for word in _WORD.findall(rewritten)]
    numbers = {word for word in words if any(character.isdigit() for character in word)}
    return numbers <= known and any(word.casefold() in known for word in _subject(rewritten))
